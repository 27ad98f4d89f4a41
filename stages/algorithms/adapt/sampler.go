package adapt

import (
	"math/rand/v2"
	"slices"
)

// A permutation holds rows in random order and draws them without replacement. Once
// all have been drawn it is shuffled again.
type permutation struct {
	rows []int32
	next int // index of the next row to draw
}

func (p *permutation) shuffle(rng *rand.Rand) {
	p.next = 0
	rng.Shuffle(len(p.rows), func(i, j int) { p.rows[i], p.rows[j] = p.rows[j], p.rows[i] })
}

// draw fills dst with the next rows.
func (p *permutation) draw(dst []int32, rng *rand.Rand) {
	for i := range dst {
		if p.next == len(p.rows) {
			p.shuffle(rng)
		}
		dst[i] = p.rows[p.next]
		p.next++
	}
}

// restart sets the rows to their original order and shuffles them, so that what is
// drawn depends on rng alone.
func (p *permutation) restart(original []int32, rng *rand.Rand) {
	copy(p.rows, original)
	p.shuffle(rng)
}

// A sampler draws batches of source and target rows. With stratified sampling the number
// of rows of a class in a batch of B is its share of the source times B, rounded up or
// down by systematic sampling: one random start for all classes, so that the numbers sum
// to B and are unbiased. A class that would get no row gets one of the class with the
// most. So if B ≥ C, every batch has every class.
type sampler struct {
	labels     []int32
	stratified bool
	classes    []permutation // of the source rows of each class, or one of all
	target     permutation
	quota      []int     // rows of each class in the batch
	share      []float64 // of each class in the source
	balanced   []float64 // 1/C for each class
	original   []int32   // source rows by class, then target rows
}

func newSampler(labels []int32, classes, targets int, stratified bool) *sampler {
	s := &sampler{labels: labels, stratified: stratified, quota: make([]int, classes)}
	s.share = proportions(labels, classes)
	s.balanced = slices.Repeat([]float64{1 / float64(classes)}, classes)
	byClass := make([][]int32, classes)
	for i, y := range labels {
		byClass[y] = append(byClass[y], int32(i))
	}
	for _, rows := range byClass {
		s.original = append(s.original, rows...)
	}
	if !stratified {
		byClass = [][]int32{s.original}
	}
	for _, rows := range byClass {
		s.classes = append(s.classes, permutation{rows: append([]int32(nil), rows...)})
	}
	for i := range targets {
		s.target.rows = append(s.target.rows, int32(i))
	}
	s.original = append(s.original, s.target.rows...)
	return s
}

// proportions returns the share of each class among the labels.
func proportions(labels []int32, classes int) []float64 {
	p := make([]float64, classes)
	for _, y := range labels {
		p[y]++
	}
	for c := range p {
		p[c] /= float64(len(labels))
	}
	return p
}

// restart begins an epoch: what is drawn from now on depends on rng alone.
func (s *sampler) restart(rng *rand.Rand) {
	rest := s.original
	for c := range s.classes {
		s.classes[c].restart(rest, rng)
		rest = rest[len(s.classes[c].rows):]
	}
	s.target.restart(rest, rng)
}

// useTargets makes rows those of the target that are drawn from now on.
func (s *sampler) useTargets(rows []int32, rng *rand.Rand) {
	s.original = append(s.original[:len(s.labels)], rows...)
	s.target = permutation{rows: slices.Clone(rows)}
	s.target.shuffle(rng)
}

// draw fills a batch with source rows and, if it has room for any, target rows.
func (s *sampler) draw(b *batch, rng *rand.Rand) {
	if s.stratified {
		s.apportion(len(b.source), rng.Float64())
		rest := b.source
		for c, n := range s.quota {
			s.classes[c].draw(rest[:n], rng)
			rest = rest[n:]
		}
	} else {
		s.classes[0].draw(b.source, rng)
	}
	for i, row := range b.source {
		b.labels[i] = s.labels[row]
	}
	s.target.draw(b.target, rng)
}

// apportion sets quota to the number of rows of each class in a batch of n, given the
// start of systematic sampling in [0, 1).
func (s *sampler) apportion(n int, start float64) {
	var reached float64
	given := 0
	for c, share := range s.share {
		reached += share * float64(n)
		total := min(n, int(reached+start))
		if c == len(s.share)-1 {
			total = n
		}
		s.quota[c], given = total-given, total
	}
	if n < len(s.quota) {
		return
	}
	for c := range s.quota {
		if s.quota[c] == 0 {
			s.quota[s.largest()]--
			s.quota[c]++
		}
	}
}

// largest is the class with the most rows in the batch.
func (s *sampler) largest() int {
	best := 0
	for c, n := range s.quota {
		if n > s.quota[best] {
			best = c
		}
	}
	return best
}
