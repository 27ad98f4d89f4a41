package sketch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/sketches"
	"mars.dev/mars/tables"
)

// inFolder makes the working directory a new one with the files, by name.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// npy is an array of rows of three numbers.
func npy(values ...float32) string {
	var b bytes.Buffer
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 3), }", len(values)/3)
	head += strings.Repeat(" ", 64-(10+len(head)+1)%64) + "\n"
	b.WriteString("\x93NUMPY\x01\x00")
	for _, part := range []any{uint16(len(head)), []byte(head), values} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			panic(err) // a buffer takes all
		}
	}
	return b.String()
}

func env(maxClasses int) stages.Env {
	return stages.Env{Columns: arrowio.DefaultColumns(), MaxClasses: maxClasses}
}

// A sketch has the columns of its file, by kind, and its rows with identities and labels. An array has one column.
func TestFile(t *testing.T) {
	inFolder(t, map[string]string{"t.csv": "id,x,colour,day,kind\n7,1,red,2026-03-01,a\n8,,blue,,\n9,3,,2026-03-02,3.0\n", "x.npy": npy(1, 2, 3, 4, 5, 6)})
	s, err := File(t.Context(), env(0), "t.csv", Options{Format: tables.Options{ID: "id", Label: "kind"}, Part: "north"})
	if err != nil {
		t.Fatal(err)
	}
	want := []sketches.Column{{Name: "x", Kind: sketches.Number}, {Name: "colour", Kind: sketches.Text}, {Name: "day", Kind: sketches.Day}}
	if !slices.Equal(s.Columns, want) || s.ID != "id" || s.Label != "kind" || s.Header.Sample != DefaultSample || s.Leaves[0].Part != "north" {
		t.Errorf("%+v of part %q, want columns %v", s.Header, s.Leaves[0].Part, want)
	}
	var rows []string
	for _, r := range s.Rows {
		rows = append(rows, fmt.Sprintf("%s %s %v %v", r.ID, r.Label, r.Numbers, r.Texts))
	}
	slices.Sort(rows)
	if want := []string{"7 a [1 20513] [red]", "8  [NaN NaN] [blue]", "9 3 [3 20514] []"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}

	s, err = File(t.Context(), env(0), "x.npy", Options{Sample: 5})
	if err != nil {
		t.Fatal(err)
	}
	if want := []sketches.Column{{Name: "features", Kind: sketches.Vector, Width: 3}}; !slices.Equal(s.Columns, want) || s.ID != "" || s.Label != "" || s.Header.Sample != 5 || s.Leaves[0].Part != "x.npy" {
		t.Errorf("an array: %+v of part %q, want columns %v", s.Header, s.Leaves[0].Part, want)
	}
	rows = nil
	for _, r := range s.Rows {
		rows = append(rows, fmt.Sprint(r.Numbers))
	}
	slices.Sort(rows)
	if want := []string{"[1 2 3]", "[4 5 6]"}; !slices.Equal(rows, want) {
		t.Errorf("an array: rows %q, want %q", rows, want)
	}
}

// What no sketch can be made of is refused, with the file and the row, however many are read at a time.
func TestRefused(t *testing.T) {
	withID := Options{Format: tables.Options{ID: "id"}}
	for _, c := range []struct {
		name  string
		files map[string]string // in which a.csv and b.csv are read, if they are there
		o     Options
		max   int
		want  string
	}{
		{"an id twice", map[string]string{"a.csv": "id,x\n1,1\n2,2\n1,3\n"}, withID, 0, `a.csv: line 4: the id "1" is there twice: make ids unique, or choose another id column`},
		{"no id", map[string]string{"a.csv": "id,x\na,1\n,2\n"}, withID, 0, `a.csv: line 3: has no id: fill it, or choose another id column`},
		{"a name", map[string]string{"a.csv": "x,mars.key\n1,1\n"}, Options{}, 0, `a.csv: column "mars.key" has a name that the sketch needs: rename it`},
		{"times of the day", map[string]string{"a.csv": "x,at\n1,2026-03-01T12:30:00\n"}, Options{}, 0, `a.csv: column "at" has times of the day, which a sketch does not keep: leave it out with --exclude, or write days alone`},
		{"classes", map[string]string{"a.csv": "x,label\n1,a\n2,b\n3,c\n"}, Options{}, 2, `a.csv: there are 3 classes or more, the limit is 2: choose another label column, or raise --max-classes`},
		{"other columns", map[string]string{"a.csv": "x,y\n1,2\n", "b.csv": "x\n3\n"}, Options{}, 0, `b.csv: it has no column "y", which the others have: name the columns in common with --columns`},
		{"the name of a part", map[string]string{"a.csv": "x\n1\n", "b.csv": "x\n2\n"}, Options{Part: "north"}, 0, "--part north names one part, and 2 are given: leave it out"},
		{"no rows", map[string]string{"a.csv": "x\n1\n", "b.csv": "x\n"}, Options{}, 0, "b.csv: has a header but no rows: give data with at least one"},
		{"no files", nil, Options{}, 0, "there are no sketches to merge"},
	} {
		inFolder(t, c.files)
		var paths []string
		for _, name := range []string{"a.csv", "b.csv"} {
			if c.files[name] != "" {
				paths = append(paths, name)
			}
		}
		for jobs := range 3 {
			if c.name == "other columns" && jobs > 1 {
				continue // either of the files may be read first
			}
			c.o.Jobs = jobs
			if s, err := Files(t.Context(), env(c.max), paths, c.o); s != nil || err == nil || err.Error() != c.want {
				t.Errorf("%s, %d jobs: %v\nwant %s", c.name, jobs, err, c.want)
			}
		}
	}
}

// Files that are not there, and sketches, are no parts, and tables are no sketches.
func TestFilesOfAnotherKind(t *testing.T) {
	inFolder(t, map[string]string{"a.csv": "x\n1\n"})
	s, err := Files(t.Context(), env(0), []string{"a.csv"}, Options{Part: "north"})
	if err != nil || s.Leaves[0].Part != "north" {
		t.Fatal(s, err)
	}
	if err := s.Save("s.arrow"); err != nil {
		t.Fatal(err)
	}
	if _, err := Files(t.Context(), env(0), []string{"a.csv", "s.arrow"}, Options{}); err == nil || err.Error() != "s.arrow: is a sketch already: merge sketches with mars merge" {
		t.Error(err)
	}
	if _, err := Files(t.Context(), env(0), []string{"none.csv", "a.csv"}, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var told bytes.Buffer
	e := env(0)
	e.Log = slog.New(slog.NewTextHandler(&told, nil))
	if s, err := Merge(e, []string{"s.arrow", "none.arrow"}); s != nil || !errors.Is(err, fs.ErrNotExist) || told.Len() > 0 {
		t.Errorf("%v, %s", err, &told)
	}
	if _, err := Merge(e, []string{"s.arrow"}); err != nil || !strings.Contains(told.String(), "1 row of 1 part: a sample of 1") {
		t.Errorf("%v, %s", err, &told)
	}
}

// The end of the context ends the reading of a part, wherever it is.
func TestStops(t *testing.T) {
	inFolder(t, map[string]string{"a.csv": "x\n1\n", "b.npy": npy(1, 2, 3)})
	for _, path := range []string{"a.csv", "b.npy"} {
		contexttest.Stops(t, 3, func(ctx context.Context) error {
			_, err := File(ctx, env(0), path, Options{})
			return err
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Files(ctx, env(0), []string{"a.csv", "b.npy"}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A column of text has fewer values than a category may have.
func TestManyTexts(t *testing.T) {
	for values, want := range map[int]string{tables.MaxValues - 1: "<nil>", tables.MaxValues: `column "colour" has 65536 different texts or more, which nobody learns from: leave it out with --exclude`} {
		p := &part{}
		if _, err := p.headerOf(&tables.Table{Columns: []string{"colour"}, Fields: []tables.Field{{Kind: tables.Category, Values: make([]string, values)}}}); fmt.Sprint(err) != want {
			t.Errorf("%d texts: %v, want %s", values, err, want)
		}
	}
}

// Whole numbers are classes as pandas would have written them without missing values; codes and other texts are as they are.
func TestWholeNumbers(t *testing.T) {
	names := labels{}
	for label, want := range map[string]string{
		"3": "3", "3.0": "3", "-2.00": "-2", "3e2": "300", "3.5": "3.5", "a": "a", "": "", "007": "007", "NaN": "NaN", "Inf": "Inf",
		"9007199254740991.0": "9007199254740991", "9007199254740992.0": "9007199254740992.0", "-9007199254740992.0": "-9007199254740992.0",
	} {
		for range 2 { // the second time it is known
			if got := names.whole(label); got != want {
				t.Errorf("%q: %q, want %q", label, got, want)
			}
		}
	}
}
