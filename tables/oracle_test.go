package tables

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/internal/race"
)

const (
	oracle  = "../testdata/oracle/featurize"
	formats = "../testdata/oracle/formats" // a table of formats and programs that write them
)

// An oracleCase holds the expected content of a file that another tool wrote.
type oracleCase struct {
	File     string
	Format   string // and the program that wrote it, if it is one of formats
	Writer   string
	Options  Options
	Features [][]float64
	Shape    []int
	Labels   []string
	Columns  []string
	Skipped  []string
	IDs      []int64  `json:"ids"`
	IDNames  []string `json:"id_names"`
	Largest  float32
}

// oracleCases are those of both folders, with the path in File.
func oracleCases(t testing.TB) (all []oracleCase) {
	t.Helper()
	for _, folder := range []string{oracle, formats} {
		text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var cases []oracleCase
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatal(err)
		}
		if len(cases) == 0 {
			t.Fatal("no cases")
		}
		for _, c := range cases {
			c.File = filepath.Join(folder, c.File)
			if c.Options.Labels != "" {
				c.Options.Labels = filepath.Join(folder, c.Options.Labels)
			}
			all = append(all, c)
		}
	}
	return all
}

// The files are written by NumPy, pandas, pyarrow and polars, see generate.py
// next to them.
func TestOracle(t *testing.T) {
	for _, tc := range oracleCases(t) {
		t.Run(fmt.Sprintf("%s %+v", filepath.Base(tc.File), tc.Options), func(t *testing.T) {
			got, err := Open(t.Context(), tc.File, tc.Options)
			if err != nil {
				t.Fatal(err)
			}
			tc.check(t, got)
		})
	}
}

func (tc oracleCase) check(t *testing.T, got *Table) {
	t.Helper()
	if got.Features.Rows != len(tc.Features) || got.Features.Cols != len(tc.Features[0]) || !slices.Equal(got.Shape, tc.Shape) {
		t.Fatalf("%d×%d of shape %v, want %d×%d of %v", got.Features.Rows, got.Features.Cols, got.Shape,
			len(tc.Features), len(tc.Features[0]), tc.Shape)
	}
	for i, want := range tc.Features {
		for j, v := range got.Row(i) {
			if v != float32(want[j]) {
				t.Fatalf("row %d, feature %d: %v, want %v", i, j, v, want[j])
			}
		}
	}
	if !slices.Equal(got.Labels, tc.Labels) || (got.Labels == nil) != (tc.Labels == nil) {
		t.Errorf("labels %q, want %q", got.Labels, tc.Labels)
	}
	if !slices.Equal(got.IDInts, tc.IDs) || !slices.Equal(got.IDNames, tc.IDNames) {
		t.Errorf("ids %v %q, want %v %q", got.IDInts, got.IDNames, tc.IDs, tc.IDNames)
	}
	if tc.Columns != nil && !slices.Equal(got.Columns, tc.Columns) {
		t.Errorf("columns %q, want %q", got.Columns, tc.Columns)
	}
	var skipped []string
	for _, s := range got.Skipped {
		skipped = append(skipped, s.Name)
	}
	if !slices.Equal(skipped, tc.Skipped) {
		t.Errorf("skipped %q, want %q", skipped, tc.Skipped)
	}
	if tc.Largest != 0 && got.Largest != tc.Largest {
		t.Errorf("largest %v, want %v", got.Largest, tc.Largest)
	}
}

// Every file reads the same from a pipe, which has no random access.
func TestOraclePiped(t *testing.T) {
	for _, tc := range oracleCases(t) {
		if tc.Options.Labels != "" || strings.Contains(tc.File, ":") || strings.HasPrefix(filepath.Base(tc.File), "train-") {
			continue // these need other files, which only Open can find
		}
		data, err := os.ReadFile(tc.File)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(t.Context(), bytes.NewBuffer(data), tc.File, tc.Options)
		if err != nil {
			t.Fatal(err)
		}
		tc.check(t, got)
	}
}

// A file that is cut off anywhere is an error.
func TestTruncated(t *testing.T) {
	for _, name := range []string{
		"plain.npy", "version2.npy", "zipped.npy.gz", "plain.npz", "train-images-idx3-ubyte", "digits.gz",
		"stream.arrows", "stream.arrow", "snappy.parquet", "frame.csv.gz",
		"../formats/frame.csv.zst", "../formats/frame.csv.bz2", "../formats/frame.csv.xz", "../formats/frame.csv.lz4",
		"../formats/log.fcs", "../formats/mixed.fcs", "../formats/floats.fcs",
		"../formats/plain-false.mat", "../formats/plain-true.mat",
	} {
		data := oracleFile(t, name)
		var o Options
		if strings.HasSuffix(name, ".mat") { // which may end after any variable
			o.X, o.Y = "X", "y"
		}
		step := 1
		if race.Detector {
			step = 11
		}
		for cut := 0; cut < len(data); cut += step {
			if _, err := Read(t.Context(), bytes.NewReader(data[:cut]), name, o); err == nil {
				t.Errorf("%s cut to %d of %d bytes was read without an error", name, cut, len(data))
			}
		}
	}
}
