package unmix

import (
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// KeyModel is the key of what the other keys of a model's file do not say.
const KeyModel = "mars.unmix"

// header is the value of KeyModel.
type header struct {
	Mean      []float64   `json:"mean"`
	Deviation []float64   `json:"deviation"`
	Gram      [][]float64 `json:"gram"`
}

// weights is the name of the tensor of that.
const weights = "weights"

// Save writes the model as a safetensors file.
func (m *Model) Save(w io.Writer) error {
	h := header{Mean: m.standard.Mean, Deviation: m.standard.Deviation}
	for k := range m.Classes {
		h.Gram = append(h.Gram, m.gram.RawRowView(k))
	}
	f := safetensors.File{Metadata: map[string]string{adapt.KeyMethod: Method}}
	if err := errors.Join(f.PutJSON(adapt.KeyClasses, m.Classes), f.PutJSON(adapt.KeyProportions, m.Proportions), f.PutJSON(KeyModel, h)); err != nil {
		return fmt.Errorf("unmix: %w", err)
	}
	m.Use.Put(f.Metadata)
	f.PutMatrix(weights, m.weights)
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
	classes, d := len(m.Classes), len(h.Mean)
	if classes < 2 || d == 0 || len(m.Proportions) != classes || len(h.Gram) != classes {
		return fmt.Errorf("metadata %s: %d values a row, %d classes, %d shares and %d products do not fit together", KeyModel, d, classes, len(m.Proportions), len(h.Gram))
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
	if !dense.Finite(m.Proportions) {
		return fmt.Errorf("metadata %s: shares %v", adapt.KeyProportions, m.Proportions)
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
