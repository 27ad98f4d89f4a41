package kernel

import "unsafe"

// panels is an operand as the tiles read it: in panels of width rows of a, or
// columns of b, that begin distance elements apart. An operand that is not
// packed is described in the same way.
type panels[T float] struct {
	view[T]
	width, distance int
}

// at returns the address of row i of a, or column i of b. Within a panel rows
// or columns lie step elements apart.
func (p *panels[T]) at(i, step int) *T {
	return &p.data[i/p.width*p.distance+i%p.width*step]
}

// panelRows is the number of rows of a in one call of a tile and in a packed
// panel: a multiple of the number of rows that are transposed together.
const panelRows = 12

// packsB reports whether b is packed: always if its rows are not contiguous, or end within a
// vector that a tile reads whole.
func (t *tiling[T]) packsB(p *product[T]) bool {
	return p.b.colStep != 1 || p.m >= t.packRows || t.wholeTiles && p.n%t.lanes > 0
}

// packsA reports whether a is packed. That is faster if several tiles read the
// same part of it, and if what one tile reads falls into so few sets of the
// first-level cache that it evicts itself. In tiles with more rows than the cache
// has ways the rows evict each other, in others the columns.
func (t *tiling[T]) packsA(p *product[T]) bool {
	if p.n <= max(t.wide, t.broad) {
		return false
	}
	if t.height > cacheWays {
		return p.a.colStep == 1 && collides[T](p.a.rowStep)
	}
	return p.a.rowStep == 1 && collides[T](p.a.colStep)
}

// cacheWays is the associativity of the first-level cache.
const cacheWays = 8

// collides reports whether elements that lie step apart fall into few sets of
// the first-level cache: if step is nearly a multiple of the size of a way.
func collides[T float](step int) bool {
	const way, near = 4096, 256
	var element T
	bytes := step * int(unsafe.Sizeof(element))
	over := bytes % way
	return bytes > way/2 && min(over, way-over) < near
}

// workspace holds the packed parts of the operands, and a tile of c.
type workspace[T float] struct{ a, b, c []T }

func (t *tiling[T]) workspace() *workspace[T] {
	if space, ok := t.spaces.Get().(*workspace[T]); ok {
		return space
	}
	return new(workspace[T])
}

// packA packs a, column by column within each panel. After each panel there is
// room for one vector, because packing writes whole vectors.
func (t *tiling[T]) packA(p *product[T], space *workspace[T]) panels[T] {
	distance := panelRows*p.k + t.lanes
	data := grow(&space.a, (p.m+panelRows-1)/panelRows*distance)
	packed := panels[T]{view[T]{data, 1, panelRows}, panelRows, distance}
	t.pack(packed, p.a, p.m, p.m%panelRows, p.k, panelRows)
	return packed
}

// packB packs b into panels as wide as a tile, row by row. If the last tile is
// a broad one, so is the last panel, and all panels have rows as long as its rows.
func (t *tiling[T]) packB(p *product[T], space *workspace[T]) panels[T] {
	step, last := t.wide, p.n%t.wide
	if p.n > t.wide && t.wide+last <= t.broad {
		step, last = t.broad, t.wide+last
	}
	distance := step * p.k
	data := grow(&space.b, (p.n+t.wide-1)/t.wide*distance)
	packed := panels[T]{view[T]{data, step, 1}, t.wide, distance}
	t.pack(packed, view[T]{p.b.data, p.b.colStep, p.b.rowStep}, p.n, last, p.k, step)
	return packed
}

// pack copies n rows of k elements of src into panels. The last panel gets `last`
// rows, or is full if that is 0. In a panel the elements of a column are
// contiguous and columns lie step apart. One of the steps of src must be 1.
func (t *tiling[T]) pack(to panels[T], src view[T], n, last, k, step int) {
	whole := n - last
	if src.rowStep == 1 {
		if whole > 0 {
			t.copyPanels(to, src, to.width, k, step, whole/to.width)
		}
		if whole < n {
			to.data = to.data[whole/to.width*to.distance:]
			t.copyPanels(to, src.from(whole, 0), n-whole, k, step, 1)
		}
		return
	}
	for i := 0; i < whole; i += to.width {
		t.transposePanel(to.data[i/to.width*to.distance:], step, src.from(i, 0), to.width, k)
	}
	if last > 0 {
		t.transposePanel(to.data[whole/to.width*to.distance:], step, src.from(whole, 0), last, k)
	}
}

// copyPanels packs panels of cols columns. It goes from the last vector of a
// panel to the first, because each vector may overwrite what follows it.
func (t *tiling[T]) copyPanels(to panels[T], src view[T], cols, k, step, panels int) {
	for i := (cols - 1) / t.lanes * t.lanes; i >= 0; i -= t.lanes {
		t.copy(&to.data[i], step, to.distance, &src.data[i], src.colStep, to.width, min(t.lanes, cols-i), k, panels)
	}
}

// transposePanel sets dst[p*dstStep+i] to element (i, p) of src for i < rows
// and p < k. The rows of src must be contiguous.
func (t *tiling[T]) transposePanel(dst []T, dstStep int, src view[T], rows, k int) {
	whole, blocks := rows-rows%t.group, k/t.lanes
	if blocks > 0 {
		for i := 0; i < whole; i += t.group {
			t.transpose(&dst[i], dstStep, &src.data[i*src.rowStep], src.rowStep, blocks)
		}
	}
	packPlain(dst, dstStep, src, 0, whole, blocks*t.lanes, k)
	packPlain(dst, dstStep, src, whole, rows, 0, k)
}

// packPlain is transposePanel for the rows [i0, i1) and columns [p0, p1) of src.
func packPlain[T float](dst []T, dstStep int, src view[T], i0, i1, p0, p1 int) {
	for i := i0; i < i1; i++ {
		for p := p0; p < p1; p++ {
			dst[p*dstStep+i] = src.data[i*src.rowStep+p]
		}
	}
}

// grow returns the first n elements of *x, which it replaces if it is too short.
func grow[T float](x *[]T, n int) []T {
	if cap(*x) < n {
		*x = make([]T, n)
	}
	return (*x)[:n]
}
