package main

import (
	"math"
	"slices"
)

// A kind is a kind of change from source to target.
type kind struct {
	name   string
	weight float64
	apply  func(d *draft)
	also   float64 // the probability that the proportions change as well
}

const same = "same" // nothing changes

// kinds are about as frequent as each is among studies of real tables.
var kinds = []kind{
	{same, 8, func(*draft) {}, 0},
	{"label", 16, label, 0},
	{"vanished", 3, vanished, 0},
	{"chosen", 14, chosen, .25},
	{"split", 10, split, .25},
	{"moved", 18, moved, .25},
	{"together", 10, together, .25},
	{"noise", 5, noise, .5},
	{"new", 9, strangers, .25},
	{"rule", 7, otherRule, 0},
}

// label gives the target other proportions, or leaves one class next to nothing.
func label(d *draft) {
	if chance(d.rng, .65) {
		d.newShares()
		return
	}
	d.shares = d.natural()
	few, left := d.rng.IntN(d.p.classes), uniform(d.rng, 0, .03)
	rest := 1 - d.shares[few]
	for k := range d.shares {
		d.shares[k] *= (1 - left) / rest
	}
	d.shares[few] = left
}

// vanished leaves the target without one class or some, but one.
func vanished(d *draft) {
	d.shares = d.natural()
	known, n := d.known(), 1
	if len(known) > 2 && chance(d.rng, .4) {
		n = between(d.rng, 1, len(known)-1)
	}
	for _, i := range some(d.rng, max(0, min(n, len(known)-1)), len(known)) {
		d.shares[known[i]] = 0
	}
}

// known are the labels that the source has enough rows of.
func (d *draft) known() (labels []int) {
	n := make([]int, d.p.classes+1)
	for _, r := range d.source[:min(d.nS, len(d.source))] {
		n[r.label]++
	}
	for k := range n {
		if n[k] >= leastOfClass {
			labels = append(labels, k)
		}
	}
	return labels
}

// natural are the shares of the labels in the target as it is; the last is that of the unknown class.
func (d *draft) natural() []float64 {
	shares := make([]float64, d.p.classes+1)
	for _, r := range d.target {
		shares[r.label] += 1 / float64(len(d.target))
	}
	return shares
}

// newShares draws shares of the labels in the target; an unknown class keeps its own.
func (d *draft) newShares() {
	strange := d.natural()[d.p.classes]
	d.shares = append(dirichlet(d.rng, between(d.rng, 1, 5), d.p.classes), strange)
	for k := range d.p.classes {
		d.shares[k] *= 1 - strange
	}
}

// chosen chooses rows by where they are (covariate shift): by a logistic function of a random
// direction, or by the leaves of a tree of columns; mildly or strongly, and of the target alone
// or of the source the other way round.
func chosen(d *draft) {
	side := d.direction()
	strength := pick(d.rng, uniform(d.rng, .5, 1.5), uniform(d.rng, 2, 5))
	if chance(d.rng, .4) {
		side = d.leaves()
	}
	middle := uniform(d.rng, -.7, .7)
	likely := func(r row) float64 { return 1 / (1 + math.Exp(-strength*(side(r)-middle))) }
	d.target = keep(d.target, func(r row) bool { return chance(d.rng, likely(r)) })
	if chance(d.rng, .5) {
		d.source = keep(d.source, func(r row) bool { return chance(d.rng, 1-likely(r)) })
	}
}

// direction draws a direction of some columns; along it the rows have a deviation of about 1.
func (d *draft) direction() func(row) float64 {
	columns := some(d.rng, logBetween(d.rng, 1, d.p.width()), d.p.width())
	weights := normals(d.rng, len(columns), 1)
	along := func(r row) (s float64) {
		for i, j := range columns {
			if d.deviation[j] > 0 {
				s += weights[i] * max(-3, min(3, (r.x[j]-d.mean[j])/d.deviation[j]))
			}
		}
		return s
	}
	mean, deviation := moments(calibration, func(i int) float64 { return along(d.sample[i]) })
	return func(r row) float64 { return (along(r) - mean) / max(deviation, 1e-9) }
}

// leaves draws a tree of two or three columns, each leaf with a value.
func (d *draft) leaves() func(row) float64 {
	columns := some(d.rng, min(d.p.width(), between(d.rng, 2, 3)), d.p.width())
	cuts := make([]float64, len(columns))
	for i, j := range columns {
		cuts[i] = pick(d.rng, d.sample...).x[j]
	}
	values := normals(d.rng, 1<<len(columns), 1)
	return func(r row) float64 {
		leaf := 0
		for i, j := range columns {
			if r.x[j] > cuts[i] {
				leaf |= 1 << i
			}
		}
		return values[leaf]
	}
}

// split cuts the table in two at a threshold of a column, as studies cut real tables by year, place or
// group. The column goes.
func split(d *draft) {
	j := d.rng.IntN(d.p.width())
	d.dropped[j] = true
	value := func(r row) float64 { return r.x[j] }
	sorted := make([]float64, calibration)
	for i := range sorted {
		sorted[i] = value(d.sample[i])
	}
	slices.Sort(sorted)
	cut := sorted[int(uniform(d.rng, .25, .75)*calibration)]
	if cut == sorted[calibration-1] { // few values: cut below the last
		cut = math.Nextafter(cut, math.Inf(-1))
	}
	low, high := func(r row) bool { return value(r) <= cut }, func(r row) bool { return value(r) > cut }
	if chance(d.rng, .5) {
		low, high = high, low
	}
	d.source, d.target = keep(d.source, low), keep(d.target, high)
}

// moved moves each class, or some, by itself, and in half of the tasks by a part that is common
// to all: in columns, or in the roots, from where it goes through the program.
func moved(d *draft) {
	moves := func(k int) bool { return true }
	if chance(d.rng, .4) {
		those := some(d.rng, between(d.rng, 1, d.p.classes), d.p.classes)
		moves = func(k int) bool { return slices.Contains(those, k) }
	}
	size := logUniform(d.rng, .1, 4)
	own, common := size, 0.0
	if chance(d.rng, .5) {
		own, common = size*uniform(d.rng, .2, .8), size
	}
	inRoots := len(d.smooth) == 0 || len(d.p.nodes) > 0 && chance(d.rng, .33)
	draw, width := d.step, d.p.width()
	if inRoots {
		draw, width = d.rootStep, len(d.p.spread)
	}
	all := draw(common)
	steps := make([][]float64, d.p.classes+1)
	for k := range steps {
		steps[k] = make([]float64, width)
		if moves(k) {
			steps[k] = draw(own)
			add(steps[k], all)
		}
	}
	for i := range d.target {
		r := &d.target[i]
		if inRoots {
			d.redo(r, steps[r.class])
		} else {
			add(r.x, steps[r.class])
		}
	}
}

func add(x, y []float64) {
	for j := range x {
		x[j] += y[j]
	}
}

// step draws a step of about size deviations in one column or in many; the more columns, the
// smaller in each, or not.
func (d *draft) step(size float64) []float64 {
	step := make([]float64, d.p.width())
	if len(d.smooth) == 0 {
		return step
	}
	n := logBetween(d.rng, 1, len(d.smooth))
	if chance(d.rng, .5) {
		n = len(d.smooth)
	}
	each := size * math.Pow(float64(n), -uniform(d.rng, 0, .5))
	for _, i := range some(d.rng, n, len(d.smooth)) {
		j := d.smooth[i]
		step[j] = each * d.deviation[j] * d.rng.NormFloat64()
	}
	return step
}

func (d *draft) rootStep(size float64) []float64 {
	step := normals(d.rng, len(d.p.spread), size/math.Sqrt(float64(len(d.p.spread))))
	for j := range step {
		step[j] *= d.p.spread[j]
	}
	return step
}

// redo makes r again, of the same class and label, from roots that are a step away.
func (d *draft) redo(r *row, step []float64) {
	roots := slices.Clone(r.latent[:len(step)])
	add(roots, step)
	r.latent = d.p.follow(d.rng, roots)
	r.x = d.p.observe(d.rng, r.latent)
}

// together moves all rows by one affine map: a shift, other scales, a slight turn, other units.
func together(d *draft) {
	if len(d.smooth) == 0 || len(d.p.nodes) > 0 && chance(d.rng, .2) {
		step := d.rootStep(logUniform(d.rng, .1, 4))
		for i := range d.target {
			d.redo(&d.target[i], step)
		}
		return
	}
	parts := []func(*draft){shift, rescale, turn, units}
	for _, i := range some(d.rng, between(d.rng, 1, 3), len(parts)) {
		parts[i](d)
	}
}

func shift(d *draft) {
	step := d.step(logUniform(d.rng, .1, 4))
	for i := range d.target {
		add(d.target[i].x, step)
	}
}

// rescale stretches columns about their means, and in a tenth turns one round.
func rescale(d *draft) {
	wide := uniform(d.rng, .05, .6)
	mirrored := -1
	if chance(d.rng, .1) {
		mirrored = pick(d.rng, d.smooth...)
	}
	for _, j := range d.smooth {
		s := math.Exp(wide * d.rng.NormFloat64())
		if j == mirrored {
			s = -s
		}
		for i := range d.target {
			x := d.target[i].x
			x[j] = d.mean[j] + s*(x[j]-d.mean[j])
		}
	}
}

// turn turns pairs of columns, in units of their deviations; mostly slightly.
func turn(d *draft) {
	if len(d.smooth) < 2 {
		shift(d)
		return
	}
	for range between(d.rng, 1, 3) {
		angle := .3 * d.rng.NormFloat64()
		if chance(d.rng, .1) {
			angle = math.Pi * uniform(d.rng, -1, 1)
		}
		sin, cos := math.Sincos(angle)
		pair := some(d.rng, 2, len(d.smooth))
		a, b := d.smooth[pair[0]], d.smooth[pair[1]]
		for i := range d.target {
			x := d.target[i].x
			u, v := (x[a]-d.mean[a])/d.deviation[a], (x[b]-d.mean[b])/d.deviation[b]
			x[a] = d.mean[a] + d.deviation[a]*(cos*u-sin*v)
			x[b] = d.mean[b] + d.deviation[b]*(sin*u+cos*v)
		}
	}
}

// units multiplies some columns by a constant.
func units(d *draft) {
	for _, i := range some(d.rng, logBetween(d.rng, 1, len(d.smooth)), len(d.smooth)) {
		factor := pick(d.rng, .001, .01, .1, .4536, 1/2.54, 2.54, 10, 100, 1000, logUniform(d.rng, .3, 3))
		for k := range d.target {
			d.target[k].x[d.smooth[i]] *= factor
		}
	}
}

// noise adds noise to some columns of the target, or fills gaps by the mean of the source.
func noise(d *draft) {
	gaps := len(d.smooth) == 0 || chance(d.rng, .4)
	columns, share, size := d.smooth, uniform(d.rng, .05, .5), logUniform(d.rng, .1, 2)
	if gaps {
		columns = d.rng.Perm(d.p.width())
	}
	for _, i := range some(d.rng, between(d.rng, 1, len(columns)), len(columns)) {
		j := columns[i]
		for k := range d.target {
			switch x := d.target[k].x; {
			case !gaps:
				x[j] += size * d.deviation[j] * d.rng.NormFloat64()
			case chance(d.rng, share):
				x[j] = d.mean[j]
			}
		}
	}
}

// strangers lets the target have rows of classes that the source has none of: one or two of the
// table's own, or, where two must stay, rows from elsewhere.
func strangers(d *draft) {
	if known := d.known(); len(known) > 2 && chance(d.rng, .8) {
		for _, i := range some(d.rng, between(d.rng, 1, min(2, len(known)-2)), len(known)) {
			d.unknown[known[i]] = true
		}
		d.source = keep(d.source, func(r row) bool { return !d.unknown[r.label] })
		return
	}
	d.unknown[d.p.classes] = true
	share := uniform(d.rng, .05, .4)
	for i := range d.target {
		if chance(d.rng, share) {
			d.target[i] = d.p.stranger(d.rng)
		}
	}
}

// otherRule lets another rule give the label: a coefficient of the rule changes, or classes have
// other names in a half-space. What changes little is drawn again.
func otherRule(d *draft) {
	const least, most = .03, 10
	for range most {
		class := d.renamed()
		if d.p.rule != nil && chance(d.rng, .6) {
			changed := d.p.rule.changed(d.rng)
			class = func(r row) int { return changed.class(r.luck, r.latent) }
		}
		classes, differ := make([]int, len(d.target)), 0
		for i, r := range d.target {
			if classes[i] = r.class; r.class < d.p.classes {
				classes[i] = class(r)
			}
			if classes[i] != r.class {
				differ++
			}
		}
		if float64(differ) < least*float64(len(d.target)) {
			continue
		}
		for i, k := range classes {
			if r := &d.target[i]; k != r.class {
				r.class, r.label = k, k
			}
		}
		return
	}
}

// renamed gives two or more classes one another's names in a half-space, or one class another's.
func (d *draft) renamed() func(row) int {
	along, cut := d.direction(), uniform(d.rng, -.5, 1.3)
	those := some(d.rng, between(d.rng, 2, d.p.classes), d.p.classes)
	from := those
	if chance(d.rng, .5) {
		from = those[:1]
	}
	return func(r row) int {
		if i := slices.Index(from, r.class); i >= 0 && along(r) > cut {
			return those[(i+1)%len(those)]
		}
		return r.class
	}
}
