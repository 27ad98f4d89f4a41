package kernel

import "unsafe"

// panels is an operand as the tiles read it: in panels of so many rows of a,
// or columns of b, that begin so many elements apart. An operand that is not
// packed is described in the same way.
type panels[T float] struct {
	view[T]
	width, distance int
}

// at returns the address of row i of a or column i of b, which lie step apart
// within a panel.
func (p panels[T]) at(i, step int) *T {
	return &p.data[i/p.width*p.distance+i%p.width*step]
}

// panelRows is the number of rows in a packed panel of a: a multiple of the
// rows of every tile and of the rows that are transposed together.
const panelRows = 12

// packedSteps is how many steps of k are packed for one panel before the next
// when an operand lies row by row already: neighbouring panels then share the
// cache lines and pages that are read.
const packedSteps = 32

// manyRows is the number of rows of a from which packing b pays even though it
// could be read in place.
const manyRows = 512

// packsB reports whether b is packed: always if its rows do not lie together.
func (t *tiling[T]) packsB(p *product[T]) bool {
	return p.b.colStep != 1 || p.m >= manyRows
}

// packsA reports whether a is packed, which pays if several tiles read the
// same part of it and if what one tile reads falls into so few sets of the
// first-level cache that it evicts itself. High tiles suffer from that by
// their rows; low ones, which read b seldom and a often, by their columns.
func (t *tiling[T]) packsA(p *product[T]) bool {
	if p.n <= t.wide {
		return false
	}
	if t.rows > cacheWays {
		return p.a.colStep == 1 && collides[T](p.a.rowStep)
	}
	return p.a.rowStep == 1 && collides[T](p.a.colStep)
}

// cacheWays is the associativity of the first-level cache.
const cacheWays = 8

// collides reports whether elements that lie step apart fall into few sets of
// the first-level cache: nearly a multiple of the bytes in one of its ways.
func collides[T float](step int) bool {
	const way, near = 4096, 256
	var element T
	bytes := step * int(unsafe.Sizeof(element))
	over := bytes % way
	return bytes > way/2 && min(over, way-over) < near
}

// workspace holds the packed parts of the operands.
type workspace[T float] struct{ a, b []T }

func (t *tiling[T]) workspace() *workspace[T] {
	if space, ok := t.spaces.Get().(*workspace[T]); ok {
		return space
	}
	return new(workspace[T])
}

// packA packs a, column by column within each panel. The panels lie a vector
// further apart than they are long, because packing writes whole vectors.
func (t *tiling[T]) packA(p *product[T], space *workspace[T]) panels[T] {
	distance := panelRows*p.k + t.lanes
	data := grow(&space.a, (p.m+panelRows-1)/panelRows*distance)
	packed := panels[T]{view[T]{data, 1, panelRows}, panelRows, distance}
	t.pack(packed, p.a, p.m, p.k, panelRows)
	return packed
}

// packB packs b into panels as wide as a tile, row by row.
func (t *tiling[T]) packB(p *product[T], space *workspace[T]) panels[T] {
	distance := t.wide * p.k
	data := grow(&space.b, (p.n+t.wide-1)/t.wide*distance)
	packed := panels[T]{view[T]{data, t.wide, 1}, t.wide, distance}
	t.pack(packed, view[T]{p.b.data, p.b.colStep, p.b.rowStep}, p.n, p.k, t.wide)
	return packed
}

// pack copies n rows of k elements of src into panels; the elements of one
// column lie together in a panel, and its columns step apart.
func (t *tiling[T]) pack(to panels[T], src view[T], n, k, step int) {
	steps := k
	if src.rowStep == 1 {
		steps = packedSteps
	}
	for at := 0; at < k; at += steps {
		for i := 0; i < n; i += to.width {
			dst := to.data[i/to.width*to.distance+at*step:]
			t.packPanel(dst, step, src.from(i, at), min(to.width, n-i), min(steps, k-at))
		}
	}
}

// packPanel sets dst[p*dstStep+i] to element (i, p) of src, i < rows, p < k.
// One of the steps of src is 1.
func (t *tiling[T]) packPanel(dst []T, dstStep int, src view[T], rows, k int) {
	if src.rowStep == 1 {
		// The last vector first: it writes more than it should.
		for i := (rows - 1) / t.lanes * t.lanes; i >= 0; i -= t.lanes {
			t.copy(&dst[i], dstStep, &src.data[i], src.colStep, min(t.lanes, rows-i), k)
		}
		return
	}
	whole, blocks := rows-rows%t.group, k/t.lanes
	if blocks > 0 {
		for i := 0; i < whole; i += t.group {
			t.transpose(&dst[i], dstStep, &src.data[i*src.rowStep], src.rowStep, blocks)
		}
	}
	packPlain(dst, dstStep, src, 0, whole, blocks*t.lanes, k)
	packPlain(dst, dstStep, src, whole, rows, 0, k)
}

// packPlain is packPanel for the rows [i0, i1) and columns [p0, p1) of src.
func packPlain[T float](dst []T, dstStep int, src view[T], i0, i1, p0, p1 int) {
	for i := i0; i < i1; i++ {
		for p := p0; p < p1; p++ {
			dst[p*dstStep+i] = src.data[i*src.rowStep+p*src.colStep]
		}
	}
}

// grow returns the first n elements of *x, made anew if it is too short.
func grow[T float](x *[]T, n int) []T {
	if cap(*x) < n {
		*x = make([]T, n)
	}
	return (*x)[:n]
}
