package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/scale"
)

// The names of the scores.
const (
	Reversed        = "reverse"
	Circular        = "circular"
	ImportanceScore = "importance"
	DeepScore       = "dev"
	DensityScore    = "density"
	EntropyScore    = "entropy"
	MixedScore      = "mixval"
)

// maxRows is how many rows of each kind Importance, Deep and Density look at; of more they
// take a sample.
const maxRows = 5_000

// Streams of random numbers.
const (
	streamScoreSample = 0x5c01
	streamMixture     = 0x5c02
)

// Names are those of all scores.
var Names = []string{Reversed, Circular, ImportanceScore, DeepScore, DensityScore, EntropyScore, MixedScore}

// A Subject is a classifier of C classes with rows of d columns. What no score needs that is
// asked for may be left out.
type Subject struct {
	Source           blas32.General // n_S×d: the source rows that it was trained on
	Labels           []int32        // of Source
	Held             blas32.General // n_H×d: source rows that it was not trained on
	HeldLabels       []int32
	Target           blas32.General // n_T×d
	HeldPosteriors   blas32.General // n_H×C
	TargetPosteriors blas32.General // n_T×C
	// Embed is the representation in which Deep tells the domains apart; nil: the rows.
	Embed func(x blas32.General) blas32.General
	// Predict labels other rows, and Back gives the labels of Source and Held that come back
	// from those of the target. Nil where only predictions are at hand.
	Predict func(ctx context.Context, x blas32.General) ([]int32, error)
	Back    func(ctx context.Context) (source, held []int32, err error)
	Seed    uint64

	// Effective is how many held rows the weights of Importance amounted to; 0 before.
	Effective float64
}

// ErrNeedsModel is the error of scores that take more than predictions.
var ErrNeedsModel = errors.New("it takes the training, not predictions alone: ask mars train --select for it")

var errNoneHeld = errors.New("no source row is held out: train with --hold-out 5, which marks in the column unseen those that were not trained on")

// Score is the score of that name: the higher, the better. One that is no finite number is an
// error. It panics if there is no score of that name.
func (s *Subject) Score(ctx context.Context, name string) (float64, error) {
	score, err := s.score(ctx, name)
	if err == nil && (math.IsNaN(score) || math.IsInf(score, 0)) {
		err = errors.New("it is no finite number")
	}
	if err != nil {
		return 0, fmt.Errorf("the score %s: %w", name, err)
	}
	return score, nil
}

func (s *Subject) score(ctx context.Context, name string) (float64, error) {
	if slices.Contains([]string{Reversed, ImportanceScore, DeepScore}, name) && s.Held.Rows == 0 {
		return 0, errNoneHeld
	}
	switch name {
	case Reversed, Circular:
		return s.back(ctx, name)
	case ImportanceScore:
		return s.importance(ctx)
	case DeepScore:
		return s.deep(ctx)
	case DensityScore:
		return Density(ctx, dense.Gather(s.TargetPosteriors, s.sample(s.TargetPosteriors.Rows)))
	case EntropyScore:
		return Entropy(s.TargetPosteriors), nil
	case MixedScore:
		if s.Predict == nil {
			return 0, ErrNeedsModel
		}
		permutation := rand.New(rand.NewPCG(s.Seed, streamMixture)).Perm(s.Target.Rows)
		return Mixed(s.Target, dense.ArgmaxRows(s.TargetPosteriors), permutation, func(x blas32.General) ([]int32, error) { return s.Predict(ctx, x) })
	}
	panic("validate: there is no such score: " + name)
}

func (s *Subject) back(ctx context.Context, name string) (float64, error) {
	if s.Back == nil {
		return 0, ErrNeedsModel
	}
	source, held, err := s.Back(ctx)
	if err != nil {
		return 0, err
	}
	if name == Circular {
		return BalancedAccuracy(source, s.Labels, s.TargetPosteriors.Cols), nil
	}
	return BalancedAccuracy(held, s.HeldLabels, s.TargetPosteriors.Cols), nil
}

func (s *Subject) importance(ctx context.Context) (score float64, err error) {
	at := s.sample(s.Held.Rows)
	x, err := standardised(ctx, dense.Gather(s.Source, s.sample(s.Source.Rows)), dense.Gather(s.Target, s.sample(s.Target.Rows)), dense.Gather(s.Held, at))
	if err != nil {
		return 0, err
	}
	score, s.Effective, err = Importance(ctx, x[0], x[1], x[2], dense.Pick(s.HeldLabels, at), dense.ArgmaxRows(dense.Gather(s.HeldPosteriors, at)))
	return score, err
}

func (s *Subject) deep(ctx context.Context) (float64, error) {
	embed := s.Embed
	if embed == nil {
		embed = dense.Clone
	}
	at := s.sample(s.Held.Rows)
	x, err := standardised(ctx, embed(dense.Gather(s.Source, s.sample(s.Source.Rows))), embed(dense.Gather(s.Target, s.sample(s.Target.Rows))), embed(dense.Gather(s.Held, at)))
	if err != nil {
		return 0, err
	}
	return Deep(ctx, x[0], x[1], x[2], dense.Pick(s.HeldLabels, at), dense.Gather(s.HeldPosteriors, at))
}

// sample are the rows of n that are looked at, the same in every call.
func (s *Subject) sample(n int) []int {
	return dense.Sample(n, maxRows, func() *rand.Rand { return rand.New(rand.NewPCG(s.Seed, streamScoreSample)) })
}

// standardised scales matrices in place by the columns of the first: to mean 0 and deviation 1.
func standardised(ctx context.Context, x ...blas32.General) ([]blas32.General, error) {
	standard, _, err := scale.Fit(ctx, x[0])
	if err != nil {
		return nil, err
	}
	for _, m := range x {
		if err := standard.Apply(ctx, m); err != nil {
			return nil, err
		}
	}
	return x, nil
}
