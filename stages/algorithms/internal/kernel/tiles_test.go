package kernel

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// plainTiling has tiles by definition, of the sizes of a level that not every processor has: what is around tiles is the same
// for all of them. Whole tiles read and write whole vectors.
func plainTiling(whole bool) *tiling[float64] {
	t := &tiling[float64]{depth: 24, height: 6, broad: 20, wide: 16, narrow: 8, half: 4, packRows: 40, wholeTiles: whole, lanes: 4, group: 2}
	if whole { // as of WebAssembly
		t.broad, t.half = 0, 0
	}
	tile := func(rows, cols, k int, alpha float64, a *float64, rowStep, colStep int, b *float64, bStep int, beta float64, c *float64, cStep int) {
		if whole {
			cols = (cols + t.lanes - 1) / t.lanes * t.lanes
		}
		left, right := unsafe.Slice(a, (rows-1)*rowStep+(k-1)*colStep+1), unsafe.Slice(b, (k-1)*bStep+cols)
		to := unsafe.Slice(c, (rows-1)*cStep+cols)
		for i := range rows {
			for j := range cols {
				sum := 0.0
				for p := range k {
					sum += left[i*rowStep+p*colStep] * right[p*bStep+j]
				}
				if sum *= alpha; beta != 0 {
					sum += beta * to[i*cStep+j]
				}
				to[i*cStep+j] = sum
			}
		}
	}
	t.broadTile, t.wideTile, t.narrowTile, t.halfTile = tile, tile, tile, tile
	t.transpose = func(dst *float64, dstStep int, src *float64, srcStep, blocks int) {
		from, to := unsafe.Slice(src, (t.group-1)*srcStep+blocks*t.lanes), unsafe.Slice(dst, (blocks*t.lanes-1)*dstStep+t.group)
		for i := range t.group {
			for p := range blocks * t.lanes {
				to[p*dstStep+i] = from[i*srcStep+p]
			}
		}
	}
	t.copy = func(dst *float64, dstStep, distance int, src *float64, srcStep, width, cols, k, panels int) {
		from, to := unsafe.Slice(src, (panels-1)*width+(k-1)*srcStep+cols), unsafe.Slice(dst, (panels-1)*distance+(k-1)*dstStep+cols)
		for panel := range panels {
			for p := range k {
				copy(to[panel*distance+p*dstStep:][:cols], from[panel*width+p*srcStep:])
			}
		}
	}
	return t
}

// Products fall into tiles and panels of all kinds, at each width, and nothing beside them is written.
func TestTiles(t *testing.T) {
	for _, whole := range []bool{false, true} {
		r := rand.New(rand.NewPCG(4, 1))
		tiles := plainTiling(whole)
		for n := 1; n <= 60; n++ {
			for _, m := range []int{1, tiles.packRows - 1, tiles.packRows, 3 * panelRows} {
				p := randomCase(r, 60)
				p.m, p.n, p.alpha = m, n, 0.75
				checkProductCase(t, r, p, unit64, fence[float64]{t, n%2 == 0}.slice, func(p productCase, a, b, c operand[float64]) {
					job := newProduct(transpose(p.tA), transpose(p.tB), p.m, p.n, p.k, p.alpha, a.data, a.stride, b.data, b.stride, p.beta, c.data, c.stride)
					tiles.multiply(&job)
				})
			}
		}
	}
}
