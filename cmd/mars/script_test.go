package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/rogpeppe/go-internal/testscript"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/cmd/internal/cli"
)

var update = flag.Bool("update", false, "write what programs say into the scripts that compare it")

// The scripts in testdata/script run the programs as a user does.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			if flag.Lookup("test.failfast").Value.String() == "true" && t.Failed() {
				e.T().Skip("another script has failed") // go test lets those that run side by side go on
			}
			return setUp(e)
		},
		Condition:     condition,
		UpdateScripts: *update,
	})
}

func setUp(e *testscript.Env) error {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	e.Setenv("ROOT", root)
	e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache")) // what another run left is no result of this one
	e.Setenv("MARS_PYTHON", os.Getenv("MARS_PYTHON"))
	return err
}

func TestMain(m *testing.M) {
	programs := map[string]func(){
		"dropcolumn":   edit(dropColumn),
		"rotate":       edit(rotateColumn),
		"dropmeta":     edit(dropMetadata),
		"relabel":      edit(renameLabel),
		"pictures":     pictures,
		"madefeatures": madeFeatures,
		"provenance":   edit(setProvenance),
		"evil":         edit(evilText),
		"inflated":     inflated,
		"atmost":       atMost,
		"kinds":        tableOfKinds,
		"digest":       digest,
		"tampered":     tampered,
	}
	for _, name := range append(cli.Programs(), "mars", "mars-browser") {
		programs[name] = main
	}
	testscript.Main(m, programs)
}

// condition knows [python], true where MARS_PYTHON is an interpreter that has
// pyarrow and scikit-learn.
func condition(name string) (bool, error) {
	if name == "python" {
		return os.Getenv("MARS_PYTHON") != "", nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// edit makes a program "name in out column" that rewrites an Arrow stream.
func edit(change func([]arrow.Record, string) []arrow.Record) func() {
	return func() {
		if err := rewrite(change, append(os.Args[1:], "")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func rewrite(change func([]arrow.Record, string) []arrow.Record, args []string) error {
	in, err := arrowio.Open(args[0], arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	var records []arrow.Record
	if err := eachRecord(in, func(rec arrow.Record) {
		rec.Retain()
		records = append(records, rec)
	}); err != nil {
		return err
	}
	records = change(records, args[2])
	out, err := arrowio.Create(args[1], arrowio.WriteOptions{})
	if err != nil {
		return err
	}
	if err := out.Begin(records[0].Schema()); err != nil {
		return err
	}
	for _, rec := range records {
		if err := out.Write(rec); err != nil {
			return err
		}
	}
	return out.Close()
}

func eachRecord(in arrowio.Stream, do func(arrow.Record)) error {
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		do(rec)
	}
}

func dropColumn(records []arrow.Record, name string) []arrow.Record {
	for i, rec := range records {
		at := slices.IndexFunc(rec.Schema().Fields(), func(f arrow.Field) bool { return f.Name == name })
		if at < 0 {
			continue
		}
		meta := rec.Schema().Metadata()
		fields := slices.Delete(slices.Clone(rec.Schema().Fields()), at, at+1)
		columns := slices.Delete(slices.Clone(rec.Columns()), at, at+1)
		records[i] = array.NewRecord(arrow.NewSchema(fields, &meta), columns, rec.NumRows())
	}
	return records
}

// renameLabel gives the column label another name.
func renameLabel(records []arrow.Record, name string) []arrow.Record {
	for i, rec := range records {
		meta := rec.Schema().Metadata()
		fields := slices.Clone(rec.Schema().Fields())
		fields[rec.Schema().FieldIndices("label")[0]].Name = name
		records[i] = array.NewRecord(arrow.NewSchema(fields, &meta), rec.Columns(), rec.NumRows())
	}
	return records
}

func dropMetadata(records []arrow.Record, _ string) []arrow.Record {
	for i, rec := range records {
		fields := slices.Clone(rec.Schema().Fields())
		for j := range fields {
			fields[j].Metadata = arrow.Metadata{}
		}
		records[i] = array.NewRecord(arrow.NewSchema(fields, nil), rec.Columns(), rec.NumRows())
	}
	return records
}

// setProvenance has a stream say what the file named holds of its provenance.
func setProvenance(records []arrow.Record, file string) []arrow.Record {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	for i, rec := range records {
		all := rec.Schema().Metadata().ToMap()
		all[arrowio.ProvenanceKey] = string(text)
		meta := arrow.MetadataFrom(all)
		records[i] = array.NewRecord(arrow.NewSchema(rec.Schema().Fields(), &meta), rec.Columns(), rec.NumRows())
	}
	return records
}

// evilText adds a column whose name and values have control characters and formulas, and
// metadata that have.
func evilText(records []arrow.Record, _ string) []arrow.Record {
	const evil = "=a\x1b]0;owned\a\u009b31m\nforged: line\ttab"
	for i, rec := range records {
		values := slices.Repeat([]string{evil}, int(rec.NumRows()))
		all := rec.Schema().Metadata().ToMap()
		all["k"+evil] = evil
		meta := arrow.MetadataFrom(all)
		field := arrow.Field{Name: evil, Type: arrow.BinaryTypes.String, Metadata: arrow.MetadataFrom(map[string]string{evil: evil})}
		fields := append(slices.Clone(rec.Schema().Fields()), field)
		records[i] = array.NewRecord(arrow.NewSchema(fields, &meta), append(slices.Clone(rec.Columns()), arrowio.NewStringArray(values)), rec.NumRows())
	}
	return records
}

// rotateColumn moves the values that are not null of a column of int32 by one place, which is a
// permutation that changes most of them.
func rotateColumn(records []arrow.Record, name string) []arrow.Record {
	var values []int32
	each := func(f func(rec int, column int, a *array.Int32)) {
		for i, rec := range records {
			at := rec.Schema().FieldIndices(name)[0]
			f(i, at, rec.Column(at).(*array.Int32))
		}
	}
	each(func(_, _ int, a *array.Int32) {
		for i := range a.Len() {
			if a.IsValid(i) {
				values = append(values, a.Value(i))
			}
		}
	})
	slices.Reverse(values)
	values = append(values[7:], values[:7]...)
	each(func(i, at int, a *array.Int32) {
		turned, valid := make([]int32, a.Len()), make([]bool, a.Len())
		for j := range turned {
			if valid[j] = a.IsValid(j); valid[j] {
				turned[j], values = values[0], values[1:]
			}
		}
		columns := slices.Clone(records[i].Columns())
		columns[at] = arrowio.NewIntArray(turned, valid)
		records[i] = array.NewRecord(records[i].Schema(), columns, records[i].NumRows())
	})
	return records
}
