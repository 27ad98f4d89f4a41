package adapt

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/labelshift"
)

// A balanced decision divides by the prior of the class loss.
func TestDecide(t *testing.T) {
	for _, test := range []struct {
		method string
		loss   ClassLoss
		prior  []float64
	}{
		{"source", ClassLossWeighted, nil}, // the source's proportions
		{"marsc", ClassLossWeighted, oracleProportions},
		{"marsc", ClassLossBalanced, []float64{1. / 3, 1. / 3, 1. / 3}},
	} {
		p, c := quickConfig(t, test.method)
		c.ClassLoss = test.loss
		m, err := Train(context.Background(), p, c)
		if err != nil {
			t.Fatal(err)
		}
		want := test.prior
		if want == nil {
			want = proportions(p.Labels, len(p.Classes))
		}
		if !slices.Equal(m.Prior, want) {
			t.Errorf("%s, %s: prior %v, want %v", test.method, test.loss, m.Prior, want)
		}
		balanced := labelshift.Balanced
		m.Decision = &balanced
		got, sum := []float32{0.2, 0.3, 0.5}, 0.0
		for k, v := range got {
			sum += float64(v) / m.Prior[k]
		}
		x := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: slices.Clone(got)}
		if err := m.Decide(x); err != nil {
			t.Fatal(err)
		}
		for k, v := range x.Data {
			if math.Abs(float64(v)-float64(got[k])/m.Prior[k]/sum) > 1e-6 {
				t.Errorf("%s: class %d has %v", test.method, k, v)
			}
		}
	}
}

// The use of a model is saved in its file.
func TestUseIsSaved(t *testing.T) {
	p, c := quickConfig(t, "source")
	m, err := Train(context.Background(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	balanced := labelshift.Balanced
	m.Decision, m.Vectors = &balanced, "embedding"
	text := save(t, m)
	got, err := Load(bytes.NewReader(text), "m")
	if err != nil || got.Vectors != m.Vectors || *got.Decision != balanced || !slices.Equal(got.Prior, m.Prior) {
		t.Errorf("%+v, %v", got, err)
	}
	text = bytes.Replace(text, []byte("mars.checksum"), []byte("none.checksum"), 1)
	bad := bytes.Replace(text, []byte(`"balanced"`), []byte(`"shortest"`), 1)
	if _, err := Load(bytes.NewReader(bad), "m"); err == nil || !strings.Contains(err.Error(), KeyDecision) {
		t.Errorf("a damaged decision: %v", err)
	}
	m.Prior = nil
	if err := m.Decide(blas32.General{}); err == nil || !strings.Contains(err.Error(), "train it again") {
		t.Errorf("a model without prior: %v", err)
	}
}
