package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"mars.dev/mars/arrowio"
)

// An ndarray is an n-dimensional array in a file whose header has been read.
type ndarray struct {
	element element
	shape   []int
	fortran bool // first index fastest
	data    io.Reader
	mem     *arrowio.Budget
}

// readArrayTable reads an array as features; the first axis is the rows. Its last
// two arguments are the result of reading the header.
func readArrayTable(ctx context.Context, o Options, a ndarray, err error) (*Table, error) {
	if err != nil {
		return nil, err
	}
	f := newOffset(a, o)
	data, err := a.floats(ctx, f)
	if err != nil {
		return nil, err
	}
	t, err := a.table(ctx, data)
	if err == nil && f != nil {
		t.Centres, t.Doubt = f.centres, doubtOf(f.merged)
	}
	return t, err
}

// readArrayLabels reads an array with one axis as labels.
func readArrayLabels(a ndarray, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	n, ok := product(a.shape)
	if !ok || len(a.shape) == 0 || n != a.shape[0] {
		return nil, fmt.Errorf("has shape %v: labels need one axis: give one label a row", a.shape)
	}
	labels, err := a.element.readLabels(a.data, n, a.mem)
	if err != nil {
		return nil, err
	}
	return labels, a.end()
}

// floats reads all values, in C order, off which f takes centres.
func (a ndarray) floats(ctx context.Context, f *offset) ([]float32, error) {
	if !a.element.numeric() {
		return nil, errors.New("holds strings: features must be numbers")
	}
	n, ok := product(a.shape)
	if !ok || len(a.shape) == 0 {
		return nil, fmt.Errorf("has shape %v: features need rows and columns, at most 2³¹ values in all", a.shape)
	}
	data, err := a.element.readFloats(a.data, n, f, a.mem)
	if err != nil {
		return nil, err
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	if a.fortran && len(a.shape) > 1 {
		return transpose(ctx, data, a.shape, a.mem)
	}
	return data, nil
}

// end returns an error if anything follows the values.
func (a ndarray) end() error {
	switch _, err := io.ReadFull(a.data, make([]byte, 1)); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return readError(err)
	}
	return errors.New("has bytes after its last value: its header is wrong or something was appended: write it again")
}

// table gives the values their shape. Images are [C, H, W]: n×H×W has one
// channel. n×H×W×3 and n×H×W×1 have their channels last, as is usual in NumPy,
// unless the second axis can also be the channels.
func (a ndarray) table(ctx context.Context, data []float32) (*Table, error) {
	rows, shape := a.shape[0], slices.Clone(a.shape[1:])
	switch {
	case len(shape) == 0:
		shape = []int{1}
	case len(shape) == 2:
		shape = []int{1, shape[0], shape[1]}
	case len(shape) == 3 && channels(shape[2]) && !channels(shape[0]):
		var err error
		if data, err = channelsFirst(ctx, data, shape, a.mem); err != nil {
			return nil, err
		}
		shape = []int{shape[2], shape[0], shape[1]}
	case len(shape) > 3:
		return nil, fmt.Errorf("has shape %v: rows may be vectors or images, of at most 3 axes: reshape it", a.shape)
	}
	cols, _ := product(shape)
	t, err := newTable(ctx, data, rows, cols, shape, a.mem)
	if err != nil {
		return nil, err
	}
	t.Largest = a.element.largest()
	return t, nil
}

func channels(n int) bool { return n == 1 || n == 3 }

// channelsFirst turns images of shape H×W×C into C×H×W.
func channelsFirst(ctx context.Context, data []float32, shape []int, mem *arrowio.Budget) ([]float32, error) {
	c, pixels := shape[2], shape[0]*shape[1]
	if c == 1 {
		return data, nil
	}
	out, err := again(mem, data)
	if err != nil {
		return nil, err
	}
	for start := 0; start < len(data); start += c * pixels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for k := range pixels {
			for j := range c {
				out[start+j*pixels+k] = data[start+k*c+j]
			}
		}
	}
	return out, nil
}

// again returns a slice of data's length, which will take data's place.
func again(mem *arrowio.Budget, data []float32) ([]float32, error) {
	if err := take[float32](mem, len(data)); err != nil {
		return nil, err
	}
	give[float32](mem, cap(data))
	return make([]float32, len(data)), nil
}

// transpose turns an array of this shape from Fortran order into C order. index
// counts in C order like an odometer; its digit i moves by stride[i] in the
// input.
func transpose(ctx context.Context, data []float32, shape []int, mem *arrowio.Budget) ([]float32, error) {
	out, err := again(mem, data)
	if err != nil {
		return nil, err
	}
	stride, step := make([]int, len(shape)), 1
	for i, n := range shape {
		stride[i] = step
		step *= n
	}
	index, at := make([]int, len(shape)), 0
	for k := range out {
		if err := ended(ctx, k); err != nil {
			return nil, err
		}
		out[k] = data[at]
		for i := len(shape) - 1; i >= 0; i-- {
			index[i]++
			at += stride[i]
			if index[i] < shape[i] {
				break
			}
			at -= stride[i] * shape[i]
			index[i] = 0
		}
	}
	return out, nil
}
