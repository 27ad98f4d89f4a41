package drift

import (
	"slices"

	"mars.dev/mars/stages/algorithms/selection"
)

// A Sample is a fair sample of rows that arrive one by one, in bounded memory: those
// whose keys are the least. A key is a hash of the row's number, so that which rows are
// kept depends neither on their values, nor on how they arrive in batches.
type Sample struct {
	Width, Most int       // numbers of a row; rows
	Rows        int64     // all that were offered
	Keys        []uint64  // of the rows that are kept, in the order of arrival
	Values      []float32 // of these, one row after another
	Limit       uint64    // rows of this key and above are not kept; 0: none is known
}

// NewSample makes a Sample of that many rows at most, with room for those that will be
// offered.
func NewSample(width, most int, offered int64) Sample {
	room := int(min(offered, 2*int64(most)))
	return Sample{Width: width, Most: most, Keys: make([]uint64, 0, room), Values: make([]float32, 0, room*width)}
}

// Wants reports whether a row of this key may be kept. One that may not need not be given
// to Add, but to Skip.
func (s *Sample) Wants(key uint64) bool { return s.Limit == 0 || key < s.Limit }

// Skip counts a row that Wants is false for.
func (s *Sample) Skip() { s.Rows++ }

// Add offers a row and its key. It does not keep the slice.
func (s *Sample) Add(key uint64, row []float32) {
	s.Rows++
	if !s.Wants(key) {
		return
	}
	if len(s.Keys) >= 2*s.Most {
		s.Settle()
	}
	s.Keys = append(s.Keys, key)
	s.Values = append(s.Values, row...)
}

// Settle leaves the Most rows of the least keys.
func (s *Sample) Settle() {
	if len(s.Keys) <= s.Most {
		return
	}
	limit, n := selection.Nth(slices.Clone(s.Keys), s.Most-1), 0
	for i, key := range s.Keys {
		if key <= limit && n < s.Most {
			s.Keys[n] = key
			copy(s.Values[n*s.Width:(n+1)*s.Width], s.Values[i*s.Width:])
			n++
		}
	}
	s.Keys, s.Values, s.Limit = s.Keys[:n], s.Values[:n*s.Width], limit
}

// Row is row i of those that are kept.
func (s *Sample) Row(i int) []float32 { return s.Values[i*s.Width : (i+1)*s.Width] }

// Hash mixes numbers into one that looks random (SplitMix64's finaliser, Steele, Lea &
// Flood 2014, once a number).
func Hash(numbers ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range numbers {
		h = mix(h ^ n)
	}
	return h
}

func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform is a number from 0 to 1 of a hash.
func uniform(h uint64) float64 { return (float64(h>>11) + 0.5) / (1 << 53) }

// Fits reports whether a sample that was read from a file is one of such rows.
func (s *Sample) Fits(width, most int) bool {
	return s.Width == width && s.Most == most && len(s.Keys) <= 2*most && len(s.Values) == width*len(s.Keys) && s.Rows >= int64(len(s.Keys))
}
