package featurize

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// writeNumbered writes a table of n rows whose feature is the row's number.
func writeNumbered(t *testing.T, name string, n int) string {
	t.Helper()
	text := "x,label\n"
	for i := range n {
		text += fmt.Sprintf("%d,%c\n", i, 'a'+rune(i%2))
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDisjointDomainsShareNoRow(t *testing.T) {
	path := writeNumbered(t, "rows.csv", 100)
	read := func(source, target SideOptions, disjoint bool) (*dataset, error) {
		o := Options{Source: source, Target: target, Disjoint: disjoint}
		return read(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, o, &recipe{})
	}
	shared := func(d *dataset) int {
		seen, n := map[float32]bool{}, 0
		for _, v := range d.sides[0].x.Data {
			seen[v] = true
		}
		for _, v := range d.sides[1].x.Data {
			if seen[v] {
				n++
			}
		}
		return n
	}
	source := SideOptions{Path: path, Rows: 40, Proportions: "0.5,0.5"}
	target := SideOptions{Path: path, Rows: 40, Proportions: "0.75,0.25"}
	d, err := read(source, target, false)
	if err != nil || shared(d) == 0 {
		t.Fatalf("drawn as usual, the domains share %v rows, %v: the test tests nothing", shared(d), err)
	}
	if d, err = read(source, target, true); err != nil || shared(d) != 0 || d.sides[1].x.Rows != 40 {
		t.Errorf("disjoint, they share %d rows of %d: %v", shared(d), d.sides[1].x.Rows, err)
	}
	if d, err = read(source, SideOptions{Path: path}, true); err != nil || shared(d) != 0 || d.sides[1].x.Rows != 60 {
		t.Errorf("all that the source has not drawn are not 60 rows: %v", err)
	}
	other := writeNumbered(t, "other.csv", 10)
	for _, c := range []struct {
		source, target SideOptions
		want           string
	}{
		{SideOptions{}, target, "drawn from one file"},
		{source, SideOptions{Path: other}, "drawn from one file"},
		{SideOptions{Path: path}, target, "source has drawn all rows"},
	} {
		if _, err := read(c.source, c.target, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
}
