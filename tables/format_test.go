package tables

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func read(name, text string, o Options) (*Table, error) {
	return Read(context.Background(), strings.NewReader(text), name, o)
}

// wantError checks the text of an error.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v\nwant  %s", err, want)
	}
}

func oracleFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(oracle, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestKindErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a.csv", "", "a.csv: is empty: check what wrote it"},
		{"a.npz", "x,y\n1,2\n", "a.npz: is named .npz but holds a text table: rename it, or check what wrote it"},
		{"a.csv", "\x93NUMPY\x01\x00", "a.csv: is named .csv but holds a NumPy array (npy)"},
		{"a.parquet", "ARROW1\x00\x00", "a.parquet: is named .parquet but holds Arrow"},
		{"a.arrow", "PAR1", "a.arrow: is named .arrow but holds Parquet"},
		{"a", "\x89HDF\r\n\x1a\n", "a: holds an HDF5 file, which cannot be read: save its arrays in Python with numpy.savez, or, if it holds cells (10x), let the Python package read it: python -m mars label --source"},
		{"a.npy", "\x80\x04\x95", "holds a Python pickle"},
		{"a.csv", "<!DOCTYPE html><html>", "holds an HTML page, which cannot be read: download the file itself"},
		{"a.csv", "version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"},
		{"a", "\x01\x02\x03\x04\x05", "a: begins with bytes 01 02 03 04 05, which is no kind of file that can be read"},
		{"a.csv", "caf\xe9,b\n1,2\n", "line 1, column 4 (byte 3 from 0): 0xe9 is not valid UTF-8"},
		{"a.gz", "\x1f\x8b\x00", "is truncated: its gzip data stop at byte 3, after 0 bytes of content"},
		{"a.gz", "\x1f\x8b" + strings.Repeat("x", 20), "is damaged (gzip: invalid header): copy or download it again"},
	} {
		_, err := read(tc.name, tc.text, Options{})
		wantError(t, err, tc.want)
	}
}

func TestOpenErrors(t *testing.T) {
	folder := t.TempDir()
	_, absent := Open(t.Context(), filepath.Join(folder, "absent.csv"), Options{})
	_, isFolder := Open(t.Context(), folder, Options{})
	_, colon := Open(t.Context(), filepath.Join(folder, "a.csv:b"), Options{})
	x := filepath.Join(oracle, "plain.npy")
	_, labels := Open(t.Context(), x, Options{Labels: filepath.Join(folder, "absent.npy")})
	_, rows := Open(t.Context(), x, Options{Labels: filepath.Join(oracle, "digit-labels.gz")})
	_, axes := Open(t.Context(), x, Options{Labels: filepath.Join(oracle, "train-images-idx3-ubyte")})
	_, kind := Open(t.Context(), x, Options{Labels: filepath.Join(formats, "doubles.fcs")})
	_, whole := Open(t.Context(), x, Options{Labels: filepath.Join(oracle, "plain.npz"), Y: "X"})
	_, column := Open(t.Context(), x, Options{Labels: filepath.Join(oracle, "frame.csv"), Label: "class"})
	for want, err := range map[string]error{
		"absent.csv: no such file or directory: check the path":       absent,
		"is a folder without .jpg, .jpeg or .png files":               isFolder,
		"only .npz and .mat files have members to name after a colon": colon,
		"labels: open": labels,
		"plain.npy: 5 rows but 2 labels (" + oracle + "/digit-labels.gz)":  rows,
		"has shape [2 4 5]: labels need one axis":                          axes,
		`doubles.fcs: has no column "label" (its columns are a, b)`:        kind,
		"plain.npz: member X: has shape [5 3]: labels need one axis":       whole,
		`frame.csv: has no column "class" (its columns are a, b, c, d, na`: column,
	} {
		wantError(t, err, want)
	}
}

func npy(header, data string) string {
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + data
}

func TestArrayErrors(t *testing.T) {
	f4 := func(shape string, data string) string {
		return npy("{'descr': '<f4', 'fortran_order': False, 'shape': "+shape+", }", data)
	}
	ok := "\x00\x00\x80\x3f"
	for _, tc := range []struct{ name, text, want string }{
		{"a.npy", f4("(2, 1)", ok), "a.npy: is truncated: its header announces 2 values, 1 are there: copy or download it again"},
		{"a.npy", f4("(1, 1)", ok+"x"), "a.npy: has bytes after its last value"},
		{"a.npy", f4("(1, 2)", ok+"\x00\x00\xc0\x7f"), "a.npy: row 1, feature 2 (both counted from 1): is NaN: fill or drop the row"},
		{"a.npy", f4("(2, 1)", ok+"\x00\x00\x80\xff"), "row 2, feature 1 (both counted from 1): is infinite"},
		{"a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "\x00\x00\x00\x00\x00\x00\xf0\x7e"), "or too large for float32"},
		{"a.npy", f4("(0, 3)", ""), "holds 0 rows of 3 features: give data with at least one of each"},
		{"a.npy", f4("()", ok), "has shape []: features need rows and columns"},
		{"a.npy", f4("(1, 1, 1, 1, 1)", ok), "has shape [1 1 1 1 1]: rows may be vectors or images"},
		{"a.npy", f4("(4294967296, 4294967296)", ok), "at most 2³¹ values"},
		{"a.npy", f4("(-1, 2)", ok), "npy header: shape (-1, 2) is not a list of sizes"},
		{"a.npy", npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", ""), "the array holds Python objects, which only Python can read: convert it with astype(str) or astype(int)"},
		{"a.npy", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", ""), "the array is structured"},
		{"a.npy", npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", ""), `type "<c8" cannot be read: convert the array with astype`},
		{"a.npy", npy("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}", ""), `type "<M8[ns]" cannot be read`},
		{"a.npy", npy("{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}", ""), "holds strings: features must be numbers"},
		{"a.npy", npy("{}", ""), "lacks descr, fortran_order or shape"},
		{"a.npy", "\x93NUMPY\x09\x00\x02\x00{}", "npy header: version 9 is not known"},
		{"a.npy", "\x93NUMPY\x02\x00\xff\xff\xff\xff", "announces 4294967295 bytes"},
		{"a.npy", "\x93NUMPY", "npy header: is truncated"},
		{"a.idx", "\x00\x00\x08\x02\x00\x00\x00\x02", "IDX header: byte 8: is truncated"},
		{"a.idx", "\x00\x00\x07\x01\x00\x00\x00\x02", "IDX header: magic number 00 00 07 01 is not that of IDX"},
		{"a.idx", "\x00\x00\x08\x01\x00\x00\x00\x01x", "has one axis, as IDX files of labels have: give the file of images"},
		{"a.npz", "PK\x03\x04rubbish", "a.npz: is not a valid zip archive"},
	} {
		_, err := read(tc.name, tc.text, Options{})
		wantError(t, err, tc.want)
	}
}

func TestNPZErrors(t *testing.T) {
	archive := filepath.Join(oracle, "types.npz")
	_, noX := Open(t.Context(), archive, Options{})
	_, noY := Open(t.Context(), archive+":X_bool,nothing", Options{})
	_, rows := Open(t.Context(), archive+":images_last,y_fixed", Options{})
	_, text := Open(t.Context(), archive+":y_fixed", Options{})
	_, label := Open(t.Context(), archive+":X_bool,X_le_f4", Options{})
	_, half := Open(t.Context(), archive+":X_bool,column", Options{})
	for want, err := range map[string]error{
		`types.npz: has no member "X" (its members are X_u1, y_u1, X_i1,`: noX,
		`has no member "nothing"`: noY,
		"2 rows but 5 labels (member y_fixed): give labels of the same rows":       rows,
		"member y_fixed: holds strings: features must be numbers":                  text,
		"member X_le_f4: has shape [5 3]: labels need one axis":                    label,
		"member column: row 1: label -2.5 is not a whole number: labels are class": half,
	} {
		wantError(t, err, want)
	}
	damaged := oracleFile(t, "plain.npz")
	at := bytes.Index(damaged, []byte("'shape': (5, 3)")) + 100
	damaged[at] ^= 1
	_, err := Read(t.Context(), bytes.NewReader(damaged), "plain.npz", Options{})
	wantError(t, err, "plain.npz: member X: is damaged (its checksum is wrong): copy or download it again")
}

func TestTextErrors(t *testing.T) {
	for _, tc := range []struct {
		text string
		o    Options
		want string
	}{
		{"a,b\n1,2\n3\n", Options{}, "t.csv: line 3: has another number of fields than the 2 of the header"},
		{"a,b\n1,2,\n3,4,\n", Options{}, "line 2: ends with a separator, and the header does not: take it away from all rows"},
		{"a,b,\n1,2\n", Options{}, "line 2: has 2 fields, and the header 3, since it ends with a separator: take that away"},
		{"a,b\r1,2\r", Options{}, "line 1: the lines end with carriage returns alone, as on old Macs"},
		{"My table,,\na,b,c\n1,2,3\n", Options{Label: "c"}, `has no column "c" (its columns are My table, , ): name one of them as the label column. Its first line may be a title: then leave the lines before the names out with --skip-lines`},
		{"a\x00,\x00b\x00\n\x001\x00,\x002\x00", Options{}, "holds text in UTF-16: give --encoding utf-16"},
		{"sep=;\na;b\n1;x\n2;\n", Options{Columns: []string{"a", "b"}}, `line 3, column "b": "x" is not a number`},
		{"a,b\n1,2\n3,\n", Options{}, `line 3, column "b": the value is missing (""): fill or drop the row, or choose other feature columns`},
		{"a,b\n1,2\n\n3,NA\n", Options{}, `line 4, column "b": the value is missing ("NA")`},
		{"a,b\n1,nan\n", Options{}, `line 2, column "b": the value is missing ("nan")`},
		{"a,b\n1,2\n3,x\n", Options{}, `line 3, column "b": "x" is not a number: mend it, or choose other feature columns`},
		{"a,b\n1,inf\n", Options{}, `line 2, column "b": inf is infinite, or too large for float32`},
		{"a,b\n1,-1e39\n", Options{}, `line 2, column "b": -1e39 is infinite, or too large for float32`},
		{"a,b\n\"1\n\",2\n3,x\n", Options{}, `line 4, column "b": "x" is not a number`},
		{"a,b\n1,\"2\n", Options{}, "mend the quotes of the line"},
		{"a,b\n", Options{}, "has a header but no rows"},
		{"\n", Options{}, "has no header line"},
		{"1.5,2\n3,4\n", Options{}, "line 1: has numbers where the columns' names should be: add a header line"},
		{"a,a\n1,2\n", Options{}, `line 1: column "a" is there twice: rename one`},
		{"a,b\nx,y\n", Options{}, "has no column of numbers for features (its columns are a, b): make numbers of text, or name the feature columns"},
		{"a,b\n1,2\n", Options{Label: "y"}, `has no column "y" (its columns are a, b): name one of them as the label column`},
		{"a,b\n1,2\n", Options{Columns: []string{"c"}}, `has no column "c" (its columns are a, b): name feature columns that it has`},
		{"a,b\n1,2\n", Options{Columns: []string{"a", "a"}}, `column "a" is named twice as a feature`},
		{"a,b\n1,2\n", Options{Columns: []string{"a"}, Label: "a"}, `column "a" is the label, id, domain or batch column`},
		{"a,b\n1,2\n", Options{ID: "a", Label: "a"}, `column "a" is named as label and as id`},
		{"a,label\n1,1\n2,2.5\n", Options{}, `column "label": label 2.5 is not a whole number`},
		{"a,id\n1,7\n2,7\n", Options{}, `column "id": line 2 and line 3 both have id "7": make ids unique`},
		{"a,id\n1,7\n2,\n", Options{}, `column "id": line 3: has no id`},
	} {
		_, err := read("t.csv", tc.text, tc.o)
		wantError(t, err, tc.want)
	}
}

func TestText(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		o          Options
		features   []float32
		columns    []string
		labels     []string
	}{
		{"quoted", "\"a b\",\"c\"\"d\"\n\"1\", 2\n", Options{}, []float32{1, 2}, []string{"a b", `c"d`}, nil},
		{"pandas' columns", "0,1\n5,6\n", Options{}, []float32{5, 6}, []string{"0", "1"}, nil},
		{"row numbers", ",a\n0,6\n1,7\n", Options{}, []float32{6, 7}, []string{"a"}, nil},
		{"truth is no feature", "truth,a\n1,6\n", Options{}, []float32{6}, []string{"a"}, nil},
		{"truth asked for", "truth,a\n1,6\n", Options{Label: "truth"}, []float32{6}, []string{"a"}, []string{"1"}},
		{"separator", "a|b\n1|2\n", Options{Separator: '|'}, []float32{1, 2}, []string{"a", "b"}, nil},
		{"Excel's first line", "sep=;\r\na;b\r\n1;2\r\n", Options{}, []float32{1, 2}, []string{"a", "b"}, nil},
		{"it is quoted and marked", "\ufeff\"sep=|\"\na,c|b\n1|2\n", Options{}, []float32{1, 2}, []string{"a,c", "b"}, nil},
		{"it is left out by the user", "sep=;\na;b\n1;2\n", Options{SkipLines: 1}, []float32{1, 2}, []string{"a", "b"}, nil},
		{"sep is a column", "sep=;b\n1;2\n", Options{}, []float32{1, 2}, []string{"sep=", "b"}, nil},
		{"a separator behind each line", "a,b,\n1,2,\n", Options{}, []float32{1, 2}, []string{"a", "b"}, nil},
		{"no line end, spaces around names", "a , b\r\n1, 2", Options{}, []float32{1, 2}, []string{"a", "b"}, nil},
		{"UTF-16 by its mark", "\xff\xfea\x00\n\x007\x00", Options{}, []float32{7}, []string{"a"}, nil},
		{"UTF-16 by its mark, big", "\xfe\xff\x00a\x00\n\x007", Options{}, []float32{7}, []string{"a"}, nil},
		{"one column", "a\n1\n2\n", Options{}, []float32{1, 2}, []string{"a"}, nil},
		{"gaps", "a,label\n1,3.0\n2,\n3,nan\n", Options{}, []float32{1, 2, 3}, []string{"a"}, []string{"3", "", ""}},
		{"names", "a,label\n1,3.0\n2,x\n", Options{}, []float32{1, 2}, []string{"a"}, []string{"3.0", "x"}},
		{"labels not asked for", "a,label\n1,3\n", Options{NoLabels: true}, []float32{1}, []string{"a"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := read("t", tc.text, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Features.Data, tc.features) || !slices.Equal(got.Columns, tc.columns) || !slices.Equal(got.Labels, tc.labels) {
				t.Errorf("features %v of %q, labels %q; want %v of %q, %q",
					got.Features.Data, got.Columns, got.Labels, tc.features, tc.columns, tc.labels)
			}
		})
	}
}

func TestColumnarErrors(t *testing.T) {
	for _, ext := range []string{".arrow", ".arrows", ".parquet"} {
		file := filepath.Join(oracle, "vectors"+ext)
		_, several := Open(t.Context(), file, Options{})
		_, strs := Open(t.Context(), file, Options{Columns: []string{"utf8"}})
		_, absent := Open(t.Context(), file, Options{Columns: []string{"nothing"}})
		_, label := Open(t.Context(), file, Options{Columns: []string{"half"}, Label: "list"})
		wantError(t, several, "has several columns of lists (fixed32, fixed64, half, list, large): name the one with the features")
		wantError(t, strs, `column "utf8": has type utf8: features must be numbers, or lists of numbers`)
		wantError(t, absent, `has no column "nothing"`)
		wantError(t, label, `column "list": has type`)
	}
	stream := oracleFile(t, "stream.arrows")
	_, err := Read(t.Context(), bytes.NewReader(stream[:len(stream)-8]), "stream.arrows", Options{})
	if err == nil || strings.Count(err.Error(), "stream.arrows") != 1 {
		t.Errorf("error %v: must name the input once", err)
	}
}

// A header with a wrong size takes no memory.
func TestLyingHeader(t *testing.T) {
	idx := "\x00\x00\x0e\x02\x00\x01\x00\x00\x00\x00\x40\x00" // 65,536 × 16,384 float64
	text := npy("{'descr': '<f8', 'fortran_order': True, 'shape': (65536, 16384), }", strings.Repeat("\x00", 800))
	strs := npy("{'descr': '<U10000', 'fortran_order': False, 'shape': (1000000000,), }", "")
	for _, read := range []func() error{
		func() error { _, err := read("a.idx", idx, Options{}); return err },
		func() error { _, err := read("a.npy", text, Options{}); return err },
		func() error { _, err := readArrayLabels(readNPY(strings.NewReader(strs), nil)); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		wantError(t, read(), "is truncated: its header announces 10")
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
			t.Errorf("%d bytes were allocated for a header", grown)
		}
	}
}

// A damaged gzip member is an error even if its text can be parsed.
func TestDamagedGzip(t *testing.T) {
	var data bytes.Buffer
	w := gzip.NewWriter(&data)
	w.Write([]byte("a,b\n1,2\n"))
	w.Close()
	data.Bytes()[data.Len()-6] ^= 1
	_, err := Read(t.Context(), &data, "t.csv.gz", Options{})
	wantError(t, err, "t.csv.gz: is damaged (gzip: invalid checksum): copy or download it again")
}

// What follows the gzip data of a file is named as what it is. More members, and zeros,
// which gzip ignores, are right.
func TestAfterGzip(t *testing.T) {
	member := func(text string) string {
		var data bytes.Buffer
		w := gzip.NewWriter(&data)
		w.Write([]byte(text))
		w.Close()
		return data.String()
	}
	first, second := member("a,b\n1,2\n"), member("3,4\n")
	zeros := strings.Repeat("\x00", 700)
	for _, c := range []struct {
		text string
		rows int
		want string
	}{
		{first + second, 2, ""}, {first + zeros, 1, ""}, {first + zeros + second, 2, ""},
		{first + "x", 0, "has bytes after its gzip data that are not gzip"},
		{first + second + "\x1f", 0, "has bytes after its gzip data that are not gzip"},
		{first + strings.Repeat("garbage", 99), 0, "has bytes after its gzip data that are not gzip"},
		{first + zeros + "x", 0, "has bytes after its gzip data that are not gzip"},
		{first + second[:5], 0, "is truncated"}, {first[:len(first)-3], 0, "is truncated"},
	} {
		got, err := read("t.csv.gz", c.text, Options{})
		if c.want != "" {
			wantError(t, err, c.want)
		} else if err != nil || got.Features.Rows != c.rows {
			t.Errorf("%d bytes: %v, want %d rows", len(c.text), err, c.rows)
		}
	}
}

func TestTable(t *testing.T) {
	table, err := Open(t.Context(), filepath.Join(oracle, "frame.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Gather(t.Context(), []int{4, 0, 4})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Labels, []string{"2", "2", "2"}) || !slices.Equal(got.IDInts, []int64{15, 11, 15}) || got.IDNames != nil {
		t.Errorf("labels %q, ids %v %q", got.Labels, got.IDInts, got.IDNames)
	}
	got.Row(0)[0] = 99
	if got.Features.Rows != 3 || !slices.Equal(got.Row(1), table.Row(0)) || table.Row(4)[0] == 99 {
		t.Errorf("features %v", got.Features)
	}
	if err := table.Reshape([]int{1, 1, 3}); err != nil || !slices.Equal(table.Shape, []int{1, 1, 3}) {
		t.Errorf("shape %v, %v", table.Shape, err)
	}
	wantError(t, table.Reshape([]int{1, 2, 2}), "frame.csv: shape [1 2 2] needs another number of features than the 3 of a row")
	wantError(t, table.Reshape([]int{-1, -3}), "needs another number")
}

func TestClasses(t *testing.T) {
	for _, tc := range []struct{ labels, want []string }{
		{[]string{"10", "2", "", "-1", "2"}, []string{"-1", "2", "10"}},
		{[]string{"10", "2", "x"}, []string{"10", "2", "x"}},
		{[]string{"02", "2", "1"}, []string{"1", "02", "2"}},
		{[]string{"", ""}, nil},
		{[]string{strings.Repeat("9", 30), "1"}, []string{"1", strings.Repeat("9", 30)}},
	} {
		if got := Classes(tc.labels); !slices.Equal(got, tc.want) {
			t.Errorf("Classes(%q) = %q, want %q", tc.labels, got, tc.want)
		}
	}
}

func TestIndex(t *testing.T) {
	classes := []string{"a", "b"}
	got, err := Index([]string{"b", "", "a"}, classes, origin{}.Place)
	if err != nil || !slices.Equal(got, []int32{1, -1, 0}) {
		t.Errorf("%v, %v", got, err)
	}
	_, err = Index([]string{"b", "c"}, classes, origin{}.Place)
	wantError(t, err, `row 2: class "c" is not among the source's classes (a, b)`)
}

func TestSelect(t *testing.T) {
	labels := []string{"b", "", "a", "c", "b"}
	got, err := Select(labels, []string{"c", "b"})
	if err != nil || !slices.Equal(got, []int{0, 3, 4}) {
		t.Errorf("%v, %v", got, err)
	}
	_, err = Select(labels, []string{"a", "d"})
	wantError(t, err, `class "d" has no rows (the classes are a, b, c): select classes that are there`)
}

// TestRealData reads the files that the experiments use.
func TestRealData(t *testing.T) {
	data := os.Getenv("MARS_DATA")
	if data == "" {
		t.Skip("MARS_DATA is not set: it names the folder that holds mnist/, usps/ and hipc/")
	}
	for _, tc := range []struct {
		pattern        string
		rows           int // 0: any
		shape          []int
		classes, first string
		largest        float32
	}{
		{"mnist/*train-images*", 60000, []int{1, 28, 28}, "0 1 2 3 4 5 6 7 8 9", "5", 255},
		{"mnist/*t10k-images*", 10000, []int{1, 28, 28}, "0 1 2 3 4 5 6 7 8 9", "7", 255},
		{"usps/*train*", 7291, []int{1, 16, 16}, "0 1 2 3 4 5 6 7 8 9", "6", 0},
		{"usps/*test*", 2007, []int{1, 16, 16}, "0 1 2 3 4 5 6 7 8 9", "9", 0},
		{"hipc/*", 0, []int{7}, "1 2 3 4 5 6 7 8 9 10", "", 0},
	} {
		files, err := filepath.Glob(filepath.Join(data, tc.pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", tc.pattern, err)
		}
		for _, file := range files {
			got, err := Open(t.Context(), file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if tc.rows != 0 && got.Features.Rows != tc.rows {
				t.Errorf("%s: %d rows, want %d", file, got.Features.Rows, tc.rows)
			}
			classes := strings.Join(Classes(got.Labels), " ")
			if !slices.Equal(got.Shape, tc.shape) || classes != tc.classes || got.Largest != tc.largest {
				t.Errorf("%s: shape %v, classes %s, largest %v", file, got.Shape, classes, got.Largest)
			}
			if tc.first != "" && got.Labels[0] != tc.first {
				t.Errorf("%s: first label %s, want %s", file, got.Labels[0], tc.first)
			}
			if slices.Max(got.Features.Data) <= 0 || math.IsInf(float64(slices.Max(got.Features.Data)), 0) {
				t.Errorf("%s: features are blank", file)
			}
		}
	}
}
