package onnx

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// What is damaged inside a part of a file is refused as what is damaged outside.
func TestParseOfDamagedParts(t *testing.T) {
	part := func(field protowire.Number, v string) string {
		return string(protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), []byte(v)))
	}
	shape := func(n uint64) string {
		return string(protowire.AppendVarint(protowire.AppendTag(nil, tensorShape, protowire.VarintType), n))
	}
	graph := part(modelGraph, "")
	const cut = "\x0a\x7fx" // a text that is said to be longer
	for name, tc := range map[string]struct {
		text    string
		damaged bool
	}{
		"whole":                        {graph, false},
		"a key":                        {graph + part(modelMetadata, cut), true},
		"a value":                      {graph + part(modelMetadata, "\x0a\x01k\x12\x7fx"), true},
		"an input":                     {part(modelGraph, part(graphInput, cut)), true},
		"a tensor":                     {part(modelGraph, part(graphTensor, cut)), true},
		"the largest shape":            {part(modelGraph, part(graphTensor, shape(math.MaxInt32))), false},
		"a larger shape":               {part(modelGraph, part(graphTensor, shape(math.MaxInt32+1))), true},
		"a field that nobody reads":    {"\x0d1234" + graph, false},
		"one that is cut":              {graph + "\x0d123", true},
		"a field that cannot be there": {graph + "\x07", true},
	} {
		f, err := Parse([]byte(tc.text))
		if errors.Is(err, errDamaged) != tc.damaged || !tc.damaged && (err != nil || f.Graph == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, err := Parse([]byte(part(modelGraph, part(graphTensor, shape(3)+shape(2)))))
	if err != nil || len(f.Tensors) != 1 || !slices.Equal(f.Tensors[0].Shape, []int{3, 2}) {
		t.Errorf("%+v, %v", f, err)
	}
}

// At the edges of what a file may begin with: versions, and fields of a model.
func TestIsFileAtItsEdges(t *testing.T) {
	for head, want := range map[string]bool{
		"\x08\x00\x12\x00": false, "\x08\x01\x12\x00": true, "\x08\xe8\x07\x12\x00": true, "\x08\xe9\x07\x12\x00": false, // 0, 1, 1000 and 1001
		"\x08\x08\x0a\x00": false, "\x08\x08\x72\x00": true, "\x08\x08\x7a\x00": false, // the fields 1, 14 and 15
	} {
		if IsFile([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
}

// An attribute says of which kind it is, as onnx.proto numbers them.
func TestKindsOfAttributes(t *testing.T) {
	for want, a := range map[string]Attribute{
		"\x15\x00\x00\x00\x3f\xa0\x01\x01": Number("a", 0.5),
		"\x18\x03\xa0\x01\x02":             Int("a", 3),
		"\xa0\x01\x06":                     Numbers("a", []float32{0.5}),
		"\xa0\x01\x07":                     Ints("a", 3),
		"\xa0\x01\x08":                     Texts("a", []string{"x"}),
	} {
		if got := string(a.marshal()); !strings.HasPrefix(got, "\x0a\x01a") || !strings.HasSuffix(got, want) {
			t.Errorf("%q, want it to end in %q", got, want)
		}
	}
}
