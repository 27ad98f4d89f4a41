package hedge

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/race"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// persons are batches whose classes are each in places of their own, and a target of another one.
func persons(people, rows int) problem {
	rng := rand.New(rand.NewPCG(11, 0))
	p := problem{}
	p.Classes = []string{"a", "b", "c"}
	draw := func(n int) (x blas32.General, labels []int32) {
		x = dense.New(0, 4)
		var own [3][4]float64
		for k := range own {
			for j := range own[k] {
				own[k][j] = centres[k][j]/2 + 0.8*rng.NormFloat64()
			}
		}
		for range n {
			k, row := rng.IntN(3), make([]float32, 4)
			for j := range row {
				row[j] = float32(own[k][j] + 0.5*rng.NormFloat64())
			}
			dense.Append(&x, row)
			labels = append(labels, int32(k))
		}
		return x, labels
	}
	p.Source.Cols, p.Source.Stride = 4, 4
	for b := range people {
		x, labels := draw(rows)
		p.Source.Rows += x.Rows
		p.Source.Data = append(p.Source.Data, x.Data...)
		p.Labels = append(p.Labels, labels...)
		p.Batches = append(p.Batches, slices.Repeat([]int32{int32(b)}, rows)...)
		p.BatchNames = append(p.BatchNames, fmt.Sprint("p", b+1))
	}
	p.Target, p.truth = draw(rows)
	return p
}

// Each labelled batch is left out and answered, which moves what is expected towards what came true, stays in the
// model's file, and depends neither on threads nor on the order of rows.
func TestField(t *testing.T) {
	defer kernel.SetJobs(0)
	p := persons(4, 40)
	m, _ := fitted(t, p, Options{})
	if len(m.Left) != 4 {
		t.Fatalf("%d batches were left out: want 4", len(m.Left))
	}
	for i, l := range m.Left {
		if l.Batch != p.BatchNames[i] || l.Rows != 40 || !slices.Contains(Views, l.Best) || math.Abs(dense.Sum(l.Proportions)-1) > 1e-9 ||
			!(l.L1 >= 0 && l.L1 <= 2 && l.Accuracy >= 0 && l.Accuracy <= 1 && l.ExpectedError > 0 && l.ExpectedAccuracy > 0) {
			t.Errorf("batch %d: %+v", i, l)
		}
	}
	general := p
	general.BatchNames = nil
	without, _ := fitted(t, general, Options{})
	if without.Left != nil || without.Evidence == m.Evidence {
		t.Errorf("what is expected without names of batches, %+v, is what is expected with them", without.Evidence)
	}

	var file, again bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	read, err := Load(bytes.NewReader(file.Bytes()), "model")
	if err != nil || !slices.EqualFunc(read.Left, m.Left, func(a, b Left) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("the file has other batches: %+v, %v", read, err)
	}

	turned := p
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(p.Labels))
	turned.Source, turned.Labels, turned.Batches = dense.Gather(p.Source, order), dense.Pick(p.Labels, order), dense.Pick(p.Batches, order)
	// The names have other numbers too, as those that come first have the first.
	for i, b := range turned.Batches {
		turned.Batches[i] = int32(len(p.BatchNames)) - 1 - b
	}
	turned.BatchNames = slices.Clone(p.BatchNames)
	slices.Reverse(turned.BatchNames)
	kernel.SetJobs(1)
	other, _ := fitted(t, turned, Options{})
	if err := other.Save(&again); err != nil {
		t.Fatal(err)
	}
	if a, b := m.Evidence.ExpectedError, other.Evidence.ExpectedError; math.Abs(a-b) > 1e-6 || dense.L1(m.Proportions, other.Proportions) > 1e-6 {
		t.Errorf("rows in another order: an error of %v is expected, and %v before", b, a)
	}
}

// With two batches, or small ones, nothing is left out.
func TestFieldOfFewBatches(t *testing.T) {
	for _, p := range []problem{persons(2, 60), persons(5, LeftRows-1)} {
		if m, _ := fitted(t, p, Options{}); m.Left != nil {
			t.Errorf("%d batches of %d rows were left out", len(m.Left), m.Left[0].Rows)
		}
	}
}

// Of many batches some are left out, the first and the last among them.
func TestLeftOut(t *testing.T) {
	all := make([]batch, 50)
	for i := range all {
		all[i].rows = make([]int, LeftRows)
	}
	all[0].rows = nil
	some := leftOut(all)
	if len(some) != mostLeft || some[0] != 1 || some[mostLeft-1] != 49 || !slices.IsSorted(some) {
		t.Errorf("left out are %v", some)
	}
}

// A batch whose labels mean other classes is named, and no other.
func TestMislabelled(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	p := newProblem(300, even, even, nowhere)
	for i := range p.Labels {
		b := int32(i % 5)
		if p.Batches = append(p.Batches, b); b == 3 {
			p.Labels[i] = (p.Labels[i] + 1) % 3
		}
	}
	p.BatchNames = []string{"mon", "tue", "wed", "thu", "fri"}
	m, _ := fitted(t, p, Options{})
	if all := strings.Join(m.Warnings, "; "); !regexp.MustCompile(`the labels of thu \(\d %\) come out of the other batches no more often than by chance, where of half of the batches \d\d %`).MatchString(all) {
		t.Errorf("warnings: %s", all)
	}
	right, _ := fitted(t, problem{Problem: Problem{Source: p.Source, Labels: newProblem(300, even, even, nowhere).Labels, Target: p.Target, Classes: p.Classes, Batches: p.Batches, BatchNames: p.BatchNames}}, Options{})
	if len(right.Warnings) > 0 {
		t.Errorf("right labels are doubted: %v", right.Warnings)
	}
}
