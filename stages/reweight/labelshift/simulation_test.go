package labelshift

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// simulation is a kind of task: classes in d dimensions with means of normal
// coordinates of the given spread, all moved by shift in each coordinate, and
// target proportions drawn uniformly from the simplex.
type simulation struct {
	name          string
	classes, d    int
	nS, nT        int
	spread, shift float64
}

// coverage is how often, of all classes of some tasks, the truth was inside.
type coverage struct {
	tasks, classes           int
	inside, bootstrap, joint int
	error, width             float64
}

func (s simulation) run(t *testing.T, draws int) (c coverage) {
	rng := rand.New(rand.NewPCG(7, 7))
	for ; c.tasks < draws; c.tasks++ {
		truth := dirichlet(rng, s.classes)
		p, _ := blobs(rng, s.nS, s.nT, s.d, uniform(s.classes), truth, s.spread, s.shift)
		panel, err := Consult(p, linear, MTEOptions{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := panel.Interval(IntervalOptions{Replicates: 60})
		if err != nil {
			t.Fatal(err)
		}
		c.add(truth, panel.Proportions(), v)
	}
	return c
}

func (c *coverage) add(truth, estimate []float64, v *Interval) {
	for k, q := range truth {
		c.classes++
		if v.Lower[k] <= q && q <= v.Upper[k] {
			c.inside++
		}
		if e := (q - estimate[k]) / v.Bootstrap[k]; e*e < 1.645*1.645 {
			c.bootstrap++
		}
		c.width += v.Upper[k] - v.Lower[k]
	}
	c.error += distance(truth, estimate)
	if v.Region.Contains(truth) {
		c.joint++
	}
}

// TestCoverage counts how often 90 % intervals hold the true proportions.
// MARS_DRAWS sets how many tasks there are of each kind; the few that there are
// without it can only tell intervals that are far too narrow.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations take long under the race detector")
	}
	draws, err := strconv.Atoi(os.Getenv("MARS_DRAWS"))
	if err != nil {
		draws = 2
	}
	var all coverage
	for _, s := range []simulation{
		{"3 classes", 3, 6, 1000, 500, 1, 0.5},
		{"3 near classes", 3, 6, 1000, 500, 0.7, 0.3},
		{"10 classes", 10, 12, 1000, 800, 1, 0.5},
		{"10 near classes", 10, 12, 1000, 800, 0.6, 0.3},
	} {
		c := s.run(t, draws)
		all.classes, all.inside = all.classes+c.classes, all.inside+c.inside
		share := func(n, of int) float64 { return float64(n) / float64(of) }
		t.Logf("%-16s L1 %.3f, coverage %.3f (bootstrap alone %.3f), mean width %.3f, region %.3f", s.name, c.error/float64(c.tasks),
			share(c.inside, c.classes), share(c.bootstrap, c.classes), c.width/float64(c.classes), share(c.joint, c.tasks))
	}
	if got := float64(all.inside) / float64(all.classes); got < 0.75 {
		t.Errorf("90 %% intervals hold %.3f of the true proportions", got)
	}
}

// dirichlet draws proportions uniformly from the simplex.
func dirichlet(rng *rand.Rand, classes int) []float64 {
	p := make([]float64, classes)
	for k := range p {
		p[k] = rng.ExpFloat64()
	}
	normalize(p)
	return p
}
