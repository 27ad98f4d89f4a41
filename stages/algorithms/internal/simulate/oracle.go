package simulate

import "mars.dev/mars/stages/algorithms/internal/dense"

// Oracle names data that problem of testdata/oracle/labelshift/generate.py and
// Data make alike.
type Oracle struct {
	Name          string
	C, D          int
	NS, NT        int
	Spread, Shift float64
	Cuts          []int
	Seed          uint64
}

// normal is normal of generate.py.
func normal(seed uint64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		for u := range 12 {
			z := (uint64(12*i+u) + seed<<32) * 0x9E3779B97F4A7C15
			z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
			z = (z ^ z>>27) * 0x94D049BB133111EB
			x[i] += float64((z^z>>31)>>40) / (1 << 24)
		}
		x[i] -= 6
	}
	return x
}

// Data is problem of generate.py. It has no Truth.
func (c Oracle) Data() Data {
	means, shifts := normal(c.Seed, c.C*c.D), normal(c.Seed+1, c.C*c.D)
	source, target := normal(c.Seed+2, c.NS*c.D), normal(c.Seed+3, c.NT*c.D)
	p := Data{Source: dense.New(c.NS, c.D), Target: dense.New(c.NT, c.D), Labels: make([]int32, c.NS), Classes: c.C}
	scale := func(j int) float64 { return 1 + float64(j)/float64(c.D-1) }
	for i := range c.NS {
		k := i % c.C
		p.Labels[i] = int32(k)
		for j := range c.D {
			p.Source.Data[i*c.D+j] = float32(c.Spread*means[k*c.D+j] + scale(j)*source[i*c.D+j])
		}
	}
	for i := range c.NT {
		k := 0
		for _, cut := range c.Cuts {
			if i%10 >= cut {
				k++
			}
		}
		for j := range c.D {
			p.Target.Data[i*c.D+j] = float32(c.Spread*means[k*c.D+j] + c.Shift + 0.2*shifts[k*c.D+j] + 1.2*scale(j)*target[i*c.D+j])
		}
	}
	return p
}
