package featurize

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
)

// writeFile writes a file of a folder and returns its path.
func writeFile(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mixedTable is text of n rows with numbers, categories, dates and gaps. seed tells tables apart.
func mixedTable(n, seed int) string {
	text := "id,a,b,kind,day,label\n"
	for i := range n {
		k := i*7 + seed
		b := fmt.Sprint(k % 13)
		if k%5 == 0 {
			b = ""
		}
		text += fmt.Sprintf("r%d,%d.5,%s,%s,2024-01-%02d,%c\n", i, k%11, b, []string{"x", "y", "z"}[k%3], 1+k%28, 'p'+rune(k%2))
	}
	return text
}

// numberTable is text of n rows of two numbers and a class.
func numberTable(n, seed int) string {
	text := "a,b,label\n"
	for i := range n {
		k := i*7 + seed
		text += fmt.Sprintf("%d.5,%d.25,%c\n", k%11, k%17, 'p'+rune(k%2))
	}
	return text
}

// cases are ways to read files.
func cases(t *testing.T) map[string]Options {
	t.Helper()
	folder := t.TempDir()
	mixed, others := writeFile(t, folder, "mixed.csv", mixedTable(60, 0)), writeFile(t, folder, "others.csv", mixedTable(50, 3))
	numbers, more := writeFile(t, folder, "numbers.csv", numberTable(60, 0)), writeFile(t, folder, "more.csv", numberTable(50, 3))
	tree := writeFile(t, folder, "tree.csv", "tissue,label\nt,p\nt,q\n")
	side := func(path string) SideOptions { return SideOptions{Path: path} }
	drawn := SideOptions{Path: numbers, Rows: 10, Proportions: "0.5,0.5", Fractions: "0.9,0.9"}
	return map[string]Options{
		"mixed":                {Source: side(mixed), Target: side(others), Standardize: "source"},
		"mixed as a whole":     {Source: side(mixed), Target: side(others), Standardize: "domain", Truth: true},
		"mixed target":         {Target: side(others)},
		"numbers":              {Source: side(numbers), Target: side(more), Standardize: "source", Scale: scale.Quantile},
		"numbers as a whole":   {Source: side(numbers), Target: side(more), Truth: true, Transform: scale.Transform{Log1p: true}},
		"numbers of a target":  {Target: side(more), Transform: scale.Transform{Cofactor: 5}},
		"drawn":                {Source: drawn, Target: SideOptions{Path: more, MaxRows: 10}},
		"disjoint":             {Source: drawn, Target: side(numbers), Disjoint: true},
		"batches":              {Source: side(numbers + "," + more), Target: side(more), BatchFiles: true},
		"a column of domains":  {Source: SideOptions{Path: mixed, Domains: []string{"x"}}, Target: SideOptions{Path: mixed, Domains: []string{"y"}}, Domain: "kind"},
		"a tree":               {Source: side(numbers), Tree: tree},
		"classes":              {Source: side(numbers), Target: side(more), Classes: []string{"q", "p"}},
		"unlabelled rows":      {Source: side(mixed), DropUnlabelled: true},
		"missing values count": {Source: side(numbers), Target: side(more), Mixed: MixedOptions{RefuseMissing: true}},
	}
}

// Rows that are read, in whatever way, are no more read when the context ends.
func TestFilesStopsWithItsContext(t *testing.T) {
	for name, o := range cases(t) {
		t.Run(name, func(t *testing.T) {
			contexttest.Stops(t, 5, func(ctx context.Context) error {
				return Files(ctx, stages.Env{Columns: arrowio.DefaultColumns()}, o, &fullSink{room: 100})
			})
		})
	}
}

// rowsSink keeps what is written.
type rowsSink struct {
	arrowio.Sink
	text strings.Builder
}

func (s *rowsSink) Begin(schema *arrow.Schema) error {
	_, err := fmt.Fprintln(&s.text, schema)
	return err
}

func (s *rowsSink) Write(rec arrow.Record) error {
	for _, c := range rec.Columns() {
		fmt.Fprintln(&s.text, c)
	}
	return nil
}

// Where memory is short, that is the error, or all is as where there is enough: nothing is left out in silence.
func TestFilesInLittleMemory(t *testing.T) {
	all := cases(t)
	for _, name := range []string{"mixed", "mixed target", "drawn"} {
		o := all[name]
		t.Run(name, func(t *testing.T) {
			in := func(limit int64) (text string, err error) {
				o, out, log := o, &rowsSink{}, &bytes.Buffer{}
				env := logged(log)
				env.Columns = arrowio.DefaultColumns()
				memory := arrowio.NewBudget(limit)
				o.Source.Format.Memory, o.Target.Format.Memory = memory, memory
				st, err := o.recipe(&env)
				if err != nil {
					t.Fatal(err)
				}
				o.Mixed.MaxCategories = DefaultMaxCategories
				d, err := read(t.Context(), env, o, st)
				if err == nil {
					err = d.write(t.Context(), env, out)
				}
				if err == nil && d.flow != nil {
					d.flow.tell(env, d.source, o)
				}
				return out.text.String() + untimed.ReplaceAllString(log.String(), ""), err
			}
			want, err := in(0)
			if err != nil {
				t.Fatal(err)
			}
			for limit := int64(1); ; limit += 128 + limit/30 {
				got, err := in(limit)
				if short := new(*arrowio.LimitError); err != nil && !errors.As(err, short) {
					t.Fatalf("in %d bytes: %v", limit, err)
				}
				if err == nil && got != want {
					t.Fatalf("in %d bytes it is\n%s\nand not\n%s", limit, got, want)
				}
				if err == nil {
					break
				}
			}
		})
	}
}

// untimed is the time of a line of a log.
var untimed = regexp.MustCompile(`(?m)^time=\S+ `)
