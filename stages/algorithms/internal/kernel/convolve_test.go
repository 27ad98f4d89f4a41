package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestInterleave(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, cols := range []int{1, 7, 16, 100} {
			for rows := 1; rows <= Lanes; rows++ {
				src := fence[float32]{t, true}.slice(rows * cols)
				copy(src, random(r, len(src)))
				group := fence[float32]{t, true}.slice(Lanes * cols)
				for i := range group {
					group[i] = 99
				}
				Interleave(group, src, rows, cols)
				for i, v := range group {
					want := float32(0)
					if i%Lanes < rows {
						want = src[i%Lanes*cols+i/Lanes]
					}
					if v != want {
						t.Fatalf("%d×%d: element %d is %v, want %v", rows, cols, i, v, want)
					}
				}
				back := fence[float32]{t, true}.slice(rows * cols)
				Deinterleave(back, group, rows, cols)
				requireNear(t, back, src, 0)
			}
		}
	})
}

// TestConvolutionOfInterleavedImages compares tiles of every height, and every number and
// width of vectors, with the sums as they are defined, on operands that end at a guarded
// page.
func TestConvolutionOfInterleavedImages(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, channels := range []int{1, 3, 4, 8, 13, 20} {
			for vectors := 1; vectors <= 8; vectors++ {
				for _, width := range []int{Lanes, 2 * Lanes} {
					checkConvolution(t, r, Convolution{
						Channels: channels, Vectors: vectors, Width: width, XStep: width, YStep: width + r.IntN(9), YChannel: 200,
					})
				}
			}
		}
	})
}

func checkConvolution(t *testing.T, r *rand.Rand, c Convolution) {
	t.Helper()
	const reach, at, taps = 50, 64, 11
	length := at + (c.Vectors-1)*c.XStep + c.Width + reach
	for k := range taps {
		c.Taps = append(c.Taps, Tap{Weight: int32(k * WeightBlock), Input: int32(r.IntN(reach+at+1) - at)})
	}
	c.Block = taps * WeightBlock
	c.Weights = fence[float32]{t, true}.slice((c.Channels + WeightBlock - 1) / WeightBlock * c.Block)
	copy(c.Weights, random(r, len(c.Weights)))
	x := fence[float32]{t, true}.slice(length)
	copy(x, random(r, length))
	y := fence[float32]{t, true}.slice((c.Channels-1)*c.YChannel + (c.Vectors-1)*c.YStep + c.Width)
	want := make([]float32, len(y))
	for channel := range c.Channels {
		for v := range c.Vectors {
			for i := range c.Width {
				sum := 0.0
				for k, tap := range c.Taps {
					w := c.Weights[(channel/WeightBlock*taps+k)*WeightBlock+channel%WeightBlock]
					sum += float64(w) * float64(x[at+v*c.XStep+i+int(tap.Input)])
				}
				want[channel*c.YChannel+v*c.YStep+i] = float32(sum)
			}
		}
	}
	c.Into(y, x, at)
	requireNear(t, y, want, 1e-5)
}

func TestCorrelationOfInterleavedImages(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for pixels := 1; pixels <= 6; pixels++ {
			for _, lines := range []int{1, 3} {
				for groups := 1; groups <= 2; groups++ {
					checkCorrelation(t, r, Correlation{Cols: pixels * Lanes, Lines: lines, Groups: groups})
				}
			}
		}
	})
}

func checkCorrelation(t *testing.T, r *rand.Rand, c Correlation) {
	t.Helper()
	const reach = 20
	c.Step = 5
	c.DYLine, c.XLine = c.Cols+16, c.Cols+24
	c.DYChannel = c.Lines * c.DYLine
	c.DYGroup, c.XGroup = CorrelationTile*c.DYChannel, c.Lines*c.XLine+reach
	filled := func(n int) []float32 {
		x := fence[float32]{t, true}.slice(n)
		copy(x, random(r, n))
		return x
	}
	dy := filled((c.Groups-1)*c.DYGroup + (CorrelationTile-1)*c.DYChannel + (c.Lines-1)*c.DYLine + c.Cols)
	x := filled((c.Groups-1)*c.XGroup + (c.Lines-1)*c.XLine + c.Cols + reach)
	dst := filled((CorrelationTile-1)*c.Step + CorrelationTile)
	offsets := []int32{0, reach, int32(r.IntN(reach)), int32(r.IntN(reach))}
	want := append([]float32(nil), dst...)
	for i := range CorrelationTile {
		for j, offset := range offsets {
			sum := 0.0
			for g := range c.Groups {
				for l := range c.Lines {
					for k := range c.Cols {
						sum += float64(dy[g*c.DYGroup+i*c.DYChannel+l*c.DYLine+k]) * float64(x[g*c.XGroup+l*c.XLine+int(offset)+k])
					}
				}
			}
			want[i*c.Step+j] += float32(sum)
		}
	}
	c.AddTo(dst, dy, x, offsets)
	requireNear(t, dst, want, 1e-4)
}

// TestMaxPool checks values, indices at ties, NaN and gradients.
func TestMaxPool(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for pixels := 1; pixels <= 5; pixels++ {
			for _, floor := range []float32{0, float32(math.Inf(-1))} {
				checkMaxPoolOf(t, r, pixels*Lanes, floor)
			}
		}
	})
}

func checkMaxPoolOf(t *testing.T, r *rand.Rand, n int, floor float32) {
	t.Helper()
	slice := func(n int) []float32 { return fence[float32]{t, true}.slice(n) }
	upper, lower, y, dy, sums := slice(2*n), slice(2*n), slice(n), slice(n), slice(Lanes)
	for _, line := range [][]float32{upper, lower} {
		for i := range line {
			line[i] = float32(r.IntN(4) - 2) // with ties
			if r.IntN(9) == 0 {
				line[i] = float32(math.NaN())
			}
		}
	}
	argmax := fence[uint8]{t, true}.slice(n)
	MaxPool(y, argmax, upper, lower, 0.5, floor)
	wantUpper, wantLower, wantSums := make([]float32, 2*n), make([]float32, 2*n), make([]float32, Lanes)
	for i := range y {
		at := i/Lanes*2*Lanes + i%Lanes
		best, index := upper[at], 0
		for k, v := range []float32{upper[at], upper[at+Lanes], lower[at], lower[at+Lanes]} {
			if best == best && (v > best || v != v) {
				best, index = v, k
			}
		}
		want := max(best+0.5, floor)
		if int(argmax[i]) != index || y[i] != want && want == want {
			t.Fatalf("element %d: %v at %d, want %v at %d", i, y[i], argmax[i], want, index)
		}
		dy[i] = float32(i + 1)
		if want != want || want > floor {
			line := [][]float32{wantUpper, wantLower}[index/2]
			line[at+index%2*Lanes] = dy[i]
			wantSums[i%Lanes] += dy[i]
		}
	}
	MaxPoolBackward(upper, lower, dy, y, argmax, floor, sums)
	requireNear(t, upper, wantUpper, 0)
	requireNear(t, lower, wantLower, 0)
	requireNear(t, sums, wantSums, 0)
}
