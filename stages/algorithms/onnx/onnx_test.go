package onnx

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sample is y = x·w + 1 with the names of its two columns.
func sample() *Model {
	g := &Graph{}
	x := g.Input("x", Float, Rows, 3)
	y := g.Op("Gemm", x, g.Tensor("w", []float32{1, 2, 3, 4, 5, 6}, 3, 2))
	one := g.Floats([]float32{1}, 1)
	y = g.Op("Add", y, one)
	g.Output("y", y, Float, Rows, 2)
	g.Output("name", g.Node("Gather", []Value{g.Strings([]string{"a", "ü"}), g.Ints(0)}, Int("axis", 0)), String, 1)
	return &Model{Producer: "me", Version: "1", Graph: g, Metadata: map[string]string{"b": "2", "a": ""}}
}

func marshalled(tb testing.TB, m *Model) []byte {
	tb.Helper()
	b, err := m.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestParseGivesWhatWasWritten(t *testing.T) {
	m := sample()
	b := marshalled(t, m)
	f, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if f.Producer != "me" || f.Version != "1" || !reflect.DeepEqual(f.Metadata, m.Metadata) || !slices.Equal(f.Inputs, []string{"x"}) {
		t.Errorf("got %+v", f)
	}
	if !bytes.Equal(f.Graph, m.Graph.Marshal()) {
		t.Error("the graph is another")
	}
	w := f.Tensors[0]
	if w.Name != "w" || w.Type != Float || !slices.Equal(w.Shape, []int{3, 2}) || !bytes.Equal(w.Raw, FloatBytes([]float32{1, 2, 3, 4, 5, 6})) {
		t.Errorf("got the tensor %+v", w)
	}
}

// The bytes are those of the messages of onnx.proto, field by field.
func TestMarshal(t *testing.T) {
	g := &Graph{}
	g.Output("y", g.Node("Flatten", []Value{g.Input("x", Float, Rows, 300)}, Int("axis", -1)), Float, Rows, 300)
	port := "\x12\x10\x0a\x0e\x08\x01\x12\x0a\x0a\x03\x12\x01N\x0a\x03\x08\xac\x02" // float32, N×300
	graph := "\x0a\x39\x0a\x01x\x12\x0a/Flatten_1\x1a\x09Flatten_0\x22\x07Flatten" +
		"\x2a\x14\x0a\x04axis\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xa0\x01\x02" +
		"\x0a\x25\x0a\x0a/Flatten_1\x12\x01y\x1a\x0aIdentity_1\x22\x08Identity" + "\x12\x04mars"
	graph += "\x5a\x15\x0a\x01x" + port + "\x62\x15\x0a\x01y" + port
	want := "\x08\x08\x12\x02me\x1a\x011\x3a\x96\x01" + graph + "\x42\x04\x0a\x00\x10\x11"
	if got := string(marshalled(t, &Model{Producer: "me", Version: "1", Graph: g})); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A model with operators of the domain of trees says which version of it too.
func TestVersionOfTrees(t *testing.T) {
	g := &Graph{}
	g.Output("y", g.MLNode("TreeEnsembleClassifier", []Value{g.Input("x", Float, Rows, 2)}), Float, Rows, 2)
	text := string(marshalled(t, &Model{Graph: g}))
	if want := "\x42\x04\x0a\x00\x10\x11" + "\x42\x0e\x0a\x0aai.onnx.ml\x10\x03"; !strings.HasSuffix(text, want) {
		t.Errorf("it ends in %q", text[max(0, len(text)-len(want)):])
	}
}

func TestConstantsAreShared(t *testing.T) {
	g := &Graph{}
	one, again := g.Scalar(1), g.Scalar(1)
	if one != again || one == g.Scalar(2) || g.Ints(1) == g.Scalar(math.Float64frombits(1)) {
		t.Error("constants are shared that differ, or not shared that do not")
	}
	if !g.Has(string(g.Tensor("w", []float32{1}, 1)), []int{1}, FloatBytes([]float32{1})) || g.Has("w", []int{1, 1}, FloatBytes([]float32{1})) {
		t.Error("Has does not find what is there")
	}
	defer func() {
		if recover() == nil {
			t.Error("a shape that does not fit is taken")
		}
	}()
	g.Floats([]float32{1, 2}, 3)
}

func TestWords(t *testing.T) {
	g := sample().Graph
	if got := strings.Join(append(g.Inputs(), g.Outputs()...), "; "); got != "x [N, 3] float32; y [N, 2] float32; name [1] string" {
		t.Error(got)
	}
}

func TestIsFile(t *testing.T) {
	whole := marshalled(t, sample())
	for head, want := range map[string]bool{
		string(whole[:16]): true, "\x08\x07\x12\x07pytorch": true, "\x08\x03:\x05": true, // a graph at once
		"": false, "\x08": false, "\x08\x08": false, "hello": false, "\x08\x00\x12\x00": false, "\x08\x08\x08\x08": false,
		"\x10\x00\x00\x00\x00\x00\x00\x00{}": false, "a,b\n1,2\n": false,
	} {
		if IsFile([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
}

// A file that is cut short anywhere is refused, or has less.
func TestParseOfPart(t *testing.T) {
	b := marshalled(t, sample())
	whole, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if f, err := Parse(b[:n]); err == nil && len(f.Metadata) == len(whole.Metadata) {
			t.Errorf("the first %d of %d bytes are taken for the whole", n, len(b))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(marshalled(f, sample()))
	f.Add([]byte("\x08\x08:\x04*\x02\x08\x7f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse(b)
		if err == nil && file.Graph == nil {
			t.Error("no error and no graph")
		}
	})
}
