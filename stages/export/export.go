// Package export is the stage that writes a trained model for other programs: ONNX, which
// ONNX Runtime and many others run, or a program for PyTorch. It reads and writes no rows.
package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/prepared"
)

// Formats are what a model can be written as.
var Formats = []string{"onnx", "torch"}

// Options of an export.
type Options struct {
	Model  string // file that mars-train, mars label, mars-embed or an export wrote
	To     string // one of Formats
	Output string // file
	// Prepared says that the rows are as mars-featurize prepares them: nothing of that is in
	// what is written.
	Prepared bool
	Version  string // of the program, for the file
	Log      *slog.Logger
}

// A source is the model to export.
type source struct {
	*models.Labeller
	file        *models.File
	preparation *prepared.Preparation // nil: rows come as they are
}

// Write writes the model, whole or not at all.
func Write(ctx context.Context, o Options) error {
	m, err := open(ctx, o)
	if err != nil {
		return err
	}
	if o.To == "torch" {
		return m.writeTorch(o)
	}
	return m.writeONNX(o)
}

func open(ctx context.Context, o Options) (*source, error) {
	file, err := models.Open(o.Model)
	if err != nil {
		return nil, err
	}
	labeller, _, err := file.Load(ctx, "")
	if err != nil {
		return nil, err
	}
	if file.Kind == models.KindUnmix {
		return nil, fmt.Errorf("%s: a model of the method unmix cannot be exported, as neither ONNX nor PyTorch has least squares with bounds: apply it with mars predict", o.Model)
	}
	m := &source{Labeller: labeller, file: file}
	if labeller.Preparation == "" || labeller.Vectors != "" || o.Prepared {
		return m, nil
	}
	if m.preparation, err = prepared.Parse(labeller.Preparation); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Model, err)
	}
	if t := m.preparation.Target.Transform; t != nil && t.Logicle != (scale.Logicle{}) {
		return nil, advised(o, errors.New("its numbers are transformed by logicle, which ONNX and PyTorch lack (learn with --arcsinh)"))
	}
	return m, nil
}

// isImages reports whether the model takes images.
func (m *source) isImages() bool { return len(m.Shape) == 3 && m.Vectors == "" }

// advised says how to export a model whose preparation other programs cannot do.
func advised(o Options, err error) error {
	return fmt.Errorf("%s: %w: add --prepared, and give the exported model rows as mars featurize prepares them (the column features)", o.Model, err)
}
