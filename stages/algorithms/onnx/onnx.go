// Package onnx writes computations in the ONNX format (https://onnx.ai/onnx/repo-docs/IR.html),
// which ONNX Runtime and other programs run, and reads what such a file says of itself.
//
// A Graph is put together operator by operator; what packages compute, their types add to
// one by a method ONNX. Mistakes in a graph are the program's, and tests find them: onnx.checker
// and ONNX Runtime read every kind of model that is exported.
package onnx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Versions that are written. ONNX Runtime reads them since 1.12 (2022).
const (
	irVersion = 8
	opset     = 17
	mlOpset   = 3
	mlDomain  = "ai.onnx.ml"
)

// A Type is that of a tensor's elements, with ONNX' numbers.
type Type int

// Types of elements.
const (
	Float  Type = 1
	Int64  Type = 7
	String Type = 8
	Bool   Type = 9
	Double Type = 11
)

// Rows is the size in shapes of inputs and outputs that a run may choose: the number of rows.
const Rows = -1

// A Value is the name of a tensor: an input, a constant, or what an operator computes.
type Value string

// A Graph is a computation in the making.
type Graph struct {
	nodes           []node
	tensors         []Tensor
	inputs, outputs []port
	constants       map[string]Value // anonymous tensors by their content
	count           int
}

type node struct {
	op, domain string
	inputs     []Value
	output     Value
	second     Value // "" of most: an output that nobody reads
	attributes []Attribute
}

// A Tensor is a constant of a graph.
type Tensor struct {
	Name  string
	Type  Type
	Shape []int
	// Raw is its values, little-endian; Texts are those of strings.
	Raw   []byte
	Texts []string
}

// A port is an input or an output.
type port struct {
	name  string
	kind  Type
	shape []int
}

// An Attribute is a constant of an operator; only the field of its value is set.
type Attribute struct {
	name  string
	i     *int64
	f     *float32
	ints  []int64
	nums  []float32
	texts []string
}

// Int is an attribute that is a number.
func Int(name string, v int) Attribute {
	i := int64(v)
	return Attribute{name: name, i: &i}
}

// Ints is an attribute that is several numbers.
func Ints(name string, values ...int) Attribute {
	a := Attribute{name: name, ints: make([]int64, len(values))}
	for k, v := range values {
		a.ints[k] = int64(v)
	}
	return a
}

// Number is an attribute that is a float32.
func Number(name string, v float64) Attribute {
	f := float32(v)
	return Attribute{name: name, f: &f}
}

// Numbers is an attribute that is several float32.
func Numbers(name string, values []float32) Attribute { return Attribute{name: name, nums: values} }

// Texts is an attribute that is several texts.
func Texts(name string, values []string) Attribute { return Attribute{name: name, texts: values} }

// Input adds an input.
func (g *Graph) Input(name string, t Type, shape ...int) Value {
	g.inputs = append(g.inputs, port{name, t, shape})
	return Value(name)
}

// Output makes v an output by that name.
func (g *Graph) Output(name string, v Value, t Type, shape ...int) {
	g.nodes = append(g.nodes, node{op: "Identity", inputs: []Value{v}, output: Value(name)})
	g.outputs = append(g.outputs, port{name, t, shape})
}

// Inputs are the inputs in words, such as "features [N, 4] float32".
func (g *Graph) Inputs() []string { return words(g.inputs) }

// Outputs are the outputs in words.
func (g *Graph) Outputs() []string { return words(g.outputs) }

func words(ports []port) (all []string) {
	for _, p := range ports {
		sizes := make([]string, len(p.shape))
		for i, k := range p.shape {
			if sizes[i] = strconv.Itoa(k); k == Rows {
				sizes[i] = rowsName
			}
		}
		all = append(all, fmt.Sprintf("%s [%s] %s", p.name, strings.Join(sizes, ", "), typeNames[p.kind]))
	}
	return all
}

var typeNames = map[Type]string{Float: "float32", Int64: "int64", String: "string", Bool: "bool", Double: "float64"}

// Op adds an operator and returns its (first) output.
func (g *Graph) Op(op string, inputs ...Value) Value { return g.Node(op, inputs) }

// Node adds an operator with attributes and returns its (first) output.
func (g *Graph) Node(op string, inputs []Value, attributes ...Attribute) Value {
	return g.add(node{op: op, inputs: inputs, attributes: attributes})
}

// MLNode is Node for an operator of the domain ai.onnx.ml.
func (g *Graph) MLNode(op string, inputs []Value, attributes ...Attribute) Value {
	return g.add(node{op: op, domain: mlDomain, inputs: inputs, attributes: attributes})
}

func (g *Graph) add(n node) Value {
	n.output = g.fresh(n.op)
	g.nodes = append(g.nodes, n)
	return n.output
}

// fresh is a name that no tensor has: users' names have no slash in front.
func (g *Graph) fresh(what string) Value {
	g.count++
	return Value("/" + what + "_" + strconv.Itoa(g.count))
}

// Tensor adds a constant with a name, of values of float32. It panics if the shape does not
// fit.
func (g *Graph) Tensor(name string, values []float32, shape ...int) Value {
	return g.constant(name, Float, len(values), FloatBytes(values), shape)
}

// Floats is a constant of float32.
func (g *Graph) Floats(values []float32, shape ...int) Value {
	return g.Tensor("", values, shape...)
}

// FloatBytes is values as they are in a Tensor's Raw.
func FloatBytes(values []float32) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

// Doubles is a constant of float64.
func (g *Graph) Doubles(values []float64, shape ...int) Value {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return g.constant("", Double, len(values), raw, shape)
}

// Scalar is a constant of one float64.
func (g *Graph) Scalar(v float64) Value { return g.Doubles([]float64{v}) }

// Ints is a constant list of whole numbers.
func (g *Graph) Ints(values ...int) Value {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(v)))
	}
	return g.constant("", Int64, len(values), raw, []int{len(values)})
}

// Bools is a constant list of truth values.
func (g *Graph) Bools(values []bool) Value {
	raw := make([]byte, len(values))
	for i, v := range values {
		if v {
			raw[i] = 1
		}
	}
	return g.constant("", Bool, len(values), raw, []int{len(values)})
}

// Strings is a constant list of texts.
func (g *Graph) Strings(values []string) Value {
	name := g.fresh("texts")
	g.tensors = append(g.tensors, Tensor{Name: string(name), Type: String, Shape: []int{len(values)}, Texts: values})
	return name
}

// constant adds a tensor. Those without a name are shared.
func (g *Graph) constant(name string, t Type, n int, raw []byte, shape []int) Value {
	size := 1
	for _, k := range shape {
		size *= k
	}
	if size != n {
		panic(fmt.Sprintf("onnx: constant %q: %d values for the shape %v", name, n, shape))
	}
	if name == "" {
		key := fmt.Sprint(t, shape, " ") + string(raw)
		if v, there := g.constants[key]; there {
			return v
		}
		name = string(g.fresh("constant"))
		if g.constants == nil {
			g.constants = map[string]Value{}
		}
		g.constants[key] = Value(name)
	}
	g.tensors = append(g.tensors, Tensor{Name: name, Type: t, Shape: shape, Raw: raw})
	return Value(name)
}

// Has reports whether the graph has a constant of float32 by that name, shape and content.
func (g *Graph) Has(name string, shape []int, raw []byte) bool {
	return slices.ContainsFunc(g.tensors, func(t Tensor) bool {
		return t.Name == name && t.Type == Float && slices.Equal(t.Shape, shape) && bytes.Equal(t.Raw, raw)
	})
}

// Cast gives v another type.
func (g *Graph) Cast(v Value, to Type) Value {
	return g.Node("Cast", []Value{v}, Int("to", int(to)))
}

// Softmax is that of each row of v.
func (g *Graph) Softmax(v Value) Value {
	return g.Node("Softmax", []Value{v}, Int("axis", -1))
}

// RowSums is the sum of each row of v (n×k), n×1.
func (g *Graph) RowSums(v Value) Value { return g.Op("ReduceSum", v, g.Ints(1)) }

// Least are the k least values of each row of v, in order.
func (g *Graph) Least(v Value, k int) Value {
	return g.add(node{op: "TopK", inputs: []Value{v, g.Ints(k)}, second: g.fresh("places"), attributes: []Attribute{Int("largest", 0)}})
}

// Columns are some of the columns of v.
func (g *Graph) Columns(v Value, index []int) Value {
	return g.Node("Gather", []Value{v, g.Ints(index...)}, Int("axis", 1))
}
