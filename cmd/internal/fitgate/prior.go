package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

const (
	familySize   = 10 // seeds that share a program
	planesEvery  = 4  // of so many families one is of two classes in a plane
	leastSource  = 50
	leastTarget  = 60
	leastOfClass = 3 // rows in the source
	mostColumns  = 100
	mostCells    = 100_000 // of each side, which keeps a study of many tasks cheap
	fewValues    = 12      // a column of so many values has steps, which nothing moves

	twice      = .1 // share of tasks with two kinds of change
	tries      = 30 // before a family's program is replaced
	poolSource = 3  // rows that are drawn for each that is kept, so that there is a choice
	poolTarget = 6
)

// draw draws the task of a seed from the prior over data-generating programs and their changes,
// as in Drift-Resilient TabPFN (Helli et al., 2024), but with changes from a source to a target
// of the kinds that domain adaptation knows. Ten seeds are a family: they share the program of
// the table and differ in sizes and change. In every fourth family the table is a plane, because
// two classes of a plane that move together look like one that has vanished, and how often
// which of both is so must be learnt too.
func draw(seed uint64) task {
	family := seed / familySize
	rng := rand.New(rand.NewPCG(seed, 0))
	changes := someKinds(rng)
	for isPlane(family) && slices.ContainsFunc(changes, func(k kind) bool { return k.name == "split" }) {
		changes = someKinds(rng) // there is no column to give up
	}
	for attempt := uint64(0); ; attempt++ {
		p := familyProgram(family, attempt/tries)
		t := newDraft(rand.New(rand.NewPCG(seed, attempt+1)), p).task(changes)
		if t.valid() == nil {
			t.Name, t.Family, t.Kind = fmt.Sprintf("sim-%d", seed), fmt.Sprintf("sim-%d", family), changes[0].name
			return t
		}
	}
}

// someKinds draws one kind of change, or two, of which the first gives the name. Nothing but none is "same".
func someKinds(rng *rand.Rand) []kind {
	weights := make([]float64, len(kinds))
	for i, k := range kinds {
		weights[i] = k.weight
	}
	first := weighted(rng, weights...)
	changes := []kind{kinds[first]}
	if chance(rng, twice) && changes[0].name != same {
		weights[first], weights[0] = 0, 0 // the first of kinds is same
		changes = append(changes, kinds[weighted(rng, weights...)])
	}
	return changes
}

func isPlane(family uint64) bool { return family%planesEvery == planesEvery-1 }

// familyProgram draws the program of a family; another one if there are no tasks of it that are valid.
func familyProgram(family, replacement uint64) *program {
	rng := rand.New(rand.NewPCG(family, math.MaxUint64-replacement))
	if isPlane(family) {
		return plane(rng)
	}
	// Most real tables are such that something can be learnt; most random programs are not.
	c, d := classes(rng), logBetween(rng, 2, mostColumns)
	for {
		least := uniform(rng, .05, .8)
		if p := structural(rng, c, d); p.learnable(rng) >= least {
			return p
		}
	}
}

// A draft is a task while its changes are made. Both sides have more rows than are kept.
type draft struct {
	rng            *rand.Rand
	p              *program
	source, target []row
	nS, nT         int
	shares         []float64 // that the target is to have, by label; nil: as they come
	unknown        []bool    // labels that the source is to lack
	dropped        []bool    // columns that are left out
	// The source before any change, some rows, and of its columns:
	sample          []row
	mean, deviation []float64
	smooth          []int // columns of more than fewValues values
}

func newDraft(rng *rand.Rand, p *program) *draft {
	d := &draft{rng: rng, p: p, unknown: make([]bool, p.classes+1), dropped: make([]bool, p.width())}
	most := mostCells / p.width()
	d.nS, d.nT = logBetween(rng, leastSource, 2000), logBetween(rng, leastTarget, 3000)
	if chance(rng, .04) {
		d.nS = between(rng, 2000, 5000)
	}
	d.nS, d.nT = min(d.nS, most), min(d.nT, most)
	for range max(poolSource*d.nS, calibration) {
		d.source = append(d.source, p.row(rng))
	}
	for range poolTarget * d.nT {
		d.target = append(d.target, p.row(rng))
	}
	d.measure()
	return d
}

func (d *draft) measure() {
	d.sample = d.source[:calibration]
	for j := range d.p.width() {
		different := map[float64]bool{}
		for _, r := range d.sample {
			different[r.x[j]] = true
		}
		mean, deviation := moments(calibration, func(i int) float64 { return d.sample[i].x[j] })
		d.mean, d.deviation = append(d.mean, mean), append(d.deviation, deviation)
		if len(different) > fewValues {
			d.smooth = append(d.smooth, j)
		}
	}
}

// task makes the changes and keeps the rows that are wanted.
func (d *draft) task(changes []kind) task {
	for _, k := range changes {
		k.apply(d)
		if k.also > 0 && d.shares == nil && chance(d.rng, k.also) {
			d.newShares()
		}
	}
	source := take(d.rng, d.source, d.nS, nil)
	target := take(d.rng, d.target, d.nT, d.shares)
	return d.assemble(d.withoutRare(source, target))
}

// take takes n rows whose labels have these shares, or fewer if there are not enough.
func take(rng *rand.Rand, rows []row, n int, shares []float64) []row {
	if shares == nil {
		return rows[:min(n, len(rows))]
	}
	byLabel := make([][]row, len(shares))
	for _, r := range rows {
		byLabel[r.label] = append(byLabel[r.label], r)
	}
	for k, p := range shares {
		if p > 0 {
			n = min(n, int(float64(len(byLabel[k]))/p))
		}
	}
	var taken []row
	for range n {
		if k := weighted(rng, shares...); len(byLabel[k]) > 0 {
			taken, byLabel[k] = append(taken, byLabel[k][0]), byLabel[k][1:]
		}
	}
	return taken
}

// withoutRare leaves out the classes of which the source has a row or two, or none, unless it is
// to have none.
func (d *draft) withoutRare(source, target []row) (s, t []row) {
	n := make([]int, d.p.classes+1)
	for _, r := range source {
		n[r.label]++
	}
	known := func(r row) bool { return d.unknown[r.label] || n[r.label] >= leastOfClass }
	return keep(source, known), keep(target, known)
}

func keep(rows []row, f func(row) bool) []row {
	var kept []row
	for _, r := range rows {
		if f(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// assemble numbers the classes that there are, those of the source first, and leaves out columns
// that are constant.
func (d *draft) assemble(source, target []row) task {
	number := map[int]int32{}
	known := d.number(number, source)
	all := d.number(number, target)
	t := task{Classes: all}
	if len(source) == 0 || len(target) == 0 || known == 0 {
		return t
	}
	columns := d.columns(source, target)
	t.Source, t.Labels = table(source, columns, number)
	t.Target, t.Truth = table(target, columns, number)
	return t
}

// number gives the labels of rows that have none a number, in their order, and tells how many have one.
func (d *draft) number(number map[int]int32, rows []row) int {
	there := make([]bool, d.p.classes+1)
	for _, r := range rows {
		there[r.label] = true
	}
	for k, is := range there {
		if _, has := number[k]; is && !has {
			number[k] = int32(len(number))
		}
	}
	return len(number)
}

// columns are those that are not dropped and not constant on either side, as float32.
func (d *draft) columns(source, target []row) []int {
	var kept []int
	for j := range d.dropped {
		if !d.dropped[j] && varies(source, j) && varies(target, j) {
			kept = append(kept, j)
		}
	}
	return kept
}

func varies(rows []row, j int) bool {
	for _, r := range rows {
		if float32(r.x[j]) != float32(rows[0].x[j]) {
			return true
		}
	}
	return false
}

func table(rows []row, columns []int, number map[int]int32) (blas32.General, []int32) {
	x, labels := matrix(len(rows), len(columns)), make([]int32, len(rows))
	for i, r := range rows {
		for j, c := range columns {
			x.Data[i*x.Stride+j] = float32(r.x[c])
		}
		labels[i] = number[r.label]
	}
	return x, labels
}
