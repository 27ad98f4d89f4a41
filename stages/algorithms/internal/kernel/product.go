package kernel

import "sync"

type float interface{ float32 | float64 }

// view is a matrix of any layout: element (i, j) is data[i*rowStep+j*colStep].
type view[T float] struct {
	data             []T
	rowStep, colStep int
}

// from returns the view that begins at element (i, j).
func (v view[T]) from(i, j int) view[T] {
	v.data = v.data[i*v.rowStep+j*v.colStep:]
	return v
}

// product is the job c = alpha·a·b + beta·c with a of m×k, b of k×n and c of
// m×n, row-major with rows cStep apart.
type product[T float] struct {
	m, n, k     int
	alpha, beta T
	a, b        view[T]
	c           []T
	cStep       int
}

// tileFunc computes c = alpha·a·b + beta·c for one tile of up to panelRows
// rows, which it keeps in registers. c is not read when beta is 0.
type tileFunc[T float] func(rows, cols, k int, alpha T, a *T, rowStep, colStep int, b *T, bStep int, beta T, c *T, cStep int)

// tiling is the code and the sizes that a level has for products of one element type.
type tiling[T float] struct {
	depth  int // steps of k in a block
	height int // rows of c that a wide tile keeps in registers
	// The largest number of columns of each kind of tile, 0 where there is none.
	broad, wide, narrow, half                 int
	broadTile, wideTile, narrowTile, halfTile tileFunc[T]
	aheadTile                                 tileFunc[T] // wideTile for the first columns of whole rows: it fetches the next rows of a
	packRows                                  int         // rows of a from which on packing b is faster than reading it where it lies
	// wholeTiles says that tiles have no masks: they read and write all of their columns. Then b is
	// packed where there are fewer, and c is a copy.
	wholeTiles bool

	lanes, group int // elements in a vector, and in 16 bytes
	transpose    func(dst *T, dstStep int, src *T, srcStep, blocks int)
	copy         func(dst *T, dstStep, distance int, src *T, srcStep, width, cols, k, panels int)

	spaces sync.Pool // of *workspace[T]
}

// The size of blocks: a block of b (depth×blockN) and one of a (blockM×depth)
// fit the second-level cache, and the rows of a that one tile needs fit the
// first-level cache. blockM is a multiple of panelRows, and blockN of wide,
// narrow and half.
const (
	blockM = 96
	blockN = 384
)

// multiply runs the job block by block. Every element of c sums its products
// in the order of k, whichever tile it is in, so its bits do not depend on
// how a caller splits m and n.
func (t *tiling[T]) multiply(p *product[T]) {
	space := t.workspace()
	defer t.spaces.Put(space)
	block := *p
	for at := 0; at < p.k; at += t.depth {
		block.k = min(t.depth, p.k-at)
		for j := 0; j < p.n; j += blockN {
			block.n = min(blockN, p.n-j)
			block.a, block.b, block.c = p.a.from(0, at), p.b.from(at, j), p.c[j:]
			t.multiplyBlock(&block, space)
		}
		block.beta = 1
	}
}

// multiplyBlock runs a job whose k and n fit one block.
func (t *tiling[T]) multiplyBlock(p *product[T], space *workspace[T]) {
	b := panels[T]{p.b, t.wide, t.wide * p.b.colStep}
	if t.packsB(p) {
		b = t.packB(p, space)
	}
	packsA := t.packsA(p)
	height := blockM * max(1, t.depth/p.k)
	for i := 0; i < p.m; i += height {
		band := *p
		band.m = min(height, p.m-i)
		band.a, band.c = p.a.from(i, 0), p.c[i*p.cStep:]
		a := panels[T]{band.a, panelRows, panelRows * band.a.rowStep}
		if packsA {
			a = t.packA(&band, space)
		}
		t.multiplyTiles(&band, a, b, space)
	}
}

// multiplyTiles runs a block tile by tile, one row of tiles after another. If
// the columns of a are not contiguous, a row of tiles is only as high as a wide
// tile, so that its rows of a stay in the first-level cache for all columns.
func (t *tiling[T]) multiplyTiles(p *product[T], a, b panels[T], space *workspace[T]) {
	height, first := panelRows, t.aheadTile
	if a.rowStep != 1 {
		height = t.height
		if collides[T](a.rowStep) {
			first = nil // the next rows would evict these
		}
	}
	for i := 0; i < p.m; i += height {
		rows, left := min(height, p.m-i), a.at(i, a.rowStep)
		for j := 0; j < p.n; {
			multiply, cols := t.tile(p.n - j)
			if j == 0 && rows == height && cols == t.wide && first != nil {
				multiply = first
			}
			if t.wholeTiles && cols%t.lanes > 0 {
				t.multiplyPart(p, i, j, rows, cols, left, a, b, space)
			} else {
				multiply(rows, cols, p.k, p.alpha, left, a.rowStep, a.colStep,
					b.at(j, b.colStep), b.rowStep, p.beta, &p.c[i*p.cStep+j], p.cStep)
			}
			j += cols
		}
	}
}

// multiplyPart is a tile that reads and writes more columns than there are: c is a copy.
func (t *tiling[T]) multiplyPart(p *product[T], i, j, rows, cols int, left *T, a, b panels[T], space *workspace[T]) {
	multiply, _ := t.tile(cols)
	c := grow(&space.c, panelRows*t.wide)
	copyRows(c, t.wide, p.c[i*p.cStep+j:], p.cStep, rows, cols)
	multiply(rows, cols, p.k, p.alpha, left, a.rowStep, a.colStep, b.at(j, b.colStep), b.rowStep, p.beta, &c[0], t.wide)
	copyRows(p.c[i*p.cStep+j:], p.cStep, c, t.wide, rows, cols)
}

func copyRows[T float](dst []T, dstStep int, src []T, srcStep, rows, cols int) {
	for i := range rows {
		copy(dst[i*dstStep:i*dstStep+cols], src[i*srcStep:])
	}
}

// tile returns the fastest micro-kernel for the next columns when cols are left,
// and the number of columns that it takes. Up to half more than narrow are a narrow
// tile and a half one. Up to half more than wide are one broad tile: after a wide
// tile, a half one would wait for its operands.
func (t *tiling[T]) tile(cols int) (tileFunc[T], int) {
	switch {
	case cols <= t.half:
		return t.halfTile, cols
	case cols <= t.narrow+t.half:
		return t.narrowTile, min(cols, t.narrow)
	case cols > t.wide && cols <= t.broad:
		return t.broadTile, cols
	}
	return t.wideTile, min(cols, t.wide)
}
