package tables

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// checkFuzzed reads arbitrary bytes. If that is no error, the table must be
// consistent.
func checkFuzzed(t *testing.T, data []byte, name string, o Options) {
	t.Helper()
	checkBlocks(t, data, name, o)
	got, err := Read(t.Context(), bytes.NewReader(data), name, o)
	if err != nil {
		return
	}
	checkConsistent(t, got)
}

func checkConsistent(t *testing.T, got *Table) {
	t.Helper()
	size, _ := product(got.Shape)
	x := got.Features
	if x.Rows < 1 || x.Cols < 1 || x.Cols != size || len(x.Data) != x.Rows*x.Cols {
		t.Fatalf("%d×%d of shape %v with %d values", x.Rows, x.Cols, got.Shape, len(x.Data))
	}
	for _, v := range x.Data {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatal("a value is not finite")
		}
	}
	for _, n := range []int{len(got.Labels), len(got.IDInts), len(got.IDNames)} {
		if n != 0 && n != x.Rows {
			t.Fatalf("%d labels or ids for %d rows", n, x.Rows)
		}
	}
}

// checkBlocks reads the same bytes block by block, and the identities alone. Both together
// are what reading the whole is: the same rows, identities and errors.
func checkBlocks(t *testing.T, data []byte, name string, o Options) {
	t.Helper()
	in, err := newInput(t.Context(), bytes.NewReader(data), name, o)
	if err != nil || !in.format.hasColumns() {
		return
	}
	o.NoLabels = true
	whole, err := Read(t.Context(), bytes.NewReader(data), name, o)
	var rows []float32
	inBlocks, named := o, o
	inBlocks.Each = func(block *Table) error {
		checkConsistent(t, block)
		rows = append(rows, block.Features.Data...)
		return nil
	}
	named.OnlyIDs = true
	checkNames(t, data, name, inBlocks, whole)
	blocks, blocksErr := Read(t.Context(), bytes.NewReader(data), name, inBlocks)
	ids, idsErr := Read(t.Context(), bytes.NewReader(data), name, named)
	switch {
	case err != nil:
		if !sameText(err, blocksErr) && !sameText(err, idsErr) {
			t.Fatalf("the whole: %v\nblocks: %v\nidentities: %v", err, blocksErr, idsErr)
		}
	case blocksErr != nil || idsErr != nil:
		t.Fatalf("the whole is read\nblocks: %v\nidentities: %v", blocksErr, idsErr)
	case blocks.Features.Rows != whole.Features.Rows || !slices.Equal(rows, whole.Features.Data):
		t.Fatalf("%d rows, block by block %d", whole.Features.Rows, blocks.Features.Rows)
	case !slices.Equal(ids.IDInts, whole.IDInts) || !slices.Equal(ids.IDNames, whole.IDNames):
		t.Fatalf("identities %v %q, alone %v %q", whole.IDInts, whole.IDNames, ids.IDInts, ids.IDNames)
	}
}

// checkNames checks that blocks with names have those of the whole, nil if it cannot be read.
func checkNames(t *testing.T, data []byte, name string, o Options, whole *Table) {
	t.Helper()
	var ids []string
	o.EachNames = true
	o.Each = func(block *Table) error {
		for i := range block.Features.Rows {
			switch {
			case block.IDInts != nil:
				ids = append(ids, strconv.FormatInt(block.IDInts[i], 10))
			case block.IDNames != nil:
				ids = append(ids, block.IDNames[i])
			}
		}
		return nil
	}
	if _, err := Read(t.Context(), bytes.NewReader(data), name, o); err != nil || whole == nil {
		return
	}
	var want []string
	for _, v := range whole.IDInts {
		want = append(want, strconv.FormatInt(v, 10))
	}
	if want = append(want, whole.IDNames...); !slices.Equal(ids, want) {
		t.Fatalf("identities %q, block by block %q", want, ids)
	}
}

// sameText reports whether two errors say the same, but for how many cells are bad, which is
// known of the whole alone.
func sameText(whole, part error) bool {
	return whole != nil && part != nil && strings.HasPrefix(whole.Error(), part.Error())
}

// checkDomains reads two parts of the bytes, by a column of them. Their rows are those of
// the whole.
func checkDomains(t *testing.T, data []byte, name, column string, values ...string) {
	t.Helper()
	o := Options{Domain: column}
	for _, value := range values {
		o.Parts = append(o.Parts, Part{Name: value, Values: []string{value}})
	}
	parts, err := readParts(t.Context(), bytes.NewReader(data), name, o)
	if err != nil {
		return
	}
	whole, err := Read(t.Context(), bytes.NewReader(data), name, Options{Columns: parts[0].Columns})
	for _, part := range parts {
		checkConsistent(t, part)
		for i := range part.Features.Rows {
			if err == nil && !slices.Equal(part.Row(i), whole.Row(part.In(i))) {
				t.Fatalf("row %d of part %s is not row %d of the whole", i, part.Name, part.In(i))
			}
		}
	}
}

// checkMixed reads a mixed table, and again as its fields say: that gives the same cells.
func checkMixed(t *testing.T, data []byte, name string) {
	t.Helper()
	got, err := Read(t.Context(), bytes.NewReader(data), name, Options{Mixed: true, NoLabels: true})
	if err != nil {
		return
	}
	if got.Fields == nil {
		checkConsistent(t, got)
		return
	}
	if len(got.Fields) != got.Features.Cols || len(got.Columns) != got.Features.Cols {
		t.Fatalf("%d fields and %d names of %d columns", len(got.Fields), len(got.Columns), got.Features.Cols)
	}
	for i := range got.Features.Rows {
		for j, v := range got.Row(i) {
			f := got.Fields[j]
			switch {
			case math.IsInf(float64(v), 0) || f.Name != got.Columns[j]:
				t.Fatalf("row %d, column %d: %v of %q", i, j, v, f.Name)
			case f.Kind == Category && v == v && (v < 0 || int(v) >= len(f.Values) || v != float32(int(v))):
				t.Fatalf("row %d, column %d: %v of %d values", i, j, v, len(f.Values))
			case f.Kind == Clock && (v < 0 || v > 25*3600):
				t.Fatalf("row %d, column %d: second %v of a day", i, j, v)
			}
		}
	}
	again, err := Read(t.Context(), bytes.NewReader(data), name, Options{Mixed: true, NoLabels: true, Fields: got.Fields})
	if err != nil {
		t.Fatalf("%v, when it is read by its own fields", err)
	}
	for i := range got.Features.Data {
		if math.Float32bits(got.Features.Data[i]) != math.Float32bits(again.Features.Data[i]) {
			t.Fatalf("value %d: %v, read again %v", i, got.Features.Data[i], again.Features.Data[i])
		}
	}
}

// seeds are the files that fuzzing each format begins with, of testdata/oracle/featurize.
var seeds = map[*format][]string{
	idxFormat:       {"train-images-idx3-ubyte", "typeb.idx", "typee.idx", "digits.gz"},
	npyFormat:       {"plain.npy", "version2.npy", "labels.npy"},
	npzFormat:       {"plain.npz", "types.npz"},
	textFormat:      {"frame.csv", "semicolon.csv", "frame.tsv", "gaps.csv", "index.csv"},
	jsonLinesFormat: {"../formats/pandas.jsonl", "../formats/polars.ndjson", "../formats/duckdb.jsonl", "../formats/nested.jsonl"},
	jsonArrayFormat: {"../formats/pandas.json", "../formats/duckdb.json"},
	svmlightFormat:  {"../formats/zero-false.svmlight", "../formats/queries.svm", "../formats/wanted.libsvm", "../formats/wide.svmlight"},
	arffFormat:      {"../formats/dense.arff", "../formats/sparse.arff"},
	fcsFormat:       {"../formats/log.fcs", "../formats/mixed.fcs", "../formats/floats.fcs", "../formats/two.fcs"},
	matFormat:       {"../formats/plain-false.mat", "../formats/plain-true.mat", "../formats/types.mat", "../formats/big-endian.mat"},
	parquetFormat:   {"none.parquet", "polars.parquet", "encodings.parquet"},
	arrowFormat:     {"stream.arrows", "stream.arrow"},
}

func seed(f *testing.F, names ...string) {
	f.Helper()
	values, chunk := blockValues, textChunk
	f.Cleanup(func() { blockValues, textChunk = values, chunk })
	blockValues, textChunk = 8, 20 // so that small inputs have several blocks
	for _, name := range names {
		f.Add(oracleFile(f, name))
	}
}

func FuzzIDX(f *testing.F) {
	seed(f, seeds[idxFormat]...)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a", Options{})
		_, _ = readArrayLabels(readIDX(bytes.NewReader(data), nil))
	})
}

func FuzzNPY(f *testing.F) {
	seed(f, seeds[npyFormat]...)
	f.Add([]byte(npy("{'descr': '>U2', 'fortran_order': True, 'shape': (2,), }", "\x00\x00\x00a\x00\x00\x00b\x00\x00\x00c\x00\x11\x00\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.npy", Options{})
		_, _ = readArrayLabels(readNPY(bytes.NewReader(data), nil))
	})
}

func FuzzNPZ(f *testing.F) {
	seed(f, seeds[npzFormat]...)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.npz", Options{})
	})
}

func FuzzText(f *testing.F) {
	seed(f, seeds[textFormat]...)
	f.Add([]byte("x,when,at,color,n\n1,2026-01-31,12:30,red,1\n,2026-02-28T10:11:12Z,1:15:00,blue,x\nNA,,,,3.0\n4,1.2.2026,24:00,red,01\n"))
	f.Add([]byte("d,t\n31.12.2026,12:30\n01.02.2024,1:15:00.5+01:00\n,\n"))
	f.Add([]byte("id,x,y,label\n1,2,3,cat\n2,3,4,dog\n3,4,5,cat\n4,5,6,cow\n5,6,7,\n6,7,8,dog\n7,8,9,dog\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.csv", Options{})
		checkDomains(t, data, "a.csv", "label", "cat", "dog")
		checkMixed(t, data, "a.csv")
		checkFuzzed(t, data, "a", Options{Label: "name", Columns: []string{"a"}, Separator: ';'})
	})
}

// FuzzJSONLines reads lines that encoding/json reads too, or refuses them.
func FuzzJSONLines(f *testing.F) {
	seed(f, seeds[jsonLinesFormat]...)
	f.Add([]byte("{\"a\":[1,2],\"b\":\"\\ud83d\\ude00\\n\"}\n\n{\"a\":[3,NaN]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.jsonl", Options{})
		checkDomains(t, data, "a.jsonl", "label", "cat", "dog")
		in, err := newInput(t.Context(), bytes.NewReader(data), "a.jsonl", Options{})
		if err != nil {
			return
		}
		b, err := openJSONLines(t.Context(), in, Options{})
		if err != nil {
			return
		}
		defer b.release()
		rows, end := 0, error(nil)
		for end == nil {
			var rec arrow.Record
			if rec, end = b.next(); end == nil {
				rows += int(rec.NumRows())
			}
		}
		lines := 0
		for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			lines++
			if errors.Is(end, io.EOF) && !json.Valid(line) && !bytes.Contains(line, []byte("NaN")) && !bytes.Contains(line, []byte("Infinity")) {
				t.Fatalf("%q is read, and is no JSON", line)
			}
		}
		if errors.Is(end, io.EOF) && rows != lines {
			t.Fatalf("%d rows of %d lines", rows, lines)
		}
	})
}

// FuzzJSONArray reads an array that encoding/json reads too, of as many objects, or refuses it.
func FuzzJSONArray(f *testing.F) {
	seed(f, seeds[jsonArrayFormat]...)
	f.Add([]byte("[{\"a\":[1,2],\"b\":\"}\\\"]\\\\\"},\n{\n\"a\":[3,null]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.json", Options{})
		in, err := newInput(t.Context(), bytes.NewReader(data), "a.json", Options{})
		if err != nil || !jsonArrayFormat.text.Match(bytes.TrimPrefix(data, []byte("\ufeff"))) {
			return
		}
		b, err := jsonArrayFormat.open(t.Context(), in, Options{})
		if err != nil {
			return
		}
		defer b.release()
		rows, end := 0, error(nil)
		for end == nil {
			var rec arrow.Record
			if rec, end = b.next(); end == nil {
				rows += int(rec.NumRows())
			}
		}
		var objects []map[string]any
		if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &objects); errors.Is(end, io.EOF) && !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) && (err != nil || len(objects) != rows) {
			t.Fatalf("%d rows are read of %d objects, %v", rows, len(objects), err)
		}
	})
}

func FuzzSVMLight(f *testing.F) {
	seed(f, seeds[svmlightFormat]...)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.svm", Options{})
		checkFuzzed(t, data, "a.svm", Options{Columns: []string{"0", "3"}})
		checkFuzzed(t, data, "a.svm", Options{Hash: 3})
	})
}

func FuzzARFF(f *testing.F) {
	seed(f, seeds[arffFormat]...)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.arff", Options{})
		checkDomains(t, data, "a.arff", "kind", "cat", "it's")
	})
}

func FuzzFCS(f *testing.F) {
	seed(f, seeds[fcsFormat]...)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.fcs", Options{})
		checkFuzzed(t, data, "a.fcs", Options{Compensate: true})
		checkFuzzed(t, data, "a.fcs", Options{Columns: []string{"cd4", "FSC A"}, Panel: &Panel{path: "panel.csv", markers: map[string]string{"FL1": "CD4", "FSC-A": ""}}})
	})
}

func FuzzMAT(f *testing.F) {
	seed(f, seeds[matFormat]...)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.mat", Options{})
		o := Options{Memory: arrowio.NewBudget(64 << 20)}
		for _, names := range []string{"sparse,cells", "images,chars", "flag,row"} {
			o.X, o.Y, _ = strings.Cut(names, ",")
			if got, err := Read(t.Context(), bytes.NewReader(data), "a.mat", o); err == nil {
				checkConsistent(t, got)
			}
		}
	})
}

// FuzzCompressed changes compressed tables.
func FuzzCompressed(f *testing.F) {
	for _, ext := range []string{"gz", "zst", "bz2", "xz", "lz4"} {
		seed(f, "../formats/frame.csv."+ext, "../formats/twice.csv."+ext)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := Options{Memory: arrowio.NewBudget(64 << 20)}
		if _, err := Read(t.Context(), bytes.NewReader(data), "a", o); err == nil {
			checkFuzzed(t, data, "a", Options{})
		}
	})
}

// FuzzColumnar changes Parquet and Arrow files.
func FuzzColumnar(f *testing.F) {
	seed(f, append(seeds[parquetFormat], seeds[arrowFormat]...)...)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a", Options{})
		checkDomains(t, data, "a", "label", "cat", "dog")
		checkMixed(t, data, "a")
	})
}
