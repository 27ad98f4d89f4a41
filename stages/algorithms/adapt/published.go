package adapt

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// AsPublishedCode sets what the authors' published program
// (github.com/arakotom/mars_domain_adaptation at a511011) does where it differs from the
// paper, so that the differences can be measured. Set Method before, and start from
// SchedulePaper for the program's other settings.
//
//   - The classification loss is unweighted; Algorithm 1 weights it by w†.
//   - A batch loses the mass of the classes that it lacks.
//   - The gradient penalty is taken at the interpolates, the source rows and the
//     target rows.
//   - Every critic step has a batch of its own. With wd they share one with the step
//     of g and h.
//   - Methods with a critic have dropout in the first epoch alone: the evaluation after
//     it switches dropout off for good. source and dann keep it.
//   - Estimate gets the rows in random order, with those of the first batch twice.
//     That of iw-wd does not.
func (c *Config) AsPublishedCode() {
	c.ClassLoss, c.Sampling, c.PenaltyPoints = ClassLossPlain, SamplingPublished, PenaltyAll
	c.Batches = BatchesFresh
	if c.Method.weights == weightsUniform {
		c.Batches = BatchesShared
	}
	c.DropoutFirstEpoch = c.Method.align == alignWasserstein
	c.FirstBatchTwice = c.Method.Name != "iw-wd"
}

// extract returns the snapshot with its rows as the program's extract_feature returns
// them: in random order, with those of the first batch twice.
func (t *trainer) extract(s Snapshot) Snapshot {
	rng := rand.New(rand.NewPCG(t.config.Seed, streamExtract+uint64(t.epoch)))
	source, target := t.loaded(rng, s.Source.Rows), t.loaded(rng, s.Target.Rows)
	labels := make([]int32, len(source))
	for i, row := range source {
		labels[i] = s.Labels[row]
	}
	sourcePosteriors, targetPosteriors := s.SourcePosteriors, s.TargetPosteriors
	s.Source, s.Labels, s.Target = dense.Gather(s.Source, source), labels, dense.Gather(s.Target, target)
	s.SourcePosteriors = func() blas32.General { return dense.Gather(sourcePosteriors(), source) }
	s.TargetPosteriors = func() blas32.General { return dense.Gather(targetPosteriors(), target) }
	return s
}

// loaded is the order of n rows: those of the first batch, then all.
func (t *trainer) loaded(rng *rand.Rand, n int) []int {
	order := rng.Perm(n)
	first := order[:min(n, t.config.Batch)]
	return append(append(make([]int, 0, n+len(first)), first...), order...)
}
