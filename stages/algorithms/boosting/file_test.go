package boosting

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// stored writes f and reads it again.
func stored(t *testing.T, f safetensors.File) *safetensors.File {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	read, err := safetensors.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return &read
}

func TestSavedModelsPredictTheSame(t *testing.T) {
	rows := sample(1, 200, 4, 0.2)
	narrow := mustFit(t, Rows{dense.New(20, 1), make([]int32, 20)}, 2, Options{Rounds: 1})
	var one safetensors.File
	if err := narrow.Put(&one, ""); err != nil {
		t.Fatal(err)
	}
	if m, err := Get(stored(t, one), "", 2); err != nil || m.Columns != 1 {
		t.Errorf("a model of one column: %v", err)
	} else if p := m.Posteriors(dense.New(0, 1)); p.Rows != 0 || p.Cols != 2 {
		t.Errorf("no rows have %d posteriors of %d classes", p.Rows, p.Cols)
	}
	for name, labels := range map[string][]int32{"three classes": rows.Labels, "one class": make([]int32, 200)} {
		m := mustFit(t, Rows{rows.X, labels}, 4, Options{Rounds: 4})
		var f safetensors.File
		if err := m.Put(&f, "p."); err != nil {
			t.Fatal(err)
		}
		loaded, err := Get(stored(t, f), "p.", 4)
		if err != nil {
			t.Fatal(err)
		}
		if !sameBits(loaded.Posteriors(rows.X), m.Posteriors(rows.X)) || loaded.Columns != 4 || loaded.Rounds() != m.Rounds() {
			t.Errorf("%s: the models differ", name)
		}
	}
}

// A damaged file is refused before a row could go in circles or out of the table.
func TestGetRefuses(t *testing.T) {
	m := mustFit(t, sample(1, 200, 4, 0.2), 3, Options{Rounds: 2, Leaves: 3})
	const start, trees, nodes = 0, 1, 2
	set := func(tensor, place int, v float32) func(f *safetensors.File) {
		return func(f *safetensors.File) { f.Tensors[tensor].Data[place] = v }
	}
	for _, c := range []struct {
		want   string
		change func(f *safetensors.File)
	}{
		{"metadata p.boosting is missing", func(f *safetensors.File) { delete(f.Metadata, "p.boosting") }},
		{"p.boosting: 0 columns", func(f *safetensors.File) { f.Metadata["p.boosting"] = `{"columns":0}` }},
		{"tensor p.trees", func(f *safetensors.File) { f.Tensors[trees].Shape = []int{4, 3} }},
		{"p.start holds NaN", set(start, 0, float32(math.NaN()))},
		{"p.nodes holds NaN or infinity", set(nodes, 2, float32(math.Inf(1)))},
		{"p.trees: tree 0 is of class 3", set(trees, 0, 3)},
		{"p.trees: tree 0 is of class 0.5", set(trees, 0, 0.5)},
		{"p.trees: tree 1 is of class 1 and has 0 nodes", set(trees, 3, 0)},
		{"p.trees: tree 5 is of class 2 and has 9 nodes", set(trees, 11, 9)},
		{"p.nodes: node 0: column 4 is not one of 4", set(nodes, 0, 4)},
		{"p.nodes: node 0: its left child is 4", set(nodes, 1, 4)},
		{"p.nodes: node 2: its left child is 2", set(nodes, 2*nodeColumns+1, 2)},
		{"p.nodes: node 0: its left child is -1", set(nodes, 1, -1)},
		{"p.nodes: node 0: missing values go to 2", set(nodes, 3, 2)},
		{"p.nodes has 32 nodes: the trees have 30", func(f *safetensors.File) {
			f.Tensors[nodes].Data = append(f.Tensors[nodes].Data, make([]float32, 2*nodeColumns)...)
			f.Tensors[nodes].Shape[0] += 2
		}},
		{"the 6 trees are not of the same 2 classes in every round", set(trees, 4, 1)},
	} {
		var f safetensors.File
		if err := m.Put(&f, "p."); err != nil {
			t.Fatal(err)
		}
		f = *stored(t, f)
		c.change(&f)
		if _, err := Get(&f, "p.", 3); !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
