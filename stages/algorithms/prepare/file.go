package prepare

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/safetensors"
)

// After a prefix, the key of the metadata and the name of the tensor.
const (
	metadataKey = "prepare"
	axesTensor  = "prepare.axes"
)

// header is what the metadata say of a map: all but Axes. Numbers in JSON
// keep all their digits.
type header struct {
	Columns  int       `json:"columns"`
	Kept     []int     `json:"kept"`
	Counts   bool      `json:"counts"`
	Mean     []float64 `json:"mean"`
	Scale    []float64 `json:"scale"`
	Together bool      `json:"together,omitempty"`
	Origin   []float64 `json:"origin,omitempty"`
}

// Put adds the map to a file. The names of its tensors and the keys of its
// metadata begin with prefix.
func (p *Map) Put(f *safetensors.File, prefix string) error {
	if err := f.PutJSON(prefix+metadataKey, header{p.Columns, p.Kept, p.Counts, p.Mean, p.Scale, p.Together, p.Origin}); err != nil {
		return err
	}
	if p.Axes == nil {
		return nil
	}
	rows, cols := p.Axes.Dims()
	f.Put(prefix+axesTensor, p.axes(), rows, cols)
	return nil
}

// axes are the values of Axes, row by row.
func (p *Map) axes() (values []float32) {
	rows, _ := p.Axes.Dims()
	for i := range rows {
		for _, v := range p.Axes.RawRowView(i) {
			values = append(values, float32(v))
		}
	}
	return values
}

// Get reads what Put has added with the same prefix. It checks that all parts fit
// together and are finite. Its errors name the tensor or the key, but not the file.
func Get(f *safetensors.File, prefix string) (*Map, error) {
	key := prefix + metadataKey
	var h header
	if err := f.GetJSON(key, &h); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", key, err)
	}
	p := &Map{Columns: h.Columns, Kept: h.Kept, Counts: h.Counts, Mean: h.Mean, Scale: h.Scale, Together: h.Together, Origin: h.Origin}
	if err := p.getAxes(f, prefix+axesTensor); err != nil {
		return nil, err
	}
	return p, nil
}

func (h header) check() error {
	if len(h.Mean) != len(h.Kept) || len(h.Scale) != len(h.Kept) {
		return fmt.Errorf("%d means and %d scales for %d columns", len(h.Mean), len(h.Scale), len(h.Kept))
	}
	rising := slices.Sorted(slices.Values(h.Kept))
	if n := len(rising); n == 0 || rising[0] < 0 || rising[n-1] >= h.Columns || len(slices.Compact(rising)) < n {
		return fmt.Errorf("the columns kept are not different numbers of %d columns, from 0", h.Columns)
	}
	return nil
}

// getAxes reads the principal components, if there are any.
func (p *Map) getAxes(f *safetensors.File, name string) error {
	if _, there := f.Get(name); !there && p.Origin == nil {
		return nil
	}
	rows, cols := len(p.Kept), len(p.Origin)
	axes, err := f.GetMatrix(name, rows, cols)
	if err != nil {
		return err
	}
	if cols == 0 {
		return fmt.Errorf("tensor %s has no columns", name)
	}
	p.Axes = mat.NewDense(rows, cols, nil)
	for i, v := range axes.Data {
		p.Axes.RawMatrix().Data[i] = float64(v)
	}
	return nil
}
