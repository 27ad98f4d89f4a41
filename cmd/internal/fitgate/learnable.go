package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// learnable tells how well p's label can be learnt from its columns, between 0 (as by the
// largest class) and 1, by two plain classifiers on rows held out: nearest neighbours and
// normal densities of independent columns. A forest learns somewhat more.
func (p *program) learnable(rng *rand.Rand) float64 {
	rows := make([]row, calibration)
	n := make([]float64, p.classes)
	for i := range rows {
		rows[i] = p.row(rng)
		n[rows[i].label]++
	}
	p.standard(rows)
	train, test := rows[:calibration*3/4], rows[calibration*3/4:]
	right := max(p.right(test, neighbours(train)), p.right(test, p.densities(train)))
	most := slices.Max(n) / calibration
	return (right - most) / max(1-most, 1/float64(calibration))
}

// standard brings the columns of rows to mean 0 and deviation 1.
func (p *program) standard(rows []row) {
	for j := range rows[0].x {
		mean, deviation := moments(len(rows), func(i int) float64 { return rows[i].x[j] })
		for _, r := range rows {
			r.x[j] = (r.x[j] - mean) / max(deviation, 1e-9)
		}
	}
}

// right is the share of rows whose label has the highest score.
func (p *program) right(rows []row, scores func(r row, scores []float64)) float64 {
	n := 0.0
	for _, r := range rows {
		s := make([]float64, p.classes)
		scores(r, s)
		if s[r.label] == slices.Max(s) {
			n++
		}
	}
	return n / float64(len(rows))
}

// neighbours scores a label by how many of the 5 nearest rows have it, nearer ones more.
func neighbours(train []row) func(row, []float64) {
	type near struct {
		distance float64
		label    int
	}
	return func(r row, scores []float64) {
		all := make([]near, len(train))
		for i, t := range train {
			all[i].label = t.label
			for j := range t.x {
				all[i].distance += (t.x[j] - r.x[j]) * (t.x[j] - r.x[j])
			}
		}
		slices.SortFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
		for i, n := range all[:5] {
			scores[n.label] += 1 - .1*float64(i)
		}
	}
}

// densities scores a label by its share times a normal density of each column.
func (p *program) densities(train []row) func(row, []float64) {
	byLabel := make([][]row, p.classes)
	for _, r := range train {
		byLabel[r.label] = append(byLabel[r.label], r)
	}
	d := p.width()
	means, deviations := make([][]float64, p.classes), make([][]float64, p.classes)
	for k, rows := range byLabel {
		for j := range d {
			mean, deviation := moments(len(rows), func(i int) float64 { return rows[i].x[j] })
			means[k], deviations[k] = append(means[k], mean), append(deviations[k], max(deviation, .1))
		}
	}
	return func(r row, scores []float64) {
		for k := range scores {
			scores[k] = math.Log(float64(len(byLabel[k])) + 1e-9)
			for j, v := range r.x {
				z := (v - means[k][j]) / deviations[k][j]
				scores[k] -= z*z/2 + math.Log(deviations[k][j])
			}
		}
	}
}
