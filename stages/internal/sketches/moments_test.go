package sketches

import (
	"math"
	"slices"
)

// Moments are those of each number of a row, over all parts, of rows of all classes.
func (s *Sketch) Moments() []*Moments {
	return s.moments(func(*Class) bool { return true })
}

// ClassMoments are those of a class.
func (s *Sketch) ClassMoments(name string) []*Moments {
	return s.moments(func(c *Class) bool { return c.Name == name })
}

func (s *Sketch) moments(counted func(*Class) bool) []*Moments {
	all := newClass("", s.numbers()).Moments
	for _, l := range s.Leaves {
		for _, c := range l.Classes {
			if counted(c) {
				for j, m := range c.Moments {
					all[j].Merge(m)
				}
			}
		}
	}
	return all
}

// Quantiles returns those of a number of a row at the given shares, by the sample: their rank
// is off by about 1/(2√k). NaN where all are missing.
func (s *Sketch) Quantiles(number int, shares []float64) []float64 {
	var values []float64
	for _, r := range s.Sample() {
		if v := r.Numbers[number]; v == v {
			values = append(values, float64(v))
		}
	}
	slices.Sort(values)
	out := make([]float64, len(shares))
	for i, q := range shares {
		out[i] = math.NaN()
		if len(values) > 0 {
			out[i] = values[min(len(values)-1, int(q*float64(len(values))))]
		}
	}
	return out
}

// Merge adds the moments of other rows.
func (m *Moments) Merge(o *Moments) {
	if o.Rows == 0 {
		return
	}
	if m.Rows == 0 {
		m.Least, m.Most = o.Least, o.Most
	}
	m.Least, m.Most = min(m.Least, o.Least), max(m.Most, o.Most)
	m.Rows += o.Rows
	m.Sum.AddSum(&o.Sum.Sum)
	m.Squares.AddSum(&o.Squares.Sum)
}

// Mean and Deviation are those of the column, NaN without rows.
func (m *Moments) Mean() float64 { return m.Sum.Float64() / float64(m.Rows) }

// Deviation is the standard deviation.
func (m *Moments) Deviation() float64 {
	// Σx² − (Σx)²/n loses digits to cancellation; the sums have not rounded any before.
	mean := m.Mean()
	return math.Sqrt(max(0, m.Squares.Float64()/float64(m.Rows)-mean*mean))
}
