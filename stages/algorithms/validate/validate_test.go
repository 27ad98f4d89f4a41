package validate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/logistic"
)

// A table is a case of the oracle.
type table struct {
	Classes          int
	Source, Target   [][]float32
	Labels           []int32
	SourcePosteriors [][]float32 `json:"source_posteriors"`
	TargetPosteriors [][]float32 `json:"target_posteriors"`
	Weights          [][]float32
	Bias             []float32
	DevTrain         []int `json:"dev_train"`
	DevValidation    []int `json:"dev_validation"`
	Permutation      []int
	Back             []int32

	Importance, Dev, Entropy, Density, Mixval, Circular float64
}

func oracle(t *testing.T) (tables []table) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "oracle", "validate", "scores.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	return tables
}

func matrix(rows [][]float32) blas32.General {
	m := dense.New(len(rows), len(rows[0]))
	for i, row := range rows {
		copy(dense.Row(m, i), row)
	}
	return m
}

// predict is the oracle's linear classifier.
func (c table) predict(x blas32.General) ([]int32, error) {
	labels := make([]int32, x.Rows)
	for i := range labels {
		scores := slices.Clone(c.Bias)
		for k, w := range c.Weights {
			for j, v := range dense.Row(x, i) {
				scores[k] += w[j] * v
			}
		}
		if len(scores) == 1 { // of the second of two classes
			scores = []float32{0, scores[0]}
		}
		labels[i] = int32(dense.Argmax(scores))
	}
	return labels, nil
}

func TestScoresAreSkadas(t *testing.T) {
	for i, c := range oracle(t) {
		source, target, ps, pt := matrix(c.Source), matrix(c.Target), matrix(c.SourcePosteriors), matrix(c.TargetPosteriors)
		predictions := dense.ArgmaxRows(pt)
		near := func(what string, got, want, tolerance float64, err error) {
			t.Helper()
			if err != nil || !(math.Abs(got-want) <= tolerance) {
				t.Errorf("case %d: %s is %v, %v; skada has %v", i, what, got, err, want)
			}
		}
		got, effective, err := Importance(t.Context(), source, target, source, c.Labels, dense.ArgmaxRows(ps))
		near("importance", got, c.Importance, 1e-5, err)
		if effective < 1 || effective > float64(source.Rows) {
			t.Errorf("case %d: %v effective rows", i, effective)
		}
		held := dense.Gather(source, c.DevValidation)
		got, err = Deep(t.Context(), dense.Gather(source, c.DevTrain), target, held, dense.Pick(c.Labels, c.DevValidation), dense.Gather(ps, c.DevValidation))
		near("deep embedded validation", got, c.Dev, 1e-3*math.Abs(c.Dev), err)
		got, err = Density(t.Context(), pt)
		near("density", got, c.Density, 1e-5, err)
		near("entropy", Entropy(pt), c.Entropy, 1e-6, nil)
		got, err = Mixed(target, predictions, c.Permutation, c.predict)
		near("mixval", got, c.Mixval, 1e-12, err)

		back, err := Back(predictions, source.Rows, func(labels, classes []int32) ([]int32, error) {
			o := logistic.Options{Tolerance: 1e-7, Iterations: 1000}
			if len(classes) == 2 {
				o.C = .5
			}
			m, err := logistic.Fit(t.Context(), target, labels, len(classes), o)
			if err != nil {
				return nil, err
			}
			found := make([]int32, source.Rows)
			for i := range found {
				scores := slices.Clone(m.Bias)
				for j, v := range dense.Row(source, i) {
					for k, w := range dense.Row(m.Weights, j) {
						scores[k] += v * w
					}
				}
				found[i] = int32(dense.Argmax(scores))
			}
			return found, nil
		})
		if err != nil || !slices.Equal(back, c.Back) {
			t.Errorf("case %d: the labels that come back are %v, %v; skada has %v", i, back, err, c.Back)
		}
		near("circular", BalancedAccuracy(back, c.Labels, c.Classes), c.Circular, 1e-12, nil)
	}
}

// One row in each domain is enough for densities.
func TestImportanceOfOneRow(t *testing.T) {
	x := dense.New(1, 2)
	if score, effective, err := Importance(t.Context(), x, x, x, []int32{0}, []int32{0}); err != nil || score != 1 || effective != 1 {
		t.Errorf("%v of %v rows, %v", score, effective, err)
	}
}

// reverse is of the rows that were held out, circular of those that were trained on.
func TestReverseIsOfHeldOutRows(t *testing.T) {
	s := &Subject{Labels: []int32{0, 1, 0, 1}, HeldLabels: []int32{0, 1}, Held: dense.New(2, 1), TargetPosteriors: dense.New(1, 2),
		Back: func(context.Context) (source, held []int32, err error) {
			return []int32{0, 1, 0, 1}, []int32{0, 0}, nil
		}}
	for name, want := range map[string]float64{Reversed: 0.5, Circular: 1} {
		if got, err := s.Score(t.Context(), name); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", name, got, err, want)
		}
	}
}

// Classes that no target row was given come back nowhere, and are numbered as before.
func TestBackOfSomeClasses(t *testing.T) {
	back, err := Back([]int32{4, 1, 4}, 2, func(labels, classes []int32) ([]int32, error) {
		if !slices.Equal(labels, []int32{1, 0, 1}) || !slices.Equal(classes, []int32{1, 4}) {
			t.Errorf("trained on %v of %v", labels, classes)
		}
		return []int32{1, 0}, nil
	})
	if err != nil || !slices.Equal(back, []int32{4, 1}) {
		t.Errorf("%v, %v", back, err)
	}
	back, err = Back([]int32{2, 2}, 3, func(_, _ []int32) ([]int32, error) { return nil, errors.New("trained on one class") })
	if err != nil || !slices.Equal(back, []int32{2, 2, 2}) {
		t.Errorf("%v, %v", back, err)
	}
}

func TestBalancedAccuracy(t *testing.T) {
	if got := BalancedAccuracy([]int32{0, 0, 1, 1, 2, 2}, []int32{0, 0, 1, 2, 2, 2}, 4); math.Abs(got-8./9) > 1e-12 {
		t.Errorf("recalls 1, 1 and 2/3 have the mean %v", got)
	}
}

// Weights that are all alike leave the plain accuracy; far away none underflows to nothing.
func TestImportanceOfOneDistribution(t *testing.T) {
	x := matrix([][]float32{{0}, {1}, {2}, {1000}})
	score, effective, err := Importance(t.Context(), x, x, x, []int32{0, 0, 1, 1}, []int32{0, 1, 1, 1})
	if err != nil || math.Abs(score-.75) > 1e-12 || math.Abs(effective-4) > 1e-9 {
		t.Errorf("score %v of %v rows, %v", score, effective, err)
	}
	far := matrix([][]float32{{-500}, {-501}})
	if score, _, err = Importance(t.Context(), x, far, x, []int32{0, 0, 1, 1}, []int32{0, 1, 1, 1}); err != nil || math.Abs(score-1) > 1e-9 {
		t.Errorf("the nearest row is right, and the score is %v, %v", score, err)
	}
}

// The best entropy is certainty, and the worst has known values.
func TestEntropyAndDensityOfExtremes(t *testing.T) {
	certain, unsure := matrix([][]float32{{1, 0}, {0, 1}}), matrix([][]float32{{.5, .5}, {.5, .5}})
	if got := Entropy(certain); got != 0 {
		t.Errorf("certain rows have %v", got)
	}
	if got := Entropy(unsure); math.Abs(got+math.Ln2/2) > 1e-7 {
		t.Errorf("rows that know nothing have %v", got)
	}
	n := 40
	alike := dense.New(n, 3)
	for i := range n {
		alike.Data[3*i] = 1
	}
	if got, err := Density(t.Context(), alike); err != nil || math.Abs(got-math.Log(float64(n-1))) > 1e-9 {
		t.Errorf("%d rows alike have the density %v, %v", n, got, err)
	}
}

func TestEndOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := matrix([][]float32{{0, 1}, {1, 0}, {.5, .5}})
	labels := []int32{0, 1, 1}
	_, _, err := Importance(ctx, x, x, x, labels, labels)
	_, deep := Deep(ctx, x, x, x, labels, x)
	_, density := Density(ctx, x)
	for _, err := range []error{err, deep, density} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	}
	// The end may come in the midst of a score.
	s := &Subject{Source: x, Target: x, TargetPosteriors: x, Held: x, HeldLabels: labels, HeldPosteriors: x}
	for _, name := range []string{ImportanceScore, DeepScore, DensityScore} {
		contexttest.Stops(t, 1, func(ctx context.Context) error {
			_, err := s.Score(ctx, name)
			return err
		})
	}
}

// Density of more rows than a block of similarities holds is that of all pairs.
func TestDensityOfManyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	n, classes := 2*densityBlock+44, 3
	p := dense.New(n, classes)
	for i := range p.Data {
		p.Data[i] = rng.Float32()
	}
	want := 0.
	for i := range n {
		scores := make([]float64, n)
		total, greatest := 0., math.Inf(-1)
		for j := range n {
			for k := range classes {
				scores[j] += float64(dense.Row(p, i)[k]) * float64(dense.Row(p, j)[k])
			}
			scores[j] /= temperature * norm(dense.Row(p, i)) * norm(dense.Row(p, j))
			if i == j {
				scores[j] = -scores[j]
			}
			greatest = max(greatest, scores[j])
		}
		for _, s := range scores {
			total += math.Exp(s - greatest)
		}
		for _, s := range scores {
			q := math.Exp(s-greatest) / total
			want -= q * (s - greatest - math.Log(total)) / float64(n)
		}
	}
	if got, err := Density(t.Context(), p); err != nil || math.Abs(got-want) > 1e-9 {
		t.Errorf("the density is %v, want %v (%v)", got, want, err)
	}
}

func norm(row []float32) float64 {
	squares := 0.
	for _, v := range row {
		squares += float64(v) * float64(v)
	}
	return math.Sqrt(squares)
}
