package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"gonum.org/v1/gonum/mat"
)

// sameColumns are in the order of their names, as the unnamed ones of an array are.
var sameColumns = []string{"a", "b", "c", "d"}

// record is the rows lo to hi−1 with some columns in this order, and the label if there is one.
func (r rowsOfClasses) record(lo, hi int, order []int, labelled bool) arrow.Record {
	var fields []arrow.Field
	for _, j := range order {
		fields = append(fields, arrow.Field{Name: sameColumns[j], Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	}
	if labelled {
		fields = append(fields, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := lo; i < hi; i++ {
		for at, j := range order {
			if v := r.x[i][j]; v == v {
				b.Field(at).(*array.Float64Builder).Append(v)
			} else {
				b.Field(at).AppendNull()
			}
		}
		if labelled {
			b.Field(len(order)).(*array.StringBuilder).Append(strconv.Itoa(r.y[i]))
		}
	}
	return b.NewRecord()
}

// A tableFormat writes rows to files whose names begin with a stem, in batches of so many rows, and
// returns what names the files.
type tableFormat struct {
	name  string
	batch int
	order []int // of the columns
	write func(t *testing.T, stem string, r rowsOfClasses, f tableFormat, labelled bool) string
}

var inOrder = []int{0, 1, 2, 3}

var tableFormats = []tableFormat{
	{"CSV", 1 << 20, inOrder, writeTextTable},
	{"CSV, columns in another order", 1 << 20, []int{2, 0, 3, 1}, writeTextTable},
	{"CSV in parts", 61, inOrder, writeTextTable},
	{"Parquet", 1 << 20, inOrder, writeParquetTable},
	{"Parquet in row groups of 17", 17, inOrder, writeParquetTable},
	{"Arrow", 1 << 20, inOrder, writeArrowTable},
	{"Arrow in batches of 7", 7, []int{3, 1, 2, 0}, writeArrowTable},
	{"JSON lines", 1 << 20, inOrder, writeLinesTable},
	{"npz", 1 << 20, inOrder, writeArrays},
}

func writeWhole(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeTextTable writes a file a batch.
func writeTextTable(t *testing.T, stem string, r rowsOfClasses, f tableFormat, labelled bool) string {
	for lo := 0; lo < len(r.x); lo += f.batch {
		var text bytes.Buffer
		rec := r.record(lo, min(lo+f.batch, len(r.x)), f.order, labelled)
		for j, field := range rec.Schema().Fields() {
			text.WriteString(strings.Repeat(",", min(j, 1)) + field.Name)
		}
		for i := range int(rec.NumRows()) {
			for j, column := range rec.Columns() {
				text.WriteString([]string{"\n", ","}[min(j, 1)])
				if column.IsValid(i) {
					text.WriteString(column.ValueStr(i))
				}
			}
		}
		writeWhole(t, fmt.Sprintf("%s-%04d.csv", stem, lo), append(text.Bytes(), '\n'))
	}
	return stem + "-*.csv"
}

func writeLinesTable(t *testing.T, stem string, r rowsOfClasses, f tableFormat, labelled bool) string {
	var text bytes.Buffer
	rec := r.record(0, len(r.x), f.order, labelled)
	if err := array.RecordToJSON(rec, &text); err != nil {
		t.Fatal(err)
	}
	writeWhole(t, stem+".jsonl", text.Bytes())
	return stem + ".jsonl"
}

func writeParquetTable(t *testing.T, stem string, r rowsOfClasses, f tableFormat, labelled bool) string {
	var file bytes.Buffer
	rec := r.record(0, len(r.x), f.order, labelled)
	w, err := pqarrow.NewFileWriter(rec.Schema(), &file, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(int64(f.batch))), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	writeWhole(t, stem+".parquet", file.Bytes())
	return stem + ".parquet"
}

func writeArrowTable(t *testing.T, stem string, r rowsOfClasses, f tableFormat, labelled bool) string {
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(r.record(0, 0, f.order, labelled).Schema()))
	for lo := 0; lo < len(r.x); lo += f.batch {
		if err := w.Write(r.record(lo, min(lo+f.batch, len(r.x)), f.order, labelled)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	writeWhole(t, stem+".arrows", file.Bytes())
	return stem + ".arrows"
}

// writeArrays writes X and, of labelled rows, y as numbers of classes.
func writeArrays(t *testing.T, stem string, r rowsOfClasses, _ tableFormat, labelled bool) string {
	x, y := mat.NewDense(len(r.x), len(sameColumns), nil), make([]int64, len(r.y))
	for i, v := range r.x {
		x.SetRow(i, v)
		y[i] = int64(r.y[i])
	}
	write := func() error { return writeNPZ(stem+".npz", x, y) }
	if !labelled {
		write = func() error { return writeNPZ(stem+".npz", x, nil) }
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	return stem + ".npz"
}

// sameProblem is a source and a target, with gaps or without.
func sameProblem(seed uint64, gaps bool) (source, target rowsOfClasses) {
	rng := rand.New(rand.NewPCG(seed, 31))
	source = drawn(rng, 180, []float64{1. / 3, 1. / 3, 1. / 3}, nothingCentres)
	target = drawn(rng, 150, nothingShares, nothingCentres)
	for _, r := range []rowsOfClasses{source, target} {
		for i, v := range r.x {
			for j := range v {
				v[j], _ = strconv.ParseFloat(strconv.FormatFloat(v[j], 'g', 6, 64), 64)
			}
			if gaps && i%20 == 0 {
				v[rng.IntN(len(v))] = math.NaN()
			}
		}
	}
	return source, target
}

// given are the answers of the commands, by their names, for a source and a target.
func given(t *testing.T, dir, source, target, jobs string) map[string]string {
	t.Helper()
	both := []string{"--source", source, "--target", target, "--jobs", jobs, "-q"}
	found := map[string]string{}
	found["proportions"], _ = says(t, dir, append([]string{"proportions", "--json"}, both...)...)
	says(t, dir, append([]string{"label", "--save", "m.safetensors", "-o", "label.csv"}, both...)...)
	says(t, dir, append([]string{"ask", "-o", "ask.csv", "--keep", "id"}, both...)...)
	says(t, dir, "predict", "--model", "m.safetensors", "--target", target, "--jobs", jobs, "-q", "-o", "predict.csv")
	for _, command := range []string{"label", "ask", "predict"} {
		text, err := os.ReadFile(filepath.Join(dir, command+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		found[command] = string(text)
	}
	found["ask"] = drawnCode.ReplaceAllString(found["ask"], "")
	return found
}

// drawnCode says of which file a row was drawn.
var drawnCode = regexp.MustCompile(`(?m)[^,]+$`)

// The same rows in any format, in any number of files and batches, with their columns in any order,
// and with any number of threads, give the same bytes.
func TestSameRows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	for _, gaps := range []bool{false, true} {
		source, target := sameProblem(1, gaps)
		checkFormats(t, source, target, gaps)
	}
}

func checkFormats(t *testing.T, source, target rowsOfClasses, gaps bool) {
	t.Helper()
	var want map[string]string
	for n, f := range tableFormats {
		if gaps && f.name == "npz" {
			continue // NaN in an array is refused
		}
		dir := t.TempDir()
		got := given(t, dir, f.write(t, filepath.Join(dir, "s"), source, f, true), f.write(t, filepath.Join(dir, "t"), target, f, false), strconv.Itoa(1+n%3))
		if want == nil {
			want = got
		}
		for command, text := range got {
			if text != want[command] {
				t.Errorf("%s: mars %s gives\n%s\nwhere %s gives\n%s", f.name, command, text, tableFormats[0].name, want[command])
			}
		}
	}
}

// Rows in another order have the same labels and shares. Which of them mars ask draws depends on
// their order, and not what it says of each.
func TestRowsInAnotherOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	f := tableFormats[0]
	for seed := range uint64(3) {
		source, target := sameProblem(2+seed, true)
		rng := rand.New(rand.NewPCG(seed, 32))
		order := rng.Perm(len(target.x))
		answers := func(source, target rowsOfClasses) (map[string]string, string) {
			dir := t.TempDir()
			return given(t, dir, f.write(t, filepath.Join(dir, "s"), source, f, true), f.write(t, filepath.Join(dir, "t"), target, f, false), "2"), dir
		}
		want, dir := answers(source, target)
		got, turned := answers(source.picked(rng.Perm(len(source.x))), target.picked(order))
		for k, share := range sharesOf(t, got["proportions"]) {
			if off := math.Abs(share - sharesOf(t, want["proportions"])[k]); off > 1e-6 {
				t.Errorf("seed %d: a share is off by %g", seed, off)
			}
		}
		for _, command := range []string{"label", "predict"} {
			classes := predictedClasses(t, filepath.Join(dir, command+".csv"))
			for i, class := range predictedClasses(t, filepath.Join(turned, command+".csv")) {
				if class != classes[order[i]] {
					t.Errorf("seed %d: mars %s labels a row %s and %s", seed, command, class, classes[order[i]])
				}
			}
		}
		if a, b := strings.Count(got["ask"], "\n"), strings.Count(want["ask"], "\n"); a != b {
			t.Errorf("mars ask draws %d and %d rows", a, b)
		}
		checkAsked(t, turned)
	}
}

// checkAsked checks that rows that are drawn have the labels that mars label gives them.
func checkAsked(t *testing.T, dir string) {
	t.Helper()
	asked, all := predictedClasses(t, filepath.Join(dir, "ask.csv")), predictedClasses(t, filepath.Join(dir, "label.csv"))
	text, err := os.ReadFile(filepath.Join(dir, "ask.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		id, err := strconv.Atoi(strings.Split(line, ",")[1])
		if err != nil || asked[n] != all[id] {
			t.Errorf("mars ask labels row %d %s, and mars label %s (%v)", id, asked[n], all[id], err)
		}
	}
}

func (r rowsOfClasses) picked(order []int) (p rowsOfClasses) {
	for _, i := range order {
		p.x, p.y = append(p.x, r.x[i]), append(p.y, r.y[i])
	}
	return p
}

func sharesOf(t *testing.T, text string) []float64 {
	t.Helper()
	var report struct{ Proportions struct{ Estimated []float64 } }
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	return report.Proportions.Estimated
}

// The same predictions in any format, with their columns and rows in another order, are judged alike;
// and a window has the same shares in any format, with its rows in any order.
func TestSamePredictions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	source, target := sameProblem(7, false)
	known, _ := sameProblem(8, false)
	f, dir, rng := tableFormats[0], t.TempDir(), rand.New(rand.NewPCG(7, 32))
	at := func(name string) string { return filepath.Join(dir, name) }
	paths := map[string]string{"s": f.write(t, at("s"), source, f, true), "known": f.write(t, at("known"), known, f, true),
		"t": f.write(t, at("t"), target, f, false), "turned": f.write(t, at("turned"), target.picked(rng.Perm(len(target.x))), f, false)}
	says(t, dir, "label", "--source", paths["s"], "--target", paths["t"], "--save", "m.safetensors", "-q", "-o", "label.csv")
	var want string
	for _, format := range []string{"csv", "tsv", "jsonl", "parquet", "arrow"} {
		for _, of := range []string{"t", "turned"} {
			says(t, dir, "predict", "--model", "m.safetensors", "--target", paths[of], "-q", "-o", of+"."+format)
		}
		says(t, dir, "predict", "--model", "m.safetensors", "--target", paths["known"], "--keep", "label", "-q", "-o", "known."+format)
		says(t, dir, "check", "t."+format, "--reference", "known."+format, "--label", "label", "-q", "-o", "check.json")
		text, err := os.ReadFile(at("check.json"))
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(text)
		}
		if string(text) != want {
			t.Errorf("%s: mars check writes\n%s\nwhere CSV has\n%s", format, text, want)
		}
		says(t, dir, "check", "turned."+format, "--reference", "known."+format, "--label", "label", "-q", "-o", "turned.json")
		if a, b := accuracyOf(t, at("turned.json")), accuracyOf(t, at("check.json")); math.Abs(a-b) > 1e-9 {
			t.Errorf("%s: in another order the accuracy is %v, and %v before", format, a, b)
		}
	}
	stream := strings.Replace(paths["t"], "*", "0000", 1)
	window, _ := says(t, dir, "watch", "--model", "m.safetensors", "--window", "150", "--format", "jsonl", "-q", stream)
	for _, f := range tableFormats {
		if path := f.write(t, at("w"), target, f, false); !strings.Contains(path, "*") && !strings.Contains(f.name, "Parquet") && f.name != "npz" {
			if got, _ := says(t, dir, "watch", "--model", "m.safetensors", "--window", "150", "--format", "jsonl", "-q", path); got != window {
				t.Errorf("%s: mars watch writes %s where CSV has %s", f.name, got, window)
			}
		}
	}
	turned, _ := says(t, dir, "watch", "--model", "m.safetensors", "--window", "150", "--format", "jsonl", "-q", strings.Replace(paths["turned"], "*", "0000", 1))
	for _, class := range []string{"0", "1", "2"} {
		if a, b := fieldOf(t, turned, "share_"+class), fieldOf(t, window, "share_"+class); math.Abs(a-b) > 1e-6 {
			t.Errorf("in another order class %s has the share %v, and %v before", class, a, b)
		}
	}
}

func accuracyOf(t *testing.T, path string) float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Windows []struct {
			Figures []struct {
				Name  string
				Value float64
			}
		}
	}
	if err := json.Unmarshal(text, &report); err != nil || report.Windows[0].Figures[0].Name != "accuracy" {
		t.Fatalf("%v: %s", err, text)
	}
	return report.Windows[0].Figures[0].Value
}

func fieldOf(t *testing.T, line, name string) float64 {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return fields[name].(float64)
}
