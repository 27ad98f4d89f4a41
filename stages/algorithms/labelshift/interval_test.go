package labelshift

import (
	"math"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/classes"
)

// Intervals and regions are as wide as the tables of the normal and the χ² distribution
// say for their level.
func TestQuantiles(t *testing.T) {
	center := []float64{0.4, 0.3, 0.2, 0.1}
	s := &spread{present: &classes.Present{Classes: 4, Class: []int{0, 1, 2, 3}}, center: center, rows: 1000}
	for i := range center {
		p, q := append([]float64(nil), center...), append([]float64(nil), center...)
		p[i], p[(i+1)%4] = p[i]+0.01, p[(i+1)%4]-0.01
		q[i], q[(i+2)%4] = q[i]-0.01, q[(i+2)%4]+0.01
		s.replicates, s.peers = append(s.replicates, p, q), append(s.peers, p)
	}
	for _, table := range []struct{ level, normal, chi2 float64 }{{0.5, 0.67449, 2.36597}, {0.9, 1.64485, 6.25139}, {0.95, 1.95996, 7.81473}} {
		v := s.interval(table.level)
		for k, p := range center {
			up, down := (v.Upper[k]-p)/v.Deviation[k], (p-v.Lower[k])/v.Deviation[k]
			if math.Abs(up-table.normal) > 1e-4 || math.Abs(down-table.normal) > 1e-4 {
				t.Errorf("class %d at %v: the interval is %v and %v deviations wide, want %v", k, table.level, down, up, table.normal)
			}
		}
		if r := s.region(table.level).Radius; math.Abs(r*r-table.chi2) > 1e-4 {
			t.Errorf("at %v the squared radius is %v, want %v", table.level, r*r, table.chi2)
		}
		// Classes whose shares move against each other are less in doubt together than one of them.
		if sums := s.summed([]int{0, 0, 1, 1}).interval(table.level); math.Abs(sums.Deviation[0]-sums.Deviation[1]) > 0.02 ||
			math.Abs((sums.Lower[0]+sums.Upper[0])/2-0.7) > 1e-9 || sums.Bootstrap[0] > math.Hypot(v.Bootstrap[0], v.Bootstrap[1]) {
			t.Errorf("at %v two classes have %+v, and one by one %+v", table.level, sums, v)
		}
	}
}
