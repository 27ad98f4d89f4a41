package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pixelLoops runs every loop of a level over the pixels of x, y and dy and returns what
// they wrote.
func pixelLoops(l *loops, t *testing.T, x, y, dy []float32, p [4]Pixel, floor float32) [][]float32 {
	n := len(x)
	slice := func(from []float32) []float32 {
		s := fence[float32]{t, n%16 == 0}.slice(len(from))
		copy(s, from)
		return s
	}
	x, y, masked := slice(x), slice(y), slice(dy)
	out, dx := slice(x), slice(x)
	var sums [4]Pixel
	l.pixelSums(x, &sums[0][0])
	l.pixelSquares(x, &p[0][0], &sums[1][0])
	l.normalise(out, x, &p[0][0], &p[1][0], &p[2][0], floor)
	l.normaliseSums(masked, y, x, &p[0][0], floor, &sums[2][0], &sums[3][0])
	l.normaliseBackward(dx, masked, x, &p[0][0], &p[1][0], &p[2][0], &p[3][0])
	return [][]float32{out, masked, dx, sums[0][:], sums[1][:], sums[2][:], sums[3][:]}
}

// TestPixelLoopsAgainstTwins compares the loops over interleaved images with their twins,
// for one pixel and more, up to several unrolled iterations, on slices that begin or end
// at a guarded page.
func TestPixelLoopsAgainstTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, 1}
	for _, l := range levels() {
		t.Run(l.name, func(t *testing.T) {
			for pixels := range 25 {
				for _, floor := range []float32{0, float32(math.Inf(-1))} {
					x, y, dy := random(r, pixels*Lanes), random(r, pixels*Lanes), random(r, pixels*Lanes)
					var p [4]Pixel
					for i := range p {
						copy(p[i][:], random(r, Lanes))
					}
					if pixels == 7 {
						x[9], dy[11], y[12] = special[r.IntN(len(special))], special[r.IntN(len(special))], special[r.IntN(len(special))]
					}
					got, want := pixelLoops(l, t, x, y, dy, p, floor), pixelLoops(&generic, t, x, y, dy, p, floor)
					for i := range want {
						requireAgreement(t, got[i], want[i], i, pixels)
					}
				}
			}
		})
	}
}

func requireAgreement(t *testing.T, got, want []float32, which, pixels int) {
	t.Helper()
	for j := range want {
		if !agree(got[j], want[j]) {
			t.Fatalf("%d pixels: result %d, element %d is %v, the twin has %v", pixels, which, j, got[j], want[j])
		}
	}
}

func TestPixelLoopsRefuseParts(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a part of a pixel was taken")
		}
	}()
	PixelSums(make([]float32, Lanes+1), &Pixel{})
}
