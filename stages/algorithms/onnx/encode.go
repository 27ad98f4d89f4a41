package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Model is a graph with what is said of it.
type Model struct {
	Producer, Version string // the program that wrote it
	Graph             *Graph
	Metadata          map[string]string
}

// maxSize is that of a protobuf message.
const maxSize = math.MaxInt32

// Marshal returns the file. It fails if that were too large for the format.
func (m *Model) Marshal() ([]byte, error) {
	var b message
	b.integer(modelIRVersion, irVersion)
	b.text(modelProducer, m.Producer)
	b.text(modelVersion, m.Version)
	b.bytes(modelGraph, m.Graph.Marshal())
	b.bytes(modelOpset, version("", opset))
	if slices.ContainsFunc(m.Graph.nodes, func(n node) bool { return n.domain == mlDomain }) {
		b.bytes(modelOpset, version(mlDomain, mlOpset))
	}
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		var entry message
		entry.text(1, key)
		entry.text(2, m.Metadata[key])
		b.bytes(modelMetadata, entry)
	}
	if len(b) > maxSize {
		return nil, fmt.Errorf("onnx: the model has %d bytes: the format ends at 2 GB", len(b))
	}
	return b, nil
}

// Fields of ModelProto and GraphProto that are read too.
const (
	modelIRVersion = 1
	modelProducer  = 2
	modelVersion   = 3
	modelGraph     = 7
	modelOpset     = 8
	modelMetadata  = 14

	graphTensor = 5
	graphInput  = 11

	tensorShape = 1
	tensorType  = 2
	tensorName  = 8
	tensorRaw   = 9
)

// message is a protobuf message in the making. Its fields are written in the order of their
// numbers, as other programs do.
type message []byte

func (b *message) integer(field protowire.Number, v int64) {
	*b = protowire.AppendVarint(protowire.AppendTag(*b, field, protowire.VarintType), uint64(v))
}

func (b *message) text(field protowire.Number, s string) { b.bytes(field, []byte(s)) }

func (b *message) bytes(field protowire.Number, v []byte) {
	*b = protowire.AppendBytes(protowire.AppendTag(*b, field, protowire.BytesType), v)
}

func (b *message) float(field protowire.Number, v float32) {
	*b = protowire.AppendFixed32(protowire.AppendTag(*b, field, protowire.Fixed32Type), math.Float32bits(v))
}

func version(domain string, v int64) (b message) {
	b.text(1, domain)
	b.integer(2, v)
	return b
}

// graphName is the name of every graph, which the format asks for.
const graphName = "mars"

// Marshal returns the graph as it is in the file.
func (g *Graph) Marshal() []byte {
	var b message
	for i, n := range g.nodes {
		b.bytes(1, n.marshal(i))
	}
	b.text(2, graphName)
	for _, t := range g.tensors {
		b.bytes(graphTensor, t.marshal())
	}
	for _, p := range g.inputs {
		b.bytes(graphInput, p.marshal())
	}
	for _, p := range g.outputs {
		b.bytes(12, p.marshal())
	}
	return b
}

func (n node) marshal(i int) (b message) {
	for _, v := range n.inputs {
		b.text(1, string(v))
	}
	b.text(2, string(n.output))
	if n.second != "" {
		b.text(2, string(n.second))
	}
	b.text(3, fmt.Sprintf("%s_%d", n.op, i))
	b.text(4, n.op)
	for _, a := range n.attributes {
		b.bytes(5, a.marshal())
	}
	if n.domain != "" {
		b.text(7, n.domain)
	}
	return b
}

// Kinds of attributes.
const (
	kindFloat   = 1
	kindInt     = 2
	kindFloats  = 6
	kindInts    = 7
	kindStrings = 8
)

func (a Attribute) marshal() (b message) {
	b.text(1, a.name)
	kind := int64(kindInts)
	switch {
	case a.f != nil:
		kind = kindFloat
		b.float(2, *a.f)
	case a.i != nil:
		kind = kindInt
		b.integer(3, *a.i)
	case a.nums != nil:
		kind = kindFloats
	case a.texts != nil:
		kind = kindStrings
	}
	for _, v := range a.nums {
		b.float(7, v)
	}
	for _, v := range a.ints {
		b.integer(8, v)
	}
	for _, s := range a.texts {
		b.text(9, s)
	}
	b.integer(20, kind)
	return b
}

func (t Tensor) marshal() (b message) {
	for _, k := range t.Shape {
		b.integer(tensorShape, int64(k))
	}
	b.integer(tensorType, int64(t.Type))
	for _, s := range t.Texts {
		b.text(6, s)
	}
	b.text(tensorName, t.Name)
	if t.Type != String {
		b.bytes(tensorRaw, t.Raw)
	}
	return b
}

// rowsName is the name of a size that a run chooses.
const rowsName = "N"

func (p port) marshal() (b message) {
	var shape message
	for _, k := range p.shape {
		var size message
		if k == Rows {
			size.text(2, rowsName)
		} else {
			size.integer(1, int64(k))
		}
		shape.bytes(1, size)
	}
	var tensor, kind message
	tensor.integer(1, int64(p.kind))
	tensor.bytes(2, shape)
	kind.bytes(1, tensor)
	b.text(1, p.name)
	b.bytes(2, kind)
	return b
}
