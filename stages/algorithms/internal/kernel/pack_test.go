package kernel

import "testing"

// An operand is packed where its elements collide in the cache: in tiles that have more rows than
// the cache has ways those of its rows, in others those of its columns.
func TestPacksWhatCollides(t *testing.T) {
	const far = 1024 // float32: the size of a way, at which all collide
	for _, c := range []struct {
		height, rowStep, colStep int
		packs                    bool
	}{
		{cacheWays + 1, far, 1, true}, {cacheWays + 1, 1, far, false}, {cacheWays + 1, far, far, false},
		{cacheWays, far, 1, false}, {cacheWays, 1, far, true}, {cacheWays, far, far, false},
	} {
		tiles := &tiling[float32]{height: c.height, wide: 16}
		p := &product[float32]{n: 17, a: view[float32]{rowStep: c.rowStep, colStep: c.colStep}}
		if got := tiles.packsA(p); got != c.packs {
			t.Errorf("%+v: %v", c, got)
		}
		if p.n = tiles.wide; tiles.packsA(p) {
			t.Errorf("%+v: it is packed for one tile", c)
		}
	}
}

// Steps collide that are within a sixteenth of a multiple of the way, on either side, and above half of it.
func TestCollides(t *testing.T) {
	for step, want := range map[int]bool{512: false, 512 + 1: false, 960: false, 960 + 1: true, 1024: true, 1088 - 1: true, 1088: false,
		2048 - 63: true, 2048: true, 2048 + 64: false} {
		if collides[float32](step) != want || step%2 == 0 && collides[float64](step/2) != want {
			t.Errorf("steps of %d numbers of 32 bits: %v", step, !want)
		}
	}
}
