package kernel

import (
	"math/rand/v2"
	"testing"
)

// TestWinogradTransforms compares the transforms with products with their matrices, on
// operands that end at a guarded page.
func TestWinogradTransforms(t *testing.T) {
	transforms := []struct {
		name      string
		apply     func(dst, src []float32, l Lines)
		matrix    [][]float32
		transpose bool
		adds      bool
	}{
		{"WinogradInput", WinogradInput, winogradB, false, false},
		{"WinogradOutput", WinogradOutput, winogradA, false, false},
		{"WinogradOutputBack", WinogradOutputBack, winogradA, true, false},
		{"WinogradInputBack", WinogradInputBack, winogradB, true, true},
	}
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, f := range transforms {
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
// for, and that the points are so exact that float32 keeps five digits.
func TestWinogradIsConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	w, x := random(r, WinogradSide), random(r, WinogradPoints)
	for i := range WinogradLines {
		var want, got float64
		for k, v := range w {
			want += float64(v) * float64(x[i+k])
		}
		for p := range WinogradPoints {
			var u, v float64
			for k := range w {
				u += float64(WinogradWeights[p][k]) * float64(w[k])
			}
			for k := range x {
				v += float64(winogradB[p][k]) * float64(x[k])
			}
			got += float64(winogradA[i][p]) * u * v
		}
		if d := got - want; d > 1e-6 || d < -1e-6 {
			t.Errorf("value %d is %g, want %g", i, got, want)
		}
	}
}
