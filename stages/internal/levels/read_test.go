package levels

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// A tree is read from a table. What is wrong with it is told by its row, counted from 1, and its file.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tree.csv")
	for _, tc := range []struct{ text, want string }{
		{"tissue,label\nt,p\nu,q\n", ""},
		{"tissue,label\nt,p\nu,q\nu,p\n", `: the class "p" of level "label" is part of "t" in 1 row and of "u" in 1 row (the first is row 3), at level "tissue": a class is part of one: mend the rows, or give the class two names`},
		{"tissue,label\nt,p\n", `: no row says`},
		{"label\np\n", ": has one column, and levels are two or more"},
		{"label,label\np,p\n", `column "label" is there twice`},
		{"tissue,label\nt,p\nu\n", ": line 3"},
		{"\"tissue,label\n", ": line 1"},
	} {
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		tree, err := Read(t.Context(), path, []string{"p", "q"})
		switch {
		case tc.want == "" && (err != nil || len(tree.Levels) != 2 || !slices.Equal(tree.Levels[0].Classes, []string{"t", "u"})):
			t.Errorf("%q: %v, %v", tc.text, tree, err)
		case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%q: %v", tc.text, err)
		}
	}
	tree, err := New([]string{"tissue", "label"}, [][]string{{"t", "t"}, {"p", "q"}}, []string{"p", "q"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	columns := tree.Columns(arrowio.Vectors{Data: []float32{0.9, 0.1, 0.2, 0.8}, Rows: 2, Width: 2}, nil, map[int]bool{1: true}, "new")
	if got := columns[0].(*array.String); got.Value(0) != "t" || got.Value(1) != "new" {
		t.Errorf("a row that is like none is of the class %s, and another of %s", got.Value(1), got.Value(0))
	}
	for _, path := range []string{"-", t.TempDir(), filepath.Join(t.TempDir(), "none.csv")} {
		if tree, err := Read(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", path, tree, err)
		}
	}
}
