package ppi

import "math"

// Doubt is the size of a row by its posteriors p: √(1 − Σₖ pₖ²) for the shares of all classes
// (class < 0), √(p(1−p)) for that of one.
func Doubt(p []float32, class int) float64 {
	if class >= 0 {
		q := float64(p[class])
		return math.Sqrt(max(0, q*(1-q)))
	}
	rest := 1.0
	for _, q := range p {
		rest -= float64(q) * float64(q)
	}
	return math.Sqrt(max(0, rest))
}

// Doubts is what the posteriors of all rows say of how much is to be learnt from a label.
type Doubts struct {
	rows     int
	total    float64   // Σ of the sizes
	spread   []float64 // Σ p(1−p), by class
	weighted []float64 // Σ p(1−p)/size
}

// Add adds a row by its posteriors and returns its size (see Doubt).
func (d *Doubts) Add(p []float32, class int) (size float64) {
	if d.spread == nil {
		d.spread, d.weighted = make([]float64, len(p)), make([]float64, len(p))
	}
	size = Doubt(p, class)
	d.rows++
	d.total += size
	for k, q := range p {
		v := float64(q) * (1 - float64(q))
		d.spread[k] += v
		if size > 0 {
			d.weighted[k] += v / size
		}
	}
	return size
}

// Draws estimates how many rows have to be labelled for intervals of a width at most, at a
// level, of a class or, where that is below 0, of all. It believes the posteriors: where these
// are wrong, as they may be where a label is worth having, more are needed. It is the number of
// rows if nothing less will do.
func (d *Doubts) Draws(width, level float64, class int, uniform bool) int {
	for draws := 2; draws < d.rows; draws += max(1, draws/50) {
		if d.width(draws, level, class, uniform) <= width {
			return draws
		}
	}
	return d.rows
}

// width is that of the widest interval of so many draws.
func (d *Doubts) width(draws int, level float64, class int, uniform bool) (widest float64) {
	n, m := float64(d.rows), float64(draws)
	least := 1 - math.Pow(1-level, 1/m) // what no error among the draws excludes
	for k, spread := range d.spread {
		if class >= 0 && k != class {
			continue
		}
		variance := spread / n
		if !uniform && d.total > 0 {
			variance = min(2*variance, 2*d.total*d.weighted[k]/(n*n)) // half of the draws each
		}
		half := normalQuantile(level) * math.Sqrt(variance/m*(1-m/n))
		widest = max(widest, 2*half, least)
	}
	return widest
}
