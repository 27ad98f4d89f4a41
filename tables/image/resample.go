package image

import "math"

// A tap holds which samples of a line one of another length is made of: those from first
// on, with weights whose sum is 1.
type tap struct {
	first   int
	weights []float64
}

// taps are those of n samples, from the one called from, of a line of in samples that is
// scaled to out. The weights are a triangle about the sample's centre, as wide as two samples
// of the line that is shorter: bilinear interpolation where the line grows, and with
// antialiasing where it shrinks. Pillow and torchvision have the same definition.
func taps(in, out, from, n int) []tap {
	line := make([]tap, n)
	ratio := float64(in) / float64(out)
	reach := max(ratio, 1)
	for i := range line {
		centre := (float64(from+i) + 0.5) * ratio
		first := max(int(centre-reach+0.5), 0)
		end := min(int(centre+reach+0.5), in)
		t := tap{first: first, weights: make([]float64, end-first)}
		sum := 0.0
		for k := range t.weights {
			t.weights[k] = max(1-math.Abs((float64(first+k)-centre+0.5)/reach), 0)
			sum += t.weights[k]
		}
		for k := range t.weights {
			t.weights[k] /= sum
		}
		line[i] = t
	}
	return line
}

// A grid makes a part of a resized image: of rows of width pixels of c values.
type grid struct {
	width, c             int
	vertical, horizontal []tap
}

// newGrid makes a cut of images of h×w pixels.
func newGrid(h, w, c int, part cut) grid {
	return grid{width: w, c: c, vertical: taps(h, part.height, part.top, part.h), horizontal: taps(w, part.width, part.left, part.w)}
}

// quantise rounds the weights as Pillow does for pictures of 8 bits, so that its results are
// the same to the last bit. (From version 13 it may go down the columns first, and a value may
// be off by one.)
func (g grid) quantise() {
	const unit = 1 << 22
	for _, line := range [][]tap{g.vertical, g.horizontal} {
		for _, t := range line {
			for k, weight := range t.weights {
				t.weights[k] = math.Floor(weight*unit+0.5) / unit
			}
		}
	}
}

// scratch is how many values resample needs beside the image and the result.
func (g grid) scratch() int {
	last := g.vertical[len(g.vertical)-1]
	return (last.first + len(last.weights) - g.vertical[0].first) * len(g.horizontal) * g.c
}

// resample fills dst from src, through scratch: first along the rows, then down the columns.
// Each result is rounded to a sample.
func resample[T uint8 | float32](g grid, dst, src, scratch []T, sample func(float64) T) {
	top := g.vertical[0].first
	alongRows(scratch, src[top*g.width*g.c:], g.width, g.c, g.horizontal, sample)
	alongColumns(dst, scratch, len(g.horizontal)*g.c, g.vertical, top, sample)
}

// alongRows resizes the rows of src, of width pixels of c values, as many as dst has.
func alongRows[T uint8 | float32](dst, src []T, width, c int, horizontal []tap, sample func(float64) T) {
	for len(dst) > 0 {
		for x, t := range horizontal {
			for channel := range c {
				sum := 0.0
				for k, weight := range t.weights {
					sum += weight * float64(src[(t.first+k)*c+channel])
				}
				dst[x*c+channel] = sample(sum)
			}
		}
		dst = dst[len(horizontal)*c:]
		src = src[min(width*c, len(src)):]
	}
}

// alongColumns resizes the columns of src, whose rows of so many values begin with the one
// called top.
func alongColumns[T uint8 | float32](dst, src []T, values int, vertical []tap, top int, sample func(float64) T) {
	sums := make([]float64, values)
	for y, t := range vertical {
		clear(sums)
		for k, weight := range t.weights {
			for x, v := range src[(t.first-top+k)*values:][:values] {
				sums[x] += weight * float64(v)
			}
		}
		for x, sum := range sums {
			dst[y*values+x] = sample(sum)
		}
	}
}

// level rounds to a level of 8 bits.
func level(v float64) uint8 { return uint8(min(max(v+0.5, 0), 255)) }
