package tsne

import (
	"context"
	"errors"
	"math"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

const (
	earlyMomentum = 0.5 // while attraction is exaggerated
	lateMomentum  = 0.8
	gainStep      = 0.2 // added where a step goes on in its direction
	gainFactor    = 0.8 // multiplied where it turns
	leastGain     = 0.01
	// leastGradient ends the descent: below this norm nothing moves.
	leastGradient = 1e-7
)

// descent is gradient descent with momentum and a gain for each coordinate (Jacobs 1988;
// van der Maaten & Hinton 2008).
type descent struct {
	Options
	p     *similarities
	tree  tree
	y     []float64 // n×2
	force []float64 // n×2: repulsion, not yet divided by z
	rows  []float64 // n: scratch space of tree.repel
	dy    []float64 // n×2
	step  []float64 // n×2
	gain  []float64 // n×2
}

func newDescent(y []float64, p *similarities, o Options) *descent {
	return &descent{Options: o, p: p, y: y, force: make([]float64, len(y)), rows: make([]float64, len(y)/2),
		dy: make([]float64, len(y)), step: make([]float64, len(y)), gain: make([]float64, len(y))}
}

var errDiverges = errors.New("tsne: the layout diverges: take a smaller learning rate")

func (d *descent) run(ctx context.Context) error {
	for i := range d.Iterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		exaggeration, momentum := 1.0, lateMomentum
		if i < d.Exaggerated {
			exaggeration, momentum = d.Exaggeration, earlyMomentum
		}
		if i == 0 || i == d.Exaggerated {
			d.rest()
		}
		norm := d.gradient(exaggeration)
		if math.IsNaN(norm) || math.IsInf(norm, 0) {
			return errDiverges
		}
		if norm <= leastGradient && i >= d.Exaggerated {
			break
		}
		d.move(momentum)
	}
	d.centre()
	return nil
}

// rest forgets steps and gains.
func (d *descent) rest() {
	for i := range d.y {
		d.step[i], d.gain[i] = 0, 1
	}
}

// gradient sets dy to 4·Σ_j (exaggeration·p_ij − q_ij/Z)·q_ij·(y_i − y_j) and returns its
// norm (van der Maaten 2014, equation 8).
func (d *descent) gradient(exaggeration float64) float64 {
	d.tree.build(d.y)
	z := d.tree.repel(d.force, d.rows, d.Theta)
	kernel.Parallel(len(d.rows), 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, y := d.p.attract(d.y, i)
			d.dy[2*i] = 4 * (exaggeration*x - d.force[2*i]/z)
			d.dy[2*i+1] = 4 * (exaggeration*y - d.force[2*i+1]/z)
		}
	})
	squares := 0.0
	for _, v := range d.dy {
		squares += v * v
	}
	return math.Sqrt(squares)
}

// attract returns Σ_j p_ij·q_ij·(y_i − y_j).
func (s *similarities) attract(points []float64, i int) (forceX, forceY float64) {
	x, y := points[2*i], points[2*i+1]
	columns := s.column[s.first[i]:s.first[i+1]]
	values := s.value[s.first[i]:][:len(columns)]
	for k, j := range columns {
		b := points[2*j:][:2:2]
		dx, dy := x-b[0], y-b[1]
		w := float64(values[k]) / (1 + dx*dx + dy*dy)
		forceX += w * dx
		forceY += w * dy
	}
	return forceX, forceY
}

// move takes a step down the gradient.
func (d *descent) move(momentum float64) {
	for i, g := range d.dy {
		if d.step[i]*g < 0 {
			d.gain[i] += gainStep
		} else {
			d.gain[i] = max(d.gain[i]*gainFactor, leastGain)
		}
		d.step[i] = momentum*d.step[i] - d.LearningRate*d.gain[i]*g
		d.y[i] += d.step[i]
	}
}

// centre moves the mean of the points to the origin.
func (d *descent) centre() {
	var mean [2]float64
	for i, v := range d.y {
		mean[i%2] += v / float64(len(d.rows))
	}
	for i := range d.y {
		d.y[i] -= mean[i%2]
	}
}

// divergence is Σ p_ij·log(p_ij / q_ij), where q_ij = 1/(1 + |y_i − y_j|²)/Z.
func (d *descent) divergence() float64 {
	d.tree.build(d.y)
	z, sum := d.tree.repel(d.force, d.rows, d.Theta), 0.0
	for i := range d.rows {
		for k := d.p.first[i]; k < d.p.first[i+1]; k++ {
			p, j := float64(d.p.value[k]), d.p.column[k]
			if p > 0 {
				dx, dy := d.y[2*i]-d.y[2*j], d.y[2*i+1]-d.y[2*j+1]
				sum += p * math.Log(p*(1+dx*dx+dy*dy)*z)
			}
		}
	}
	return sum
}
