package kernel

import (
	"math/rand/v2"
	"testing"
)

// TestWinogradTransforms compares the transforms with products with their matrices, on
// operands that end at a guarded page.
func TestWinogradTransforms(t *testing.T) {
	lines := func(n int, f func(n int, dst, src []float32, l Lines)) func(dst, src []float32, l Lines) {
		return func(dst, src []float32, l Lines) { f(n, dst, src, l) }
	}
	all := []struct {
		name      string
		apply     func(dst, src []float32, l Lines)
		matrix    [][]float32
		transpose bool
		adds      bool
	}{
		{"WinogradInput", WinogradInput, winogradB, false, false},
		{"WinogradOutput, 2", lines(2, WinogradOutput), winogradA[2], false, false},
		{"WinogradOutputBack, 2", lines(2, WinogradOutputBack), winogradA[2], true, false},
		{"WinogradOutput, 4", lines(4, WinogradOutput), winogradA[4], false, false},
		{"WinogradOutputBack, 4", lines(4, WinogradOutputBack), winogradA[4], true, false},
		{"WinogradInputBack", WinogradInputBack, winogradB, true, true},
	}
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, f := range all {
			at := func(i, j int) float32 { return f.matrix[i][j] }
			rows, columns := len(f.matrix), len(f.matrix[0])
			if f.transpose {
				rows, columns = columns, rows
				at = func(i, j int) float32 { return f.matrix[j][i] }
			}
			for pixels := 1; pixels <= 6; pixels++ {
				for blocks := 1; blocks <= 3; blocks++ {
					l := Lines{Length: pixels * Lanes, Blocks: blocks}
					l.DstLine, l.SrcLine = l.Length+r.IntN(9), l.Length+r.IntN(9)
					l.DstBlock, l.SrcBlock = rows*l.DstLine+r.IntN(5), columns*l.SrcLine+r.IntN(5)
					src := fence[float32]{t, true}.slice((blocks-1)*l.SrcBlock + (columns-1)*l.SrcLine + l.Length)
					copy(src, random(r, len(src)))
					dst := fence[float32]{t, true}.slice((blocks-1)*l.DstBlock + (rows-1)*l.DstLine + l.Length)
					copy(dst, random(r, len(dst)))
					want := append([]float32(nil), dst...)
					for b := range blocks {
						for i := range rows {
							for k := range l.Length {
								sum := 0.0
								if f.adds {
									sum = float64(want[b*l.DstBlock+i*l.DstLine+k])
								}
								for j := range columns {
									sum += float64(at(i, j)) * float64(src[b*l.SrcBlock+j*l.SrcLine+k])
								}
								want[b*l.DstBlock+i*l.DstLine+k] = float32(sum)
							}
						}
					}
					f.apply(dst, src, l)
					requireNear(t, dst, want, 1e-5)
				}
			}
		}
	})
}

// TestWinogradIsConvolution checks that the matrices give the convolution that they stand
// for.
func TestWinogradIsConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, side := range []int{3, 5} {
		w, x, g := random(r, side), random(r, WinogradPoints), WinogradWeights(side)
		for i, a := range winogradA[WinogradLines(side)] {
			var want, got float64
			for k, v := range w {
				want += float64(v) * float64(x[i+k])
			}
			for p := range WinogradPoints {
				var u, v float64
				for k := range w {
					u += float64(g[p][k]) * float64(w[k])
				}
				for k := range x {
					v += float64(winogradB[p][k]) * float64(x[k])
				}
				got += float64(a[p]) * u * v
			}
			if d := got - want; d > 1e-6 || d < -1e-6 {
				t.Errorf("side %d: value %d is %g, want %g", side, i, got, want)
			}
		}
	}
}
