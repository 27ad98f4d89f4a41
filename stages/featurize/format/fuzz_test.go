package format

import (
	"bytes"
	"math"
	"testing"
)

// checkFuzzed reads arbitrary bytes. If that is no error, the table must be
// consistent.
func checkFuzzed(t *testing.T, data []byte, name string, o Options) {
	t.Helper()
	got, err := Read(t.Context(), bytes.NewReader(data), name, o)
	if err != nil {
		return
	}
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

func seed(f *testing.F, names ...string) {
	f.Helper()
	for _, name := range names {
		f.Add(oracleFile(f, name))
	}
}

func FuzzIDX(f *testing.F) {
	seed(f, "train-images-idx3-ubyte", "typeb.idx", "typee.idx", "digits.gz")
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a", Options{})
		_, _ = readArrayLabels(readIDX(bytes.NewReader(data), nil))
	})
}

func FuzzNPY(f *testing.F) {
	seed(f, "plain.npy", "version2.npy", "labels.npy")
	f.Add([]byte(npy("{'descr': '>U2', 'fortran_order': True, 'shape': (2,), }", "\x00\x00\x00a\x00\x00\x00b\x00\x00\x00c\x00\x11\x00\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.npy", Options{})
		_, _ = readArrayLabels(readNPY(bytes.NewReader(data), nil))
	})
}

func FuzzNPZ(f *testing.F) {
	seed(f, "plain.npz", "types.npz")
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.npz", Options{})
	})
}

func FuzzText(f *testing.F) {
	seed(f, "frame.csv", "semicolon.csv", "frame.tsv", "gaps.csv", "index.csv")
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a.csv", Options{})
		checkFuzzed(t, data, "a", Options{Label: "name", Columns: []string{"a"}, Separator: ';'})
	})
}

// FuzzColumnar changes Parquet and Arrow files.
func FuzzColumnar(f *testing.F) {
	seed(f, "none.parquet", "polars.parquet", "stream.arrows", "stream.arrow")
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data, "a", Options{})
	})
}
