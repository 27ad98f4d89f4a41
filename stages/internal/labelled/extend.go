package labelled

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/internal/levels"
	"mars.dev/mars/stages/internal/models"
)

// Extend gives what labels rows the classes that the source lacks: a row is of one as far as the
// labelled rows that are near it are, and the rest of its posterior is as it was.
func (rows *Rows) Extend(l *models.Labeller) {
	if len(rows.Fresh()) == 0 {
		return
	}
	known := *l
	near := rows.near(known.Prepare)
	l.Classes = rows.Classes
	if tree, err := levels.Parse(l.Levels, known.Classes); err == nil { // Emit says what is wrong
		l.Levels = string(tree.With(rows.Classes).Text())
	}
	l.Predict = func(ctx context.Context, x blas32.General) (blas32.General, error) {
		p, err := known.Predict(ctx, x)
		if err == nil {
			err = known.Decide(p)
		}
		if err != nil {
			return p, err
		}
		return near.widen(x, p), nil
	}
	l.Decide = func(blas32.General) error { return nil } // Predict has done it
	if known.Typicality != nil {
		l.Typicality = func(ctx context.Context, x, p blas32.General) ([]float32, error) {
			p.Cols = len(known.Classes) // how usual a row is for a class of the source
			return known.Typicality(ctx, x, p)
		}
	}
}

// nearness knows which class rows near the labelled ones have.
type nearness struct {
	rows    blas32.General // labelled, ready for the model
	class   []int
	known   int
	classes int
	scale   float64 // −1 / (2 width²) of the kernel
}

// narrow is the kernel's width², as a share of the mean squared distance of a labelled row to the
// nearest other: of .25 and 1, with rows weighted alike or by the draws, .25 and alike found the most
// rows of classes that the source lacks (F1 of .59, .65 and .79 with 20, 50 and 200 labels, over 14
// tasks), as many as the nearest labelled row does, of which fewer were right.
const narrow = 0.25

// near learns how near rows are to the labelled ones. Prepare makes rows ready; nil if they are.
func (rows *Rows) near(prepare func(blas32.General) blas32.General) *nearness {
	n := &nearness{rows: rows.Vectors, class: rows.Class, known: rows.Source, classes: len(rows.Classes)}
	if prepare != nil {
		n.rows = prepare(rows.Vectors)
	}
	mean := 0.0 // of the squared distances to the nearest other
	for i := range n.rows.Rows {
		least := math.Inf(1)
		for j := range n.rows.Rows {
			if i != j {
				least = min(least, squared(row(n.rows, i), row(n.rows, j)))
			}
		}
		if !math.IsInf(least, 1) {
			mean += least / float64(n.rows.Rows)
		}
	}
	n.scale = -1 / max(2*narrow*mean, math.SmallestNonzeroFloat32)
	return n
}

// widen gives posteriors p of rows x the classes that the source lacks.
func (n *nearness) widen(x, p blas32.General) blas32.General {
	wide := blas32.General{Rows: p.Rows, Cols: n.classes, Stride: n.classes, Data: make([]float32, p.Rows*n.classes)}
	for i := range p.Rows {
		to, left := row(wide, i), 1.0
		for k, q := range n.shares(row(x, i)) {
			to[n.known+k] = float32(q)
			left -= q
		}
		for k, q := range row(p, i) {
			to[k] = float32(left) * q
		}
	}
	return wide
}

// shares are how much the labelled rows near x are of each class that the source lacks (Nadaraya
// 1964, Watson 1964).
func (n *nearness) shares(x []float32) []float64 {
	logs, most := make([]float64, n.rows.Rows), math.Inf(-1)
	for i := range logs {
		logs[i] = n.scale * squared(x, row(n.rows, i))
		most = max(most, logs[i])
	}
	sum, shares := 0.0, make([]float64, n.classes-n.known)
	for i, log := range logs {
		w := math.Exp(log - most)
		sum += w
		if k := n.class[i] - n.known; k >= 0 {
			shares[k] += w
		}
	}
	for k := range shares {
		shares[k] /= sum
	}
	return shares
}

func row(x blas32.General, i int) []float32 { return x.Data[i*x.Stride : i*x.Stride+x.Cols] }

// squared is the squared distance of two rows.
func squared(a, b []float32) (sum float64) {
	for j, v := range a {
		d := float64(v - b[j])
		sum += d * d
	}
	return sum
}
