package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/internal/streamtest"
)

// blobs draws rows of one dimension around the centres, counts[k] of centre k.
func blobs(counts []int, centres []float64) blas32.General {
	rng := rand.New(rand.NewPCG(1, 1))
	x := blas32.General{Cols: 1, Stride: 1}
	for k, n := range counts {
		for range n {
			x.Data = append(x.Data, float32(centres[k]+0.1*rng.NormFloat64()))
		}
	}
	x.Rows = len(x.Data)
	return x
}

// snapshot has target rows of which the first 2,000 say .75, .25 and all .3, .7.
func snapshot() adapt.Snapshot {
	source := blobs([]int{50, 50}, []float64{0, 3})
	labels := make([]int32, 100)
	for i := 50; i < 100; i++ {
		labels[i] = 1
	}
	return adapt.Snapshot{Classes: 2, Source: source, Labels: labels, Target: blobs([]int{1500, 3500}, []float64{0.2, 3.2}), Proportions: []float64{0.5, 0.5}}
}

func estimate(t *testing.T, o Options, s adapt.Snapshot) []float64 {
	t.Helper()
	estimate, err := o.estimator(stages.Env{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := estimate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The published marsg fits the first 2,000 rows; marsc, and both by the paper, all.
func TestPublishedMixtureSeesTheFirstRows(t *testing.T) {
	for _, k := range []struct {
		method    string
		published bool
		want      float64
	}{{"marsg", true, 0.75}, {"marsg", false, 0.3}, {"marsc", true, 0.3}, {"marsc", false, 0.3}} {
		p := estimate(t, Options{Method: k.method, AsPublishedCode: k.published}, snapshot())
		if math.Abs(p[0]-k.want) > 0.002 {
			t.Errorf("%s, published %v: p_T %v, want %g first", k.method, k.published, p, k.want)
		}
	}
}

// Estimate n of the published marsg is the mean of n; marsc's are each their own.
func TestPublishedEstimatesAreAveraged(t *testing.T) {
	s := snapshot()
	s.Estimates, s.Proportions = 2, []float64{0.15, 0.85}
	if p := estimate(t, Options{Method: "marsg", AsPublishedCode: true}, s); math.Abs(p[0]-(0.15*2+0.75)/3) > 0.002 {
		t.Errorf("marsg: p_T %v after two of .15", p)
	}
	for _, o := range []Options{{Method: "marsc", AsPublishedCode: true}, {Method: "marsg"}} {
		if p := estimate(t, o, s); math.Abs(p[0]-0.3) > 0.002 {
			t.Errorf("%+v: p_T %v", o, p)
		}
	}
	wrong := errors.New("wrong")
	_, err := averaged(func(context.Context, adapt.Snapshot) ([]float64, error) { return nil, wrong })(context.Background(), s)
	if !errors.Is(err, wrong) {
		t.Errorf("error %v", err)
	}
}

// Components of the published marsg stand for the rows that are most likely theirs.
func TestPublishedMixtureIsHard(t *testing.T) {
	x := blobs([]int{300, 300}, []float64{0, 0.2}) // they overlap
	r, err := publishedMixture(0)(t.Context(), x, 2)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		sum, n := 0.0, 0
		for i, l := range r.Labels {
			if l == int32(k) {
				sum += float64(x.Data[i])
				n++
			}
		}
		if math.Abs(r.Means.At(k, 0)-sum/float64(n)) > 1e-12 || r.Proportions[k] != float64(n)/600 {
			t.Errorf("component %d: mean %g and share %g of %d rows whose mean is %g", k, r.Means.At(k, 0), r.Proportions[k], n, sum/float64(n))
		}
	}
}

// The mixture fails where there are fewer rows than components, and when its context ends.
func TestPublishedMixtureAtTheEdge(t *testing.T) {
	if _, err := publishedMixture(0)(t.Context(), blobs([]int{1}, []float64{0}), 2); err == nil {
		t.Error("one row has two components")
	}
	x := blobs([]int{4, 4}, []float64{0, 3})
	streamtest.StopsAt(t, func(ctx context.Context) error {
		_, err := publishedMixture(0)(ctx, x, 2)
		return err
	})
}
