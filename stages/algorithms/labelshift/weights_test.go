package labelshift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWeights(t *testing.T) {
	cases := []struct {
		target, source []float64
		want           string
	}{
		{[]float64{0.25, 0.75}, []float64{0.5, 0.5}, "[0.5 1.5]"},
		{[]float64{1}, []float64{1}, "[1]"},
		{[]float64{0, 1}, []float64{0.5, 0.5}, "[0 2]"},
		{[]float64{1, 0}, []float64{1, 0}, "[1 0]"},
		{[]float64{1, 1e-12}, []float64{1, 0}, "[1 0]"},
	}
	for _, c := range cases {
		got, err := Weights(c.target, c.source)
		if err != nil {
			t.Error(err)
		} else if fmt.Sprint(got) != c.want {
			t.Errorf("weights %v for %v, want %v", got, c, c.want)
		}
	}
}

func TestWeightsHaveMeanOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 20 {
		target, source := randomProportions(rng, 7), randomProportions(rng, 7)
		weights, err := Weights(target, source)
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for k, w := range weights {
			mean += source[k] * w
		}
		if math.Abs(mean-1) > 1e-12 {
			t.Errorf("mean weight %v", mean)
		}
	}
}

func randomProportions(rng *rand.Rand, n int) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = rng.ExpFloat64()
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func TestErrors(t *testing.T) {
	weights := func(target, source []float64) error {
		_, err := Weights(target, source)
		return err
	}
	nan := math.NaN()
	cases := []struct {
		err  error
		want string
	}{
		{weights([]float64{0.9, 0.1}, []float64{1, 0}), "labelshift: class 1 is a share of 0.1 of the target and has no source row: give labelled rows of it"},
		{weights([]float64{nan, 1}, []float64{1, 0}), "labelshift: the target proportion of class 0 is NaN: give numbers from 0 to 1"},
		{weights([]float64{1, 0}, []float64{2, -1}), "labelshift: the source proportion of class 1 is -1"},
		{weights([]float64{1, 0}, []float64{0.5, 0.4}), "labelshift: the source proportions sum to 0.9: make them sum to 1"},
		{weights([]float64{1}, []float64{0.5, 0.5}), "labelshift: 1 target proportions for 2 classes: give one a class"},
		{weights([]float64{0.5, 0.5}, []float64{1, 1e-320}), "labelshift: class 1 is a share of 1e-320 of the source and 0.5 of the target: its weight is not finite"},
	}
	for _, c := range cases {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
}
