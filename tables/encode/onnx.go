package encode

import (
	"fmt"
	"math"
	"slices"

	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/tables"
)

// Numeric reports whether all columns are numbers.
func (e *Encoder) Numeric() bool {
	return !slices.ContainsFunc(e.Columns, func(c Column) bool { return c.Kind != tables.Number })
}

// ONNX adds Apply to a graph, which gets an input for the columns: all at once by the name
// matrix if they are numbers, else one (n×1) for each by its name, of texts for categories,
// of float64 for numbers that have a centre, and of float32 for others. A missing number is NaN, a missing text is empty. It returns
// n×Width of float32, and fails for a category that is hashed.
func (e *Encoder) ONNX(g *onnx.Graph, matrix string) (onnx.Value, error) {
	if e.Numeric() {
		centres := make([]float64, len(e.Columns))
		for j := range e.Columns {
			centres[j] = e.Columns[j].Centre
		}
		return e.numbersONNX(g, Input(g, matrix, len(e.Columns), centres)), nil
	}
	var features []onnx.Value
	for j := range e.Columns {
		f, err := e.Columns[j].onnx(g, e.inputName(j))
		if err != nil {
			return "", err
		}
		features = append(features, f...)
	}
	return g.Node("Concat", features, onnx.Int("axis", 1)), nil
}

// Input adds an input of n×width numbers off which centres are taken, of float64 if one is not 0, and
// of float32 otherwise. It returns n×width of float32.
func Input(g *onnx.Graph, name string, width int, centres []float64) onnx.Value {
	if !slices.ContainsFunc(centres, func(c float64) bool { return c != 0 }) {
		return g.Input(name, onnx.Float, onnx.Rows, width)
	}
	x := g.Input(name, onnx.Double, onnx.Rows, width)
	return g.Cast(g.Op("Sub", x, g.Doubles(centres, width)), onnx.Float)
}

// inputName is the column's name, with what it is where a column of dates and times is two.
func (e *Encoder) inputName(j int) string {
	c := e.Columns[j]
	others := slices.DeleteFunc(slices.Clone(e.Columns), func(o Column) bool { return o.Name != c.Name })
	if len(others) == 1 {
		return c.Name
	}
	if c.Kind == tables.Day {
		return c.Name + ":days"
	}
	return c.Name + ":seconds"
}

// numbersONNX fills in what is missing, and says where that was.
func (e *Encoder) numbersONNX(g *onnx.Graph, x onnx.Value) onnx.Value {
	fill := make([]float32, len(e.Columns))
	var index []int // of the features among the filled columns and then the gaps
	for j, c := range e.Columns {
		fill[j] = c.Fill
		if len(c.Parts) > 0 {
			index = append(index, j)
		}
		if c.Gaps {
			index = append(index, len(e.Columns)+j)
		}
	}
	missing := g.Op("IsNaN", x)
	filled := g.Op("Where", missing, g.Floats(fill, len(fill)), x)
	if e.Plain() {
		return filled
	}
	both := g.Node("Concat", []onnx.Value{filled, g.Cast(missing, onnx.Float)}, onnx.Int("axis", 1))
	return g.Columns(both, index)
}

// onnx adds the features of the column.
func (c *Column) onnx(g *onnx.Graph, name string) ([]onnx.Value, error) {
	if c.Kind == tables.Category {
		return c.categoryONNX(g, name)
	}
	x := Input(g, name, 1, []float64{c.Centre})
	missing := g.Op("IsNaN", x)
	v := g.Op("Where", missing, g.Floats([]float32{c.Fill}, 1), x)
	var features []onnx.Value
	for _, p := range c.Parts {
		if length := cycles[p]; length > 0 {
			features = append(features, cycleONNX(g, v, length)...)
			continue
		}
		features = append(features, g.Op("Sub", v, g.Floats([]float32{c.Origin}, 1)))
	}
	if c.Gaps {
		features = append(features, g.Cast(missing, onnx.Float))
	}
	return features, nil
}

// cycleONNX is the sine and the cosine of a part that comes back.
func cycleONNX(g *onnx.Graph, v onnx.Value, length float64) []onnx.Value {
	rest := g.Node("Mod", []onnx.Value{g.Cast(v, onnx.Double), g.Scalar(length)}, onnx.Int("fmod", 1))
	angle := g.Op("Mul", rest, g.Scalar(2*math.Pi/length))
	sin := g.Op("Sin", angle)
	cos := g.Op("Sin", g.Op("Add", angle, g.Scalar(math.Pi/2))) // ONNX Runtime has no Cos of float64
	return []onnx.Value{g.Cast(sin, onnx.Float), g.Cast(cos, onnx.Float)}
}

// categoryONNX adds a feature for each level, the others and the missing values.
func (c *Column) categoryONNX(g *onnx.Graph, name string) ([]onnx.Value, error) {
	if c.Buckets > 0 {
		return nil, fmt.Errorf("the values of column %q are hashed, which ONNX has no operator for", name)
	}
	x := g.Input(name, onnx.String, onnx.Rows, 1)
	var keys []string
	var codes []int
	put := func(code int, texts ...string) {
		for _, text := range texts {
			keys, codes = append(keys, text), append(codes, code)
		}
	}
	other, width := len(c.Levels), len(c.Levels)
	if c.Other {
		width++
	}
	for k, level := range c.Levels {
		put(k, tables.Spellings(c.Values[level])...)
	}
	gone, _ := slices.BinarySearch(c.Levels, int(c.Fill))
	if !slices.Contains(c.Levels, int(c.Fill)) {
		gone = other
	}
	put(gone, tables.MissingTexts()...)
	var features []onnx.Value
	if width > 0 {
		columns := make([]int, width)
		for k := range columns {
			columns[k] = k
		}
		code := g.MLNode("LabelEncoder", []onnx.Value{x}, onnx.Texts("keys_strings", keys), onnx.Ints("values_int64s", codes...), onnx.Int("default_int64", other))
		features = append(features, g.Cast(g.Op("Equal", code, g.Ints(columns...)), onnx.Float))
	}
	if c.Gaps {
		texts := tables.MissingTexts()
		ones := slices.Repeat([]int{1}, len(texts))
		missing := g.MLNode("LabelEncoder", []onnx.Value{x}, onnx.Texts("keys_strings", texts), onnx.Ints("values_int64s", ones...), onnx.Int("default_int64", 0))
		features = append(features, g.Cast(missing, onnx.Float))
	}
	return features, nil
}
