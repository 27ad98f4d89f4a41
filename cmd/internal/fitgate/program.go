package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A program generates the rows of a table, as in the structural prior of TabPFN (Hollmann et
// al., 2023, "TabPFN: a transformer that solves small tabular classification problems in a
// second", section 4): independent roots, nodes that are random functions of roots and of
// earlier nodes, and columns that show some of these. The class comes last, by a rule from
// roots and nodes (X→Y), or first, and then the roots are drawn given it (Y→X).
type program struct {
	classes int
	flips   float64 // share of rows whose label is drawn without regard to the class
	roots   func(rng *rand.Rand) (roots []float64, class int)
	strange func(rng *rand.Rand) []float64 // roots of rows of a class that is not known
	spread  []float64                      // deviations of the roots
	nodes   []node
	columns []column
	rule    *rule // nil if the class comes first
}

// A row is what a program has made.
type row struct {
	latent []float64 // roots, then nodes
	x      []float64 // columns
	class  int
	label  int    // class, but for flips
	luck   uint64 // what the rule leaves to chance
}

// calibration is how many rows a program is looked at with while it is made.
const calibration = 400

// plane is a program of two classes in two columns, without anything between.
func plane(rng *rand.Rand) *program {
	p := &program{classes: 2, flips: flips(rng)}
	p.roots = pick(rng, blobs, blobs, moons, rings)(rng)
	p.measureRoots(rng)
	for j := range 2 {
		p.columns = append(p.columns, shown(rng, j, 1))
	}
	return p
}

// structural is a program of so many classes and d columns.
func structural(rng *rand.Rand, classes, d int) *program {
	p := &program{classes: classes, flips: flips(rng)}
	q := logBetween(rng, 2, min(max(d, 3), 16))
	classFirst := false
	switch kind := weighted(rng, .5, .38, .12); {
	case kind == 0:
		p.roots = causes(rng, q)
	case kind == 1 || classes > 2:
		p.roots, classFirst = clouds(rng, q, p.classes), true
	default:
		classFirst = true
		p.roots = pick(rng, moons, rings)(rng)
	}
	p.measureRoots(rng)
	sample := p.addNodes(rng, d, classFirst)
	p.addColumns(rng, d)
	if !classFirst {
		p.rule = newRule(rng, p, sample)
	}
	return p
}

func classes(rng *rand.Rand) int {
	switch weighted(rng, .45, .2, .12, .13, .1) {
	case 0:
		return 2
	case 1:
		return 3
	case 2:
		return 4
	case 3:
		return between(rng, 5, 8)
	default:
		return between(rng, 9, 20)
	}
}

func flips(rng *rand.Rand) float64 {
	if chance(rng, .5) {
		return 0
	}
	return uniform(rng, 0, .2)
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// row draws one row.
func (p *program) row(rng *rand.Rand) row {
	roots, class := p.roots(rng)
	r := row{latent: p.follow(rng, roots), class: class, luck: rng.Uint64()}
	if p.rule != nil {
		r.class = p.rule.class(r.luck, r.latent)
	}
	return p.finish(rng, r)
}

// stranger draws one row of a class that no other row has.
func (p *program) stranger(rng *rand.Rand) row {
	r := row{latent: p.follow(rng, p.strange(rng)), class: p.classes}
	r.label, r.x = r.class, p.observe(rng, r.latent)
	return r
}

// finish gives r, whose class is known, label and columns.
func (p *program) finish(rng *rand.Rand, r row) row {
	r.label = r.class
	if chance(rng, p.flips) {
		r.label = rng.IntN(p.classes)
	}
	r.x = p.observe(rng, r.latent)
	return r
}

// follow computes the nodes.
func (p *program) follow(rng *rand.Rand, roots []float64) []float64 {
	latent := make([]float64, len(roots), len(roots)+len(p.nodes))
	copy(latent, roots)
	for i := range p.nodes {
		latent = append(latent, p.nodes[i].draw(rng, latent))
	}
	return latent
}

func (p *program) observe(rng *rand.Rand, latent []float64) []float64 {
	x := make([]float64, 0, p.width())
	for i := range p.columns {
		x = p.columns[i].show(rng, latent, x)
	}
	return x
}

func (p *program) width() int {
	w := 0
	for _, c := range p.columns {
		w += c.width
	}
	return w
}

// measureRoots measures the roots' deviations, and places the unknown class 1 to 5 of them
// away from the middle in all, as a cloud of its own width.
func (p *program) measureRoots(rng *rand.Rand) {
	sample := make([][]float64, calibration)
	for i := range sample {
		sample[i], _ = p.roots(rng)
	}
	q := len(sample[0])
	centre := normals(rng, q, 1)
	far := logUniform(rng, 1, 5) / norm(centre)
	wide := logUniform(rng, .2, 1)
	for j := range q {
		mean, deviation := moments(len(sample), func(i int) float64 { return sample[i][j] })
		p.spread = append(p.spread, deviation)
		centre[j] = mean + far*centre[j]*deviation
	}
	p.strange = func(rng *rand.Rand) []float64 {
		z := make([]float64, q)
		for j := range z {
			z[j] = centre[j] + wide*p.spread[j]*rng.NormFloat64()
		}
		return z
	}
}

// addNodes makes d to 1.5·d nodes, one after another: each is a function of what came before
// it, brought to mean 0 and deviation 1. Where the class comes first, the functions are mild
// ones of the roots alone. It returns latent values of a sample.
func (p *program) addNodes(rng *rand.Rand, d int, mild bool) [][]float64 {
	sample := make([][]float64, calibration)
	for i := range sample {
		sample[i], _ = p.roots(rng)
	}
	noise := logUniform(rng, .01, .4)
	q := len(sample[0])
	favourite := rng.IntN(len(shapes)) // a program keeps to its style in half of its nodes
	for range between(rng, d, d+d/2) {
		n := node{shape: rng.IntN(len(shapes)), noise: noise * logUniform(rng, .3, 2)}
		before := len(sample[0])
		if chance(rng, .5) {
			n.shape = favourite
		}
		if mild {
			n.shape, before = weighted(rng, .6, .25, .05, 0, 0, .05, .05), q
			n.noise /= 2
		}
		n.connect(rng, before)
		n.standardise(sample)
		p.nodes = append(p.nodes, n)
		for i := range sample {
			sample[i] = append(sample[i], n.draw(rng, sample[i]))
		}
	}
	return sample
}

// A node is a function of earlier values, and noise of its own.
type node struct {
	of      []int
	weights []float64 // one for each of of, or for each leaf of a tree
	cuts    []float64
	bias    float64
	shape   int // of shapes
	noise   float64
	// What the function is brought to mean 0 and deviation 1 by.
	centre, scale float64
}

// shapes are what a weighted sum is bent by. The last two are no function of a sum: a product
// of two values, and a tree that looks at up to three of them.
var shapes = []func(float64) float64{
	func(s float64) float64 { return s },
	math.Tanh,
	func(s float64) float64 { return max(s, 0) },
	func(s float64) float64 { return math.Sin(2 * s) },
	func(s float64) float64 { return math.Copysign(.5, s) },
	nil, nil,
}

const (
	product = 5
	tree    = 6
)

// connect draws what the node looks at, of the values before it, and its weights.
func (n *node) connect(rng *rand.Rand, before int) {
	most := min(before, 5)
	switch n.shape {
	case product:
		most = min(before, 2)
		n.of = some(rng, most, before)
	case tree:
		n.of = some(rng, min(before, between(rng, 1, 3)), before)
		n.cuts = normals(rng, len(n.of), .7)
		n.weights = normals(rng, 1<<len(n.of), 1)
		return
	default:
		n.of = some(rng, between(rng, 1, most), before)
	}
	n.weights = normals(rng, len(n.of), 1)
	n.bias = .5 * rng.NormFloat64()
}

// standardise sets centre and scale by a sample of the values before the node.
func (n *node) standardise(sample [][]float64) {
	n.centre, n.scale = 0, 1
	mean, deviation := moments(len(sample), func(i int) float64 { return n.value(sample[i]) })
	n.centre, n.scale = mean, max(deviation, 1e-3)
}

func (n *node) draw(rng *rand.Rand, before []float64) float64 {
	return n.value(before) + n.noise*rng.NormFloat64()
}

// value is the node without noise.
func (n *node) value(before []float64) float64 {
	var s float64
	switch n.shape {
	case product:
		s = n.weights[0] * before[n.of[0]]
		if len(n.of) > 1 {
			s = (before[n.of[0]] + n.bias) * before[n.of[1]]
		}
	case tree:
		leaf := 0
		for i, j := range n.of {
			if before[j] > n.cuts[i] {
				leaf |= 1 << i
			}
		}
		s = n.weights[leaf]
	default:
		s = n.bias
		for i, j := range n.of {
			s += n.weights[i] * before[j]
		}
		s = shapes[n.shape](s)
	}
	return (s - n.centre) / n.scale
}

// A rule gives the class by scores, which are functions of roots and nodes, and by chance.
// Its classes are unordered (a function each; among them trees and products), or ordered
// along one function.
type rule struct {
	scores  []node
	ordered bool
	sharp   float64   // how little is left to chance
	offsets []float64 // by class, so that the classes have the shares that were drawn
}

// newRule draws a rule of what p's columns mostly show.
func newRule(rng *rand.Rand, p *program, sample [][]float64) *rule {
	q := len(p.spread)
	all := make([]int, 0, len(sample[0]))
	for _, c := range p.columns {
		if c.shows >= 0 && chance(rng, .9) {
			all = append(all, c.shows)
		}
	}
	for len(all) < 2 {
		all = append(all, rng.IntN(q+len(p.nodes)))
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), logBetween(rng, 1, 8))]

	r := &rule{ordered: chance(rng, .25), sharp: logUniform(rng, 2, 60), offsets: make([]float64, p.classes)}
	shape := rng.IntN(len(shapes))
	functions := p.classes
	if r.ordered {
		functions = 1
	}
	for range functions {
		n := node{shape: shape}
		n.connect(rng, len(all))
		for i := range n.of {
			n.of[i] = all[n.of[i]]
		}
		n.standardise(sample)
		r.scores = append(r.scores, n)
	}
	r.balance(sample, dirichlet(rng, between(rng, 1, 5), p.classes))
	return r
}

// balance moves the offsets until the sample has about these shares.
func (r *rule) balance(sample [][]float64, shares []float64) {
	const least = .02
	step := 1 + r.sharp/4
	for range 40 {
		n := make([]float64, len(shares))
		for i := range sample {
			n[r.class(uint64(i), sample[i])]++
		}
		for k := range n {
			r.offsets[k] += step * math.Log((shares[k]+least)/(n[k]/float64(len(sample))+least))
		}
		step *= .92
	}
}

func (r *rule) class(luck uint64, latent []float64) int {
	rng := rand.New(rand.NewPCG(luck, 0))
	best, most := 0, math.Inf(-1)
	var along float64
	if r.ordered {
		along = r.scores[0].value(latent)
	}
	for k, offset := range r.offsets {
		var score float64
		if r.ordered {
			centre := 3*(float64(k)+.5)/float64(len(r.offsets)) - 1.5
			score = -(along - centre) * (along - centre)
		} else {
			score = r.scores[k].value(latent)
		}
		// The largest with Gumbel noise is a draw from the softmax.
		score = r.sharp*score + offset - math.Log(rng.ExpFloat64())
		if score > most {
			best, most = k, score
		}
	}
	return best
}

// changed is the rule with one of its coefficients of another sign or size.
func (r *rule) changed(rng *rand.Rand) *rule {
	c := *r
	c.scores = slices.Clone(r.scores)
	n := &c.scores[rng.IntN(len(c.scores))]
	n.weights = slices.Clone(n.weights)
	factor := -1.0
	if chance(rng, .5) {
		factor = sign(rng) * logUniform(rng, .1, 5)
	}
	n.weights[rng.IntN(len(n.weights))] *= factor
	return &c
}

func norm(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}
