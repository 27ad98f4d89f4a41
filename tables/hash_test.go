package tables

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// The values are those of sklearn.utils.murmurhash3_32(text, 0, positive=True).
func TestMurmur3(t *testing.T) {
	for text, want := range map[string]uint32{"0": 3530670207, "12": 4191350549, "123": 2662625771, "1234": 1914461635, "12345": 329585043, "123456": 3210799800, "1234567": 3085927159, "9223372036854775807": 177519188} {
		if got := murmur3([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// Inner products of rows stay as they are but for chance, which is the less the more features
// there are, and no less than theory has it.
func TestHashingKeepsInnerProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, long = 300, 40
	for _, n := range []int{64, 1024} {
		c := &sparseColumns{hash: n, row: make([]float64, n)}
		var sum, squares float64
		for range rows {
			common := rng.IntN(1e9)
			row := func() ([]float64, float64) {
				indices, values, norm := []int{common}, []float64{3}, 9.0
				for range long {
					indices, values = append(indices, rng.IntN(1e9)), append(values, rng.NormFloat64())
					norm += values[len(values)-1] * values[len(values)-1]
				}
				c.set(indices, values)
				return slices.Clone(c.row), norm
			}
			a, normA := row()
			b, normB := row()
			dot := 0.0
			for k := range a {
				dot += a[k] * b[k]
			}
			d := (dot - 9) / math.Sqrt(normA*normB/float64(n)) // about of deviation 1
			sum += d
			squares += d * d
		}
		mean, deviation := sum/rows, math.Sqrt(squares/rows)
		if math.Abs(mean) > 0.2 || deviation < 0.7 || deviation > 1.3 {
			t.Errorf("%d features: inner products are off by %.2f ± %.2f of what is expected", n, mean, deviation)
		}
	}
}

// Whether features are hashed, and to how many, depends on the largest index of the file that
// is learnt from, and is known from the names of its columns.
func TestWideSVMLight(t *testing.T) {
	const (
		narrow, wide = "1 1:1 7:2\n2 3:1\n", "1 1:1 90210:2\n2 3:1\n"
		left         = "features above 16384 that were not asked for are left out"
	)
	sum := func(table *Table) (s float64) {
		for _, v := range table.Row(0) {
			s += math.Abs(float64(v))
		}
		return s
	}
	for _, tc := range []struct {
		text    string
		options Options
		columns string // the first and how many
		note    string
		sum     float64 // of the first row
	}{
		{narrow, Options{}, "1 7", "", 3},
		{wide, Options{}, "hash1/1024 1024", "has features up to 90210, and rows have up to 16384: they are hashed to 1024", 3},
		{narrow, Options{Hash: 50}, "hash1/50 50", "features are hashed to 50", 3},
		{narrow, Options{Columns: []string{"hash1/1024", "hash1024/1024"}}, "hash1/1024 2", "features are hashed to 1024", 0},
		{wide, Options{Fields: []Field{{Name: "3"}, {Name: "90210"}}}, "3 2", left, 2},
		{wide, Options{Columns: []string{"90210", "1"}}, "90210 2", left, 3},
		{wide, Options{Columns: []string{"1", "77777"}}, "1 2", left, 1},
		{"1 0:1 16384:2\n", Options{}, "0 16385", "", 3},
	} {
		got, err := read("t.svm", tc.text, tc.options)
		if err != nil {
			t.Errorf("%+v: %v", tc.options, err)
			continue
		}
		columns := fmt.Sprint(got.Columns[0], " ", len(got.Columns))
		if columns != tc.columns || !strings.HasPrefix(got.Note, tc.note) || (got.Note == "") != (tc.note == "") || sum(got) != tc.sum {
			t.Errorf("%q %+v: columns %s, note %q, sum %g", tc.text, tc.options, columns, got.Note, sum(got))
		}
	}
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("n.svm", []byte(narrow), 0o666), os.WriteFile("w.svm", []byte(wide), 0o666)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"n.svm,w.svm": "w.svm " + left, "w.svm,n.svm": "has features up to 90210"} {
		got, err := Open(t.Context(), path, Options{})
		if err != nil || !strings.HasPrefix(got.Note, want) || got.Features.Rows != 4 {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	_, err := read("t.svm", wide, Options{Hash: 8, Columns: []string{"1"}})
	wantError(t, err, "leave --columns out, or --hash-features")
	_, err = read("t.csv", "a,label\n1,2\n", Options{Hash: 8})
	wantError(t, err, "is a text table, and --hash-features is for svmlight files")
}
