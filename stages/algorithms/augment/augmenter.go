package augment

import "math/rand/v2"

// A kind of change.
type kind struct {
	name   string
	images bool // it is for images; otherwise for plain columns
	apply  func(a *Augmenter, strength float64)
}

// parts are all kinds, those of images first.
var parts = []kind{
	{"affine", true, (*Augmenter).affine},
	{"crop", true, (*Augmenter).crop},
	{"flip", true, (*Augmenter).flip},
	{"thickness", true, (*Augmenter).thickness},
	{"contrast", true, (*Augmenter).contrast},
	{"sign", true, (*Augmenter).sign},
	{"texture", true, (*Augmenter).texture},
	{"filter", true, (*Augmenter).filter},
	{"noise", false, (*Augmenter).noise},
}

// An Augmenter applies a policy. It owns all scratch memory, so that applying it allocates
// nothing, and serves one goroutine at a time.
type Augmenter struct {
	channels, height, width int
	steps                   []step
	pcg                     *rand.PCG
	rng                     *rand.Rand
	x, y                    []float32 // the row as it is now, and scratch for the next
	planes                  planes
	grid                    grid
	weights                 []float32 // of filter
}

type step struct {
	strength float64
	apply    func(a *Augmenter, strength float64)
}

// New returns an augmenter for rows of the shape that Parse has checked.
func (p Policy) New(shape []int) *Augmenter {
	a := &Augmenter{channels: 1, height: 1, width: shape[0], pcg: rand.NewPCG(0, 0)}
	if len(shape) == 3 {
		a.channels, a.height, a.width = shape[0], shape[1], shape[2]
	}
	a.rng = rand.New(a.pcg)
	a.x, a.y = make([]float32, a.size()), make([]float32, a.size())
	for _, part := range p {
		for _, k := range parts {
			if k.name == part.Name && part.Strength > 0 {
				a.steps = append(a.steps, step{part.Strength, k.apply})
			}
		}
	}
	if len(shape) == 3 && len(a.steps) > 0 {
		a.planes = newPlanes(a.channels, a.height, a.width)
		a.grid = newGrid(a.channels, a.height, a.width)
		a.weights = make([]float32, a.channels*a.channels*maxFilter*maxFilter)
	}
	return a
}

func (a *Augmenter) size() int { return a.channels * a.height * a.width }

// plane is channel c of an image.
func (a *Augmenter) plane(x []float32, c int) []float32 {
	n := a.height * a.width
	return x[c*n : (c+1)*n]
}

// Apply changes a row in place. The random numbers depend on seed, step and place alone.
func (a *Augmenter) Apply(row []float32, seed, step, place uint64) {
	if len(row) != a.size() {
		panic("augment: Apply: wrong number of columns")
	}
	if len(a.steps) == 0 {
		return
	}
	a.pcg.Seed(seed, step<<32|place)
	copy(a.x, row)
	for _, s := range a.steps {
		s.apply(a, s.strength)
	}
	copy(row, a.x)
}

// swap makes the row in y the current one.
func (a *Augmenter) swap() { a.x, a.y = a.y, a.x }

// uniform is a random number from −bound to bound.
func (a *Augmenter) uniform(bound float64) float64 { return bound * (2*a.rng.Float64() - 1) }
