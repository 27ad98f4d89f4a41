package models

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/state"
)

// A Kind of model.
type Kind int

// Kinds of models.
const (
	KindNetworks Kind = iota
	KindHedge
	KindMixture
	KindUnmix
)

// A File is a model's file, which is known by its beginning.
type File struct {
	Kind Kind

	path    string
	content []byte // of an ONNX file, what it was made of; nil of others
	sum     string // of an ONNX file
}

// Open looks at a model's file, and reads it if it is ONNX.
func Open(path string) (*File, error) {
	f := &File{path: path}
	isArrow, err := arrowio.IsArrowFile(path)
	if err != nil {
		return nil, err
	}
	if IsONNX(path) {
		if f.content, f.sum, err = restore(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		isArrow = arrowio.IsArrow(f.content)
	}
	if isArrow {
		f.Kind = KindMixture
		return f, nil
	}
	r, err := f.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	metadata, err := safetensors.ReadMetadata(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: give the file that mars label --save or mars train --save wrote", path, err)
	}
	switch metadata[adapt.KeyMethod] {
	case hedge.Method:
		f.Kind = KindHedge
	case unmix.Method:
		f.Kind = KindUnmix
	}
	return f, nil
}

// open reads the model as mars-train saved it.
func (f *File) open() (io.ReadCloser, error) {
	if f.content != nil {
		return io.NopCloser(bytes.NewReader(f.content)), nil
	}
	return os.Open(f.path)
}

// Content is the file as mars-train saved it.
func (f *File) Content() ([]byte, error) {
	if f.content != nil {
		return f.content, nil
	}
	return os.ReadFile(f.path)
}

// load is state.Load of a model's file.
func load[T any](f *File, read func(r io.Reader, name string) (T, error)) (T, string, error) {
	if f.content == nil {
		return state.Load(f.path, read)
	}
	m, err := read(bytes.NewReader(f.content), f.path)
	return m, f.sum, err
}

// LoadNetworks reads the networks of a model's file, and its SHA-256.
func LoadNetworks(path string) (*adapt.Model, string, error) {
	f, err := Open(path)
	if err != nil {
		return nil, "", err
	}
	return load(f, adapt.Load)
}
