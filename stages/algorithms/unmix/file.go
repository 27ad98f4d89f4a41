package unmix

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// KeyModel is the key of what the other keys of a model's file do not say.
const KeyModel = "mars.unmix"

// header is the value of KeyModel: of amounts the last three.
type header struct {
	Mean      []float64   `json:"mean,omitempty"`
	Deviation []float64   `json:"deviation,omitempty"`
	Gram      [][]float64 `json:"gram,omitempty"`
	Width     int         `json:"width,omitempty"`
	Columns   []int       `json:"columns,omitempty"`
	Little    float64     `json:"little,omitempty"`
}

// Names of tensors; means are those of amounts.
const weights, means = "weights", "means"

// Save writes the model as a safetensors file.
func (m *Model) Save(w io.Writer) error {
	h, f := header{}, safetensors.File{Metadata: map[string]string{adapt.KeyMethod: Method}}
	if a := m.amounts; a != nil {
		h = header{Width: a.width, Columns: a.columns, Little: a.little}
		f.PutMatrix(means, a.means)
	} else {
		h = header{Mean: m.standard.Mean, Deviation: m.standard.Deviation}
		for k := range m.Classes {
			h.Gram = append(h.Gram, m.gram.RawRowView(k))
		}
		f.PutMatrix(weights, m.weights)
	}
	if err := errors.Join(f.PutJSON(adapt.KeyClasses, m.Classes), f.PutJSON(adapt.KeyProportions, m.Proportions), f.PutJSON(KeyModel, h)); err != nil {
		return fmt.Errorf("unmix: %w", err)
	}
	m.Use.Put(f.Metadata)
	return safetensors.Write(w, f)
}

// Load reads what Save writes. name names the input in errors.
func Load(r io.Reader, name string) (*Model, error) {
	f, err := safetensors.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m := &Model{}
	if err := m.get(&f); err != nil {
		return nil, fmt.Errorf("%s: %w: train it again", name, err)
	}
	return m, nil
}

func (m *Model) get(f *safetensors.File) error {
	var h header
	if err := errors.Join(f.GetJSON(adapt.KeyClasses, &m.Classes), f.GetJSON(adapt.KeyProportions, &m.Proportions), f.GetJSON(KeyModel, &h), m.Use.Get(f.Metadata)); err != nil {
		return err
	}
	classes := len(m.Classes)
	if classes < 2 || len(m.Proportions) != classes || !dense.Finite(m.Proportions) {
		return fmt.Errorf("metadata %s: shares %v of %d classes", adapt.KeyProportions, m.Proportions, classes)
	}
	if h.Width > 0 {
		return m.getAmounts(f, h)
	}
	d := len(h.Mean)
	if d == 0 || len(h.Gram) != classes {
		return fmt.Errorf("metadata %s: %d values a row, %d classes and %d products do not fit together", KeyModel, d, classes, len(h.Gram))
	}
	m.standard.Mean, m.standard.Deviation = h.Mean, h.Deviation
	if err := m.standard.Check(d); err != nil {
		return fmt.Errorf("metadata %s: %w", KeyModel, err)
	}
	m.gram = mat.NewDense(classes, classes, nil)
	for k, row := range h.Gram {
		if len(row) != classes || !dense.Finite(row) {
			return fmt.Errorf("metadata %s: products %v of %d classes", KeyModel, row, classes)
		}
		m.gram.SetRow(k, row)
	}
	var err error
	if m.weights, err = f.GetMatrix(weights, d, classes); err != nil {
		return err
	}
	if !dense.Finite(m.weights.Data) {
		return fmt.Errorf("tensor %s: holds NaN or infinities", weights)
	}
	return nil
}

func (m *Model) getAmounts(f *safetensors.File, h header) error {
	for i, j := range h.Columns {
		if j < 0 || j >= h.Width || i > 0 && j <= h.Columns[i-1] {
			return fmt.Errorf("metadata %s: column %d of %d values", KeyModel, j, h.Width)
		}
	}
	if len(h.Columns) == 0 || !(h.Little > 0) {
		return fmt.Errorf("metadata %s: %d columns, %g for little", KeyModel, len(h.Columns), h.Little)
	}
	m.amounts = &amounts{width: h.Width, columns: h.Columns, little: h.Little}
	var err error
	if m.amounts.means, err = f.GetMatrix(means, len(h.Columns), len(m.Classes)); err != nil {
		return err
	}
	if low := slices.Min(m.amounts.means.Data); !dense.Finite(m.amounts.means.Data) || low < 0 {
		return fmt.Errorf("tensor %s: holds NaN, infinities or values below 0", means)
	}
	return nil
}
