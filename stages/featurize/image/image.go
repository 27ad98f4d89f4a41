// Package image brings images of two domains to one shape and range: scaling
// to [0, 1], bilinear resizing, padding, black and white, grey to colour, and the blending with
// photographs that makes MNIST-M of MNIST.
//
// Images are rows of a matrix, each C×H×W: channel after channel, row after row.
package image

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// Images are n images of one shape: Pixels is n × C·H·W.
type Images struct {
	Pixels  blas32.General
	C, H, W int
}

// New makes images of the rows of x, whose shape is [C, H, W]. A shape of
// another kind or size is an error.
func New(x blas32.General, shape []int) (Images, error) {
	if len(shape) != 3 || shape[0] < 1 || shape[1] < 1 || shape[2] < 1 {
		return Images{}, fmt.Errorf("shape %v: is not that of images: give channels, height and width", shape)
	}
	m := Images{Pixels: x, C: shape[0], H: shape[1], W: shape[2]}
	if x.Cols != m.size() {
		return Images{}, fmt.Errorf("shape %v: needs %d features a row, there are %d: give the images' true shape", shape, m.size(), x.Cols)
	}
	return m, nil
}

// Shape is [C, H, W].
func (m Images) Shape() []int { return []int{m.C, m.H, m.W} }

func (m Images) size() int { return m.C * m.H * m.W }

// blank makes n black images of a shape.
func blank(n, c, h, w int) Images {
	d := c * h * w
	return Images{
		Pixels: blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)},
		C:      c, H: h, W: w,
	}
}

// row is image i.
func (m Images) row(i int) []float32 {
	return m.Pixels.Data[i*m.Pixels.Stride : i*m.Pixels.Stride+m.Pixels.Cols]
}

// plane is channel c of image i, H×W.
func (m Images) plane(i, c int) []float32 {
	return m.row(i)[c*m.H*m.W : (c+1)*m.H*m.W]
}

// Pad surrounds every channel with p pixels of the given value on each side.
// It panics if p is negative.
func (m Images) Pad(p int, value float32) Images {
	if p < 0 {
		panic("image: negative padding")
	}
	out := blank(m.Pixels.Rows, m.C, m.H+2*p, m.W+2*p)
	for k := range out.Pixels.Data {
		out.Pixels.Data[k] = value
	}
	for i := range m.Pixels.Rows {
		for c := range m.C {
			from, to := m.plane(i, c), out.plane(i, c)
			for y := range m.H {
				copy(to[(y+p)*out.W+p:], from[y*m.W:(y+1)*m.W])
			}
		}
	}
	return out
}

// Binarise makes every pixel above 0 a 1, in place, and the others 0.
func (m Images) Binarise() {
	for i := range m.Pixels.Rows {
		row := m.row(i)
		for k, v := range row {
			row[k] = 0
			if v > 0 {
				row[k] = 1
			}
		}
	}
}

// Colour repeats the one channel of grey images three times; images of three
// channels are returned as they are, and any other number is an error.
func (m Images) Colour() (Images, error) {
	if m.C == 3 {
		return m, nil
	}
	if m.C != 1 {
		return Images{}, fmt.Errorf("colour: images have %d channels: only grey (1) can be made colour (3)", m.C)
	}
	out := blank(m.Pixels.Rows, 3, m.H, m.W)
	for i := range m.Pixels.Rows {
		for c := range 3 {
			copy(out.plane(i, c), m.plane(i, 0))
		}
	}
	return out, nil
}

// Unit divides x by largest, in place, so that its values lie in [0, 1];
// largest is 255 for 8-bit images, 1 for values that are there already. A value
// outside [0, largest] is an error that names it, and x is then untouched.
func Unit(x blas32.General, largest float32) error {
	if !(largest > 0) {
		panic("image: largest value must be positive")
	}
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride : i*x.Stride+x.Cols] {
			if !(v >= 0 && v <= largest) {
				return fmt.Errorf("row %d, feature %d: %v is outside [0, %v]: say what the largest value is, or standardise instead", i, j, v, largest)
			}
		}
	}
	if largest == 1 {
		return nil
	}
	for i := range x.Rows {
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		for j := range row {
			row[j] /= largest
		}
	}
	return nil
}
