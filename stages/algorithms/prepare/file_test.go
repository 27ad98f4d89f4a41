package prepare

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/safetensors"
)

func mustFit(tb testing.TB, x blas32.General) *Map {
	tb.Helper()
	p, err := Fit(tb.Context(), x, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// wide are rows of more columns than there are components.
func wide(rows int) blas32.General {
	return simulate.Oracle{C: 2, D: maxAxes + 20, NS: rows, Spread: 1, Seed: 4}.Data().Source
}

func put(t *testing.T, p *Map) safetensors.File {
	t.Helper()
	var f safetensors.File
	if err := p.Put(&f, "x."); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSavedMapIsTheSame(t *testing.T) {
	for _, x := range []blas32.General{wide(150), simulate.Oracle{C: 2, D: 7, NS: 50, Seed: 4}.Data().Source} {
		p := mustFit(t, x)
		var b bytes.Buffer
		if err := safetensors.Write(&b, put(t, p)); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Get(&f, "x.")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, p) {
			t.Errorf("%d columns: what was loaded differs", x.Cols)
		}
		if !slices.Equal(got.Apply(x).Data, p.Apply(x).Data) {
			t.Errorf("%d columns: mapped rows differ", x.Cols)
		}
	}
}

func TestGetRefuses(t *testing.T) {
	whole := put(t, mustFit(t, wide(150)))
	header := func(from, to string) func(f *safetensors.File) {
		return func(f *safetensors.File) {
			f.Metadata["x.prepare"] = strings.Replace(f.Metadata["x.prepare"], from, to, 1)
		}
	}
	cases := []struct {
		want   string
		change func(f *safetensors.File)
	}{
		{"metadata x.prepare is missing", func(f *safetensors.File) { clear(f.Metadata) }},
		{"metadata x.prepare: unexpected end", header("}", "")},
		{"not different numbers", header(`"kept":[0,1`, `"kept":[1,1`)},
		{"not different numbers", header(`"columns":120`, `"columns":119`)},
		{"120 means and 120 scales for 121 columns", header(`"kept":[0`, `"kept":[0,0`)},
		{"tensor x.prepare.axes is missing", func(f *safetensors.File) { f.Tensors = nil }},
		{"has shape [120 100]: want [120 101]", header(`"origin":[`, `"origin":[0,`)},
		{"has shape [120 100]: want [120 0]", header(`"origin"`, `"other"`)},
		{"tensor x.prepare.axes holds NaN", func(f *safetensors.File) { f.Tensors[0].Data[0] = float32(math.Inf(1)) }},
	}
	for _, c := range cases {
		f := safetensors.File{Metadata: maps.Clone(whole.Metadata)}
		for _, t := range whole.Tensors {
			f.Tensors = append(f.Tensors, safetensors.Tensor{Name: t.Name, Shape: t.Shape, Data: slices.Clone(t.Data)})
		}
		c.change(&f)
		if p, err := Get(&f, "x."); p != nil || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
