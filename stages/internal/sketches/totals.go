package sketches

import "math"

// Totals are what all rows of a sketch are, as its leaves have counted them.
type Totals struct {
	Rows    int64            `json:"rows"`
	Classes map[string]int64 `json:"classes,omitempty"` // rows with a label, by class
	// Overlap is how many parts a row is in, in the mean: 1 unless parts have rows in common.
	// Rows and Classes are then estimates, by the sample.
	Overlap float64 `json:"overlap"`
}

// Totals counts.
func (s *Sketch) Totals() Totals {
	t := Totals{Overlap: s.overlap(func(*Row) bool { return true })}
	counts := map[string]int64{}
	for _, l := range s.Leaves {
		t.Rows += l.Rows
		for _, c := range l.Classes {
			counts[c.Name] += c.Rows
		}
	}
	if t.Overlap > 1 {
		t.Rows = 0
		for name, n := range counts {
			counts[name] = int64(math.Round(float64(n) / s.overlap(func(r *Row) bool { return r.Label == name })))
			t.Rows += counts[name]
		}
	}
	if delete(counts, ""); len(counts) > 0 {
		t.Classes = counts
	}
	return t
}

// overlap is the mean number of parts that a row is in: of the rows of the sample that are
// counted, which are a fair sample of all.
func (s *Sketch) overlap(counted func(*Row) bool) float64 {
	rows, parts := 0, 0
	for _, r := range s.Rows {
		if counted(r) {
			rows++
			parts += len(r.parts)
		}
	}
	if rows == 0 || s.ID == "" { // a content that is there twice may be two rows
		return 1
	}
	return float64(parts) / float64(rows)
}

// Sample returns the rows that stand for all: no more than k, and those few of classes that
// would otherwise be rare. A content that is there many times is given as often as is its
// share.
func (s *Sketch) Sample() []*Row {
	uniform := s.Rows[:min(s.Header.Sample, len(s.Rows))]
	total := int64(0)
	for _, r := range uniform {
		total += r.times(&s.Header)
	}
	if total == int64(len(uniform)) {
		return s.Rows
	}
	var rows []*Row
	n := min(total, int64(s.Header.Sample))
	before, next := int64(0), int64(0)
	for _, r := range uniform {
		before += r.times(&s.Header)
		// Of the n places (i + ½)·total/n of all rows, those before this one's end.
		for next < n && (float64(next)+0.5)*float64(total)/float64(n) < float64(before) {
			rows = append(rows, r)
			next++
		}
	}
	return append(rows, s.Rows[len(uniform):]...)
}
