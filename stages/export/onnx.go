package export

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/tables/encode"
)

// Names of inputs and outputs.
const (
	featuresInput  = "features"
	embeddingInput = "embedding"
	imageInput     = "image"
)

// columnsKey is the key of the names of the columns of the input features, in the metadata.
const columnsKey = "mars.columns"

func (m *source) writeONNX(o Options) error {
	g := &onnx.Graph{}
	x, columns, err := m.input(g)
	if err != nil {
		return advised(o, err)
	}
	out, err := m.ONNX(g, x)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Model, err)
	}
	m.outputs(g, out)
	model := &onnx.Model{Producer: "mars", Version: o.Version, Graph: g, Metadata: map[string]string{}}
	content, err := m.file.Content()
	if err != nil {
		return err
	}
	if err := models.PutOrigin(model, content); err != nil {
		return fmt.Errorf("%s: %w", o.Model, err)
	}
	if err := m.describe(model, columns); err != nil {
		return err
	}
	b, err := model.Marshal()
	if err != nil {
		return fmt.Errorf("%s: %w", o.Model, err)
	}
	if _, err := state.Save(o.Output, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}); err != nil {
		return err
	}
	o.Log.Info(fmt.Sprintf("%s: inputs %s; outputs %s", o.Output, strings.Join(g.Inputs(), ", "), strings.Join(g.Outputs(), ", ")))
	return nil
}

// describe says in the metadata what a program wants to know, also of a matched mixture, whose
// own metadata are in its file.
func (m *source) describe(model *onnx.Model, columns []string) error {
	if columns != nil {
		text, err := json.Marshal(columns)
		if err != nil {
			return err
		}
		model.Metadata[columnsKey] = string(text)
	}
	if m.Tensors == nil {
		return nil // its file's metadata are there
	}
	f, err := m.Tensors()
	maps.Copy(model.Metadata, f.Metadata)
	return err
}

// input adds the inputs and what prepares them: x are rows as the model takes them. columns
// are the names of those of the input features, nil if nobody knows them.
func (m *source) input(g *onnx.Graph) (x onnx.Value, columns []string, err error) {
	switch p := m.preparation; {
	case m.Vectors != "":
		return g.Input(embeddingInput, onnx.Float, onnx.Rows, m.Width), nil, nil
	case m.isImages():
		x = g.Input(imageInput, onnx.Float, append([]int{onnx.Rows}, m.Shape...)...)
		x = g.Op("Reshape", x, g.Ints(0, m.Width))
	case p == nil:
		return g.Input(featuresInput, onnx.Float, onnx.Rows, m.Width), nil, nil
	case len(p.Inputs) > 0:
		return m.encoded(g)
	default:
		x, columns = encode.Input(g, featuresInput, m.Width, p.Centres), p.Columns
	}
	return m.scaled(g, x, nil), columns, nil
}

// encoded adds inputs for the columns of a table that become features, and what makes them.
func (m *source) encoded(g *onnx.Graph) (onnx.Value, []string, error) {
	e := &encode.Encoder{}
	if err := json.Unmarshal(m.preparation.Inputs, e); err != nil {
		return "", nil, err
	}
	x, err := e.ONNX(g, featuresInput)
	if err != nil {
		return "", nil, err
	}
	numbers := e.Numbers()
	if len(numbers) == m.Width {
		numbers = nil
	}
	x = m.scaled(g, x, numbers)
	if !e.Numeric() {
		return x, nil, nil // inputs have the columns' names
	}
	return x, e.Inputs(), nil
}

// scaled adds the transform, which is of the numbers among the features (nil: all), and the
// scaling of the target's rows.
func (m *source) scaled(g *onnx.Graph, x onnx.Value, numbers []int) onnx.Value {
	if m.preparation == nil {
		return x
	}
	side := m.preparation.Of(arrowio.TargetDomain)
	if t := side.Transform; t != nil {
		y := t.ONNX(g, x)
		if numbers != nil {
			is := make([]bool, m.Width)
			for _, j := range numbers {
				is[j] = true
			}
			y = g.Op("Where", g.Bools(is), y, x)
		}
		x = y
	}
	return side.Scaling.ONNX(g, x)
}

// outputs adds what the model says of each row.
func (m *source) outputs(g *onnx.Graph, out models.Outputs) {
	p := out.Posteriors
	class := g.Node("ArgMax", []onnx.Value{p}, onnx.Int("axis", 1), onnx.Int("keepdims", 0))
	g.Output("probability", p, onnx.Float, onnx.Rows, len(m.Classes))
	g.Output("label", g.Op("Gather", g.Strings(m.Classes), class), onnx.String, onnx.Rows)
	g.Output("prediction", class, onnx.Int64, onnx.Rows)
	g.Output("confidence", g.Node("ReduceMax", []onnx.Value{p}, onnx.Ints("axes", 1), onnx.Int("keepdims", 0)), onnx.Float, onnx.Rows)
	if out.Typicality != nil {
		g.Output("typicality", out.Typicality(class), onnx.Float, onnx.Rows)
	}
	if out.Embedding != "" && m.Vectors == "" {
		g.Output("embedding", out.Embedding, onnx.Float, onnx.Rows, m.EmbeddingWidth)
	}
}
