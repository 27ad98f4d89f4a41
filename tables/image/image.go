// Package image brings images of two domains to one shape and range: scaling to
// [0, 1], bilinear resizing, padding, black and white, grey to colour, and the
// blending with photographs that makes MNIST-M from MNIST.
//
// Images are rows of a matrix, each C×H×W: channel after channel, row after row.
// All steps return ctx.Err() if their context ends.
package image

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
)

// Images are n images of one shape: Pixels is n × C·H·W.
type Images struct {
	Pixels  blas32.General
	C, H, W int
	mem     *arrowio.Budget // that Pixels are taken from
}

// New returns the rows of x as images of shape [C, H, W]. It fails if shape is not
// of this form or its size is not that of a row. x is taken from mem already, and what
// steps make of it will be, before it is allocated.
func New(x blas32.General, shape []int, mem *arrowio.Budget) (Images, error) {
	if len(shape) != 3 || shape[0] < 1 || shape[1] < 1 || shape[2] < 1 {
		return Images{}, fmt.Errorf("shape %v: is not that of images: give channels, height and width", shape)
	}
	m := Images{Pixels: x, C: shape[0], H: shape[1], W: shape[2], mem: mem}
	if x.Cols != m.size() {
		return Images{}, fmt.Errorf("shape %v: needs %d features a row, there are %d: give the images' true shape", shape, m.size(), x.Cols)
	}
	return m, nil
}

// Shape returns [C, H, W].
func (m Images) Shape() []int { return []int{m.C, m.H, m.W} }

func (m Images) size() int { return m.C * m.H * m.W }

// blank returns as many images as m has, black, of shape c×h×w.
func (m Images) blank(c, h, w int) (Images, error) {
	n, d := m.Pixels.Rows, c*h*w
	if d > math.MaxInt32 {
		return Images{}, fmt.Errorf("images of %d×%d×%d numbers are too large: make them smaller", c, h, w)
	}
	if err := m.mem.Take(4 * int64(n) * int64(d)); err != nil {
		return Images{}, fmt.Errorf("%d images of %d×%d×%d: %w", n, c, h, w, err)
	}
	return Images{
		Pixels: blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)},
		C:      c, H: h, W: w, mem: m.mem,
	}, nil
}

// replaced gives back the memory of m, which a step has made next of.
func (m Images) replaced(next Images, err error) (Images, error) {
	if err == nil {
		m.mem.Give(4 * int64(len(m.Pixels.Data)))
	}
	return next, err
}

// each calls f with the number of every image, until ctx ends.
func (m Images) each(ctx context.Context, f func(i int)) error {
	for i := range m.Pixels.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		f(i)
	}
	return nil
}

// row returns image i.
func (m Images) row(i int) []float32 {
	return m.Pixels.Data[i*m.Pixels.Stride : i*m.Pixels.Stride+m.Pixels.Cols]
}

// plane returns channel c of image i, H×W.
func (m Images) plane(i, c int) []float32 {
	return m.row(i)[c*m.H*m.W : (c+1)*m.H*m.W]
}

// Pad surrounds every channel with p pixels of the given value on each side. It
// panics if p is negative.
func (m Images) Pad(ctx context.Context, p int, value float32) (Images, error) {
	if p < 0 {
		panic("image: negative padding")
	}
	out, err := m.blank(m.C, m.H+2*p, m.W+2*p)
	if err != nil {
		return out, err
	}
	return m.replaced(out, m.each(ctx, func(i int) {
		padded := out.row(i)
		for k := range padded {
			padded[k] = value
		}
		for c := range m.C {
			from, to := m.plane(i, c), out.plane(i, c)
			for y := range m.H {
				copy(to[(y+p)*out.W+p:], from[y*m.W:(y+1)*m.W])
			}
		}
	}))
}

// Binarise sets every pixel above 0 to 1 and the others to 0, in place.
func (m Images) Binarise(ctx context.Context) error {
	return m.each(ctx, func(i int) {
		row := m.row(i)
		for k, v := range row {
			row[k] = 0
			if v > 0 {
				row[k] = 1
			}
		}
	})
}

// Colour repeats the channel of grey images three times. Images of three channels
// are returned as they are. It fails for other numbers of channels.
func (m Images) Colour(ctx context.Context) (Images, error) {
	if m.C == 3 {
		return m, nil
	}
	if m.C != 1 {
		return Images{}, fmt.Errorf("colour: images have %d channels: only grey (1) can be made colour (3)", m.C)
	}
	out, err := m.blank(3, m.H, m.W)
	if err != nil {
		return out, err
	}
	return m.replaced(out, m.each(ctx, func(i int) {
		for c := range 3 {
			copy(out.plane(i, c), m.plane(i, 0))
		}
	}))
}

// Unit divides x by largest, in place, so that its values lie in [0, 1]. largest
// is 255 for 8-bit images, and 1 for values that are already in [0, 1]. It fails
// if a value is outside [0, largest]; x is then unchanged.
func Unit(ctx context.Context, x blas32.General, largest float32) error {
	if !(largest > 0) {
		panic("image: largest value must be positive")
	}
	for i := range x.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j, v := range x.Data[i*x.Stride : i*x.Stride+x.Cols] {
			if !(v >= 0 && v <= largest) {
				return fmt.Errorf("row %d, feature %d: %v is outside [0, %v]: say what the largest value is, or standardise instead", i+1, j+1, v, largest)
			}
		}
	}
	if largest == 1 {
		return nil
	}
	for i := range x.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		for j := range row {
			row[j] /= largest
		}
	}
	return nil
}
