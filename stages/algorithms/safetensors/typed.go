package safetensors

import (
	"encoding/json"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// PutJSON adds a value to the metadata as JSON.
func (f *File) PutJSON(key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("metadata %s: %w", key, err)
	}
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata[key] = string(text)
	return nil
}

// GetJSON reads what PutJSON has added.
func (f *File) GetJSON(key string, value any) error {
	text, there := f.Metadata[key]
	if !there {
		return fmt.Errorf("metadata %s is missing", key)
	}
	if err := json.Unmarshal([]byte(text), value); err != nil {
		return fmt.Errorf("metadata %s: %w", key, err)
	}
	return nil
}

// PutMatrix adds a matrix without gaps between its rows.
func (f *File) PutMatrix(name string, x blas32.General) { f.Put(name, x.Data, x.Rows, x.Cols) }

// Put adds a tensor.
func (f *File) Put(name string, data []float32, shape ...int) {
	f.Tensors = append(f.Tensors, Tensor{Name: name, Shape: shape, Data: data})
}

// AnySize stands for any positive number in a shape that GetShaped wants.
const AnySize = -1

// GetMatrix is GetShaped for matrices.
func (f *File) GetMatrix(name string, rows, cols int) (blas32.General, error) {
	t, err := f.GetShaped(name, rows, cols)
	if err != nil {
		return blas32.General{}, err
	}
	return blas32.General{Rows: t.Shape[0], Cols: t.Shape[1], Stride: t.Shape[1], Data: t.Data}, nil
}

// GetVector is GetShaped for vectors.
func (f *File) GetVector(name string, n int) ([]float32, error) {
	t, err := f.GetShaped(name, n)
	return t.Data, err
}

// GetShaped returns the named tensor. It fails if the tensor is missing, has another
// shape, or holds NaN or infinity.
func (f *File) GetShaped(name string, shape ...int) (Tensor, error) {
	t, there := f.Get(name)
	if !there {
		return t, fmt.Errorf("tensor %s is missing", name)
	}
	fits := slices.EqualFunc(t.Shape, shape, func(got, want int) bool {
		return got == want || got > 0 && want == AnySize
	})
	if !fits {
		return t, fmt.Errorf("tensor %s has shape %v: want %v, where %d is any positive number", name, t.Shape, shape, AnySize)
	}
	if !dense.Finite(t.Data) {
		return t, fmt.Errorf("tensor %s holds NaN or infinity", name)
	}
	return t, nil
}
