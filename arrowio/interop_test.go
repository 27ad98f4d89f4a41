package arrowio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/internal/race"
)

// The data set of testdata/interop/generate.py, as far as a file has it.
var (
	interopLabel    = Ints{Values: []int32{0, 1, 2, 0, 0, 0}, Valid: []bool{true, true, true, false, false, false}}
	interopDomain   = []Domain{SourceDomain, SourceDomain, SourceDomain, TargetDomain, TargetDomain, TargetDomain}
	interopFeatures = []float32{0, 0.5, 0, 1, 1.5, -1, 2, 2.5, -2, 3, 3.5, -3, 4, 4.5, -4, 5, 5.5, -5}
	interopName     = []string{"row 0", "row 1 with a longer name", "row 2", "row 3 with a longer name", "row 4", "row 5 with a longer name"}
)

// Streams and files that other tools wrote are read, and hold what they should.
// generate.py, generate.cjs and generate.R beside the fixtures wrote them.
func TestFixtures(t *testing.T) {
	paths, err := filepath.Glob("testdata/interop/fixtures/*.arrow*")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	checkInterop(t, paths)
}

func checkInterop(t *testing.T, paths []string) {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		records, err := readAll(data, ReadOptions{})
		switch {
		case strings.HasPrefix(name, "refused-"):
			if err == nil || !strings.Contains(err.Error(), "cast it to decimal128 or float64") {
				t.Errorf("%s: got %v", name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case strings.Contains(name, "no-rows"):
			if len(records) > 0 && records[0].NumRows() > 0 {
				t.Errorf("%s: has rows", name)
			}
		default:
			checkDataSet(t, name, records)
			checkPassesThrough(t, name, data, records)
		}
	}
}

// checkDataSet compares the columns that a file has.
func checkDataSet(t *testing.T, name string, records []arrow.Record) {
	t.Helper()
	rec, err := concatenate(records)
	if err != nil {
		if rec, err = concatenate(without(records, "runs", "struct", "map", "tensor")); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
	has := func(column string) bool { return HasColumn(rec.Schema(), column) }
	if has("id") {
		id, err := IntColumn(rec, "id")
		expect(t, name, "id", id.Values, []int32{0, 1, 2, 3, 4, 5}, err)
	}
	if has("label") {
		label, err := LabelColumn(rec, "label", nil)
		expect(t, name, "label", label, interopLabel, err)
	}
	if has("domain") {
		domain, err := DomainColumn(rec, "domain")
		expect(t, name, "domain", domain, interopDomain, err)
	}
	if has("name") {
		text, err := StringColumn(rec, "name")
		expect(t, name, "name", text.Values, interopName, err)
	}
	if has("features") {
		features, err := VectorColumn(rec, "features")
		expect(t, name, "features", features.Data, interopFeatures, err)
	}
}

func expect(t *testing.T, file, column string, got, want any, err error) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %s is %v (%v), want %v", file, column, got, err, want)
	}
}

// without drops columns that array.Concatenate does not take.
func without(records []arrow.Record, names ...string) []arrow.Record {
	var out []arrow.Record
	for _, rec := range records {
		var fields []arrow.Field
		var cols []arrow.Array
		for i, f := range rec.Schema().Fields() {
			if !strings.Contains(strings.Join(names, " "), f.Name) {
				fields, cols = append(fields, f), append(cols, rec.Column(i))
			}
		}
		out = append(out, array.NewRecord(arrow.NewSchema(fields, nil), cols, rec.NumRows()))
	}
	return out
}

// checkPassesThrough writes the batches with every codec and reads them back.
func checkPassesThrough(t *testing.T, name string, data []byte, records []arrow.Record) {
	t.Helper()
	for _, c := range codecs[:3] {
		r, err := NewReader(bytes.NewReader(data), name, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Copy(t.Context(), NewWriter(&out, "out", WriteOptions{Compression: c}), r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := readAll(out.Bytes(), ReadOptions{})
		if err != nil || len(got) != len(records) {
			t.Errorf("%s: written again: %d batches, %v", name, len(got), err)
			continue
		}
		if !got[0].Schema().Metadata().Equal(records[0].Schema().Metadata()) {
			t.Errorf("%s: written again: metadata %v", name, got[0].Schema().Metadata())
		}
		for i := range got {
			if !array.RecordEqual(got[i], records[i]) {
				t.Errorf("%s: written again with %s: batch %d is %v, want %v", name, c, i, got[i], records[i])
			}
		}
	}
}

// python returns a command of the interpreter that MARS_PYTHON names, or skips
// the test where it or pyarrow is missing.
func python(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	name := os.Getenv("MARS_PYTHON")
	if name == "" {
		name = "python3"
	}
	if exec.Command(name, "-c", "import pyarrow, numpy").Run() != nil {
		t.Skipf("%s is no Python with pyarrow and numpy: pip install -r testdata/requirements.txt, and let MARS_PYTHON name it", name)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1") // the tests leave no files there
	return cmd
}

// Live: the tools that are installed write the data set, and it is read.
func TestLiveRead(t *testing.T) {
	if race.Detector {
		t.Skip("what another process does is not seen by the race detector")
	}
	folder := t.TempDir()
	if out, err := python(t, "testdata/interop/generate.py", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	also(t, "node", probeNode(), exec.Command("node", "testdata/interop/generate.cjs", folder))
	also(t, "R", probeR(), exec.Command("Rscript", "testdata/interop/generate.R", folder))
	paths, err := filepath.Glob(folder + "/*.arrow*")
	if err != nil || len(paths) == 0 {
		t.Fatal("nothing was written")
	}
	checkInterop(t, paths)
}

// also runs a program, as a test of its own, where its tool is installed, which probe tells.
func also(t *testing.T, tool string, probe, program *exec.Cmd) {
	t.Helper()
	t.Run(tool, func(t *testing.T) {
		if err := probe.Run(); err != nil {
			t.Skip(howToInstall[tool])
		}
		if out, err := program.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", program, err, out)
		}
	})
}

var howToInstall = map[string]string{
	"node": "no Node.js with apache-arrow: npm install apache-arrow, and let NODE_PATH name its node_modules",
	"R":    "no R with reticulate: install r-base-core and r-cran-reticulate",
}

// interopRecord is the data set as stages write it.
func interopRecord() arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "domain", Type: arrow.BinaryTypes.String},
		{Name: "label", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "features", Type: VectorType(3)},
		{Name: "name", Type: arrow.BinaryTypes.String},
	}, nil)
	return array.NewRecord(schema, []arrow.Array{
		NewInt64Array([]int64{0, 1, 2, 3, 4, 5}), NewDomainArray(interopDomain),
		NewIntArray(interopLabel.Values, interopLabel.Valid),
		NewVectorArray(Vectors{Data: interopFeatures, Rows: 6, Width: 3}), NewStringArray(interopName),
	}, 6)
}

// Live: the tools that are installed read what this package writes.
func TestLiveWrite(t *testing.T) {
	if race.Detector {
		t.Skip("what another process does is not seen by the race detector")
	}
	cmd := python(t, "testdata/interop/verify.py")
	folder := t.TempDir()
	rec := interopRecord()
	for _, kind := range kinds {
		for _, c := range codecs {
			path := filepath.Join(folder, fmt.Sprintf("ours-%s%d%s", c.Codec, c.Level, map[Kind]string{StreamKind: ".arrows", FileKind: ".arrow"}[kind]))
			if err := os.WriteFile(path, writeWhole(t, kind, c, rec.NewSlice(0, 4), rec.NewSlice(4, 6)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Args = append(cmd.Args, folder)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	also(t, "node", probeNode(), exec.Command("node", "testdata/interop/verify.cjs", folder))
	also(t, "R", probeR(), exec.Command("Rscript", "testdata/interop/verify.R", folder))
}

// Live: columns of every type that other tools write, whole and sliced, come out
// as they went in, by pyarrow's own comparison.
func TestLivePassThrough(t *testing.T) {
	if race.Detector {
		t.Skip("what another process does is not seen by the race detector")
	}
	in, back := t.TempDir(), t.TempDir()
	if out, err := python(t, "testdata/interop/passthrough.py", "write", in).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	paths, err := filepath.Glob(in + "/*")
	if err != nil || len(paths) < 400 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for i, path := range paths {
		r, err := Open(path, ReadOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		w, err := Create(filepath.Join(back, filepath.Base(path)), WriteOptions{Compression: codecs[i%3]})
		if err == nil {
			err = Copy(t.Context(), w, r)
		}
		if err = errors.Join(err, r.Close()); err != nil {
			t.Error(err)
		}
	}
	if out, err := python(t, "testdata/interop/passthrough.py", "compare", in, back).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func probeNode() *exec.Cmd { return exec.Command("node", "-e", "require('apache-arrow')") }
func probeR() *exec.Cmd    { return exec.Command("Rscript", "-e", "library(reticulate)") }

// A Python stage between two of ours: whole when all goes well, never when the
// stage raises or the stage before it dies.
func TestLivePythonInTheMiddle(t *testing.T) {
	if race.Detector {
		t.Skip("what another process does is not seen by the race detector")
	}
	rec := interopRecord()
	whole := writeWhole(t, StreamKind, Compression{}, rec, rec, rec)
	var dying bytes.Buffer
	w := NewWriter(&dying, "out", WriteOptions{})
	if err := errors.Join(w.Begin(rec.Schema()), w.Write(rec)); err != nil {
		t.Fatal(err)
	}
	w.Fail(errors.New("out of luck"))
	for _, c := range []struct {
		name  string
		input []byte
		args  []string
		rows  int64
		ends  bool
	}{
		{"well", whole, nil, 18, true},
		{"raises halfway", whole, []string{"1"}, 6, false},
		{"the stage before fails", dying.Bytes(), nil, 6, false},
	} {
		cmd := python(t, append([]string{"testdata/interop/middle.py"}, c.args...)...)
		cmd.Stdin = bytes.NewReader(c.input)
		out, err := cmd.Output()
		if (err == nil) != c.ends {
			t.Errorf("%s: the stage ends with %v", c.name, err)
		}
		var rows int64
		r, err := NewReader(io.MultiReader(bytes.NewReader(out)), "standard input", ReadOptions{})
		if err == nil {
			_, rows, err = Check(t.Context(), r)
		}
		if (err == nil) != c.ends || rows > c.rows {
			t.Errorf("%s: the stage behind sees %d rows, %v", c.name, rows, err)
		}
	}
}

// concatenate puts batches of one schema together; the caller releases it.
func concatenate(parts []arrow.Record) (arrow.Record, error) {
	rows := int64(0)
	for _, p := range parts {
		rows += p.NumRows()
	}
	cols := make([]arrow.Array, parts[0].NumCols())
	for i := range cols {
		column := make([]arrow.Array, len(parts))
		for k, p := range parts {
			column[k] = p.Column(i)
		}
		var err error
		if cols[i], err = array.Concatenate(column, allocator); err != nil {
			return nil, err
		}
		defer cols[i].Release()
	}
	return array.NewRecord(parts[0].Schema(), cols, rows), nil
}
