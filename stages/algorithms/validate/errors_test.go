package validate

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

var errBroken = errors.New("it broke")

// An error of what a score asks for is its own, with its name; so is the end of its context, and a score that is no number.
func TestErrorsOfScores(t *testing.T) {
	x := matrix([][]float32{{0, 1}, {1, 0}, {.5, .5}})
	labels := []int32{0, 1, 1}
	subject := func() *Subject {
		return &Subject{Source: x, Labels: labels, Held: x, HeldLabels: labels, Target: x, HeldPosteriors: x, TargetPosteriors: x,
			Predict: func(context.Context, blas32.General) ([]int32, error) { return nil, errBroken },
			Back:    func(context.Context) ([]int32, []int32, error) { return nil, nil, errBroken }}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{Reversed, t.Context(), "the score reverse: it broke"},
		{Circular, t.Context(), "the score circular: it broke"},
		{MixedScore, t.Context(), "the score mixval: it broke"},
		{ImportanceScore, ended, "the score importance: context canceled"},
		{DeepScore, ended, "the score dev: context canceled"},
		{DensityScore, ended, "the score density: context canceled"},
	} {
		if _, err := subject().Score(c.ctx, c.name); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	nan := subject()
	nan.Labels = nil
	nan.Back = func(context.Context) ([]int32, []int32, error) { return nil, nil, nil }
	if _, err := nan.Score(t.Context(), Circular); err == nil || err.Error() != "the score circular: it is no finite number" {
		t.Errorf("a score of no rows: %v", err)
	}
	far := subject()
	far.Target = matrix([][]float32{{math.MaxFloat32, 0}})
	far.Source = matrix([][]float32{{0, 0}, {1e-30, 1}, {2e-30, 0}})
	if _, err := far.Score(t.Context(), ImportanceScore); err == nil {
		t.Error("a column that cannot be scaled has a score")
	}
	_, err := Back(labels, 3, func([]int32, []int32) ([]int32, error) { return nil, errBroken })
	if !errors.Is(err, errBroken) {
		t.Errorf("labels come back: %v", err)
	}
}
