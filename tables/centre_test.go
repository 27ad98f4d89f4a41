package tables

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// columnsOf writes columns of n float64 or int64 as files of many kinds.
func columnsOf(t *testing.T, whole bool, columns ...[]float64) map[string]string {
	var csv, lines, vectors strings.Builder
	csv.WriteString("x,y\n")
	var rows, byColumn bytes.Buffer
	kind := "<f8"
	put := func(b *bytes.Buffer, v float64) { binary.Write(b, binary.LittleEndian, v) }
	if whole {
		kind = "<i8"
		put = func(b *bytes.Buffer, v float64) { binary.Write(b, binary.LittleEndian, int64(v)) }
	}
	n := len(columns[0])
	for i := range n {
		fmt.Fprintf(&csv, "%v,%v\n", number(columns[0][i]), number(columns[1][i]))
		fmt.Fprintf(&lines, `{"x": %v, "y": %v}`+"\n", number(columns[0][i]), number(columns[1][i]))
		fmt.Fprintf(&vectors, `{"v": [%v, %v]}`+"\n", number(columns[0][i]), number(columns[1][i]))
		put(&rows, columns[0][i])
		put(&rows, columns[1][i])
	}
	for _, c := range columns {
		for _, v := range c {
			put(&byColumn, v)
		}
	}
	header := func(fortran string) string {
		return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%d, 2)}", kind, fortran, n)
	}
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	member, err := z.Create("X.npy")
	if err != nil {
		t.Fatal(err)
	}
	member.Write([]byte(npy(header("False"), rows.String())))
	z.Close()
	files := map[string]string{
		"x.csv": csv.String(), "x.jsonl": lines.String(), "vectors.jsonl": vectors.String(), "x.npz": zipped.String(),
		"x.npy": npy(header("False"), rows.String()), "fortran.npy": npy(header("True"), byColumn.String()),
	}
	fields := []arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}
	if whole {
		fields[0].Type, fields[1].Type = arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for j, c := range columns {
		for _, v := range c {
			if whole {
				b.Field(j).(*array.Int64Builder).Append(int64(v))
			} else {
				b.Field(j).(*array.Float64Builder).Append(v)
			}
		}
	}
	rec := b.NewRecord()
	table := array.NewTableFromRecords(rec.Schema(), []arrow.Record{rec})
	var stored, streamed bytes.Buffer
	if err := pqarrow.WriteTable(table, &stored, 1000, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps()); err != nil {
		t.Fatal(err)
	}
	w := ipc.NewWriter(&streamed, ipc.WithSchema(rec.Schema()))
	w.Write(rec)
	w.Close()
	files["x.parquet"], files["x.arrows"] = stored.String(), streamed.String()
	return files
}

func number(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprint(v)
}

// centreAt is what was taken off column j.
func centreAt(t *Table, j int) float64 {
	switch {
	case t.Fields != nil:
		return t.Fields[j].Centre
	case t.Centres != nil:
		return t.Centres[j]
	}
	return 0
}

// Whatever the format, nothing of a number is lost that float32 would lose, and what is taken
// off is taken off other rows too.
func TestCentres(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 5000
	for name, at := range map[string]float64{"seconds": 1.7e9, "microseconds": 1.7e15, "before": -1.7e9} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = at+float64(r.IntN(250)), at+float64(80*r.IntN(3))
		}
		later := [][]float64{{at + 1000}, {at - 7}}
		others := columnsOf(t, true, later...)
		for file, text := range columnsOf(t, true, x, y) {
			for _, mixed := range []bool{true, false} {
				got, err := Read(context.Background(), strings.NewReader(text), file, Options{Mixed: mixed})
				if err != nil {
					t.Fatal(name, file, err)
				}
				for i := range n {
					if row := got.Row(i); float64(row[0])+centreAt(got, 0) != x[i] || float64(row[1])+centreAt(got, 1) != y[i] {
						t.Fatalf("%s, %s: row %d is %v with centres %v and %v, want %v and %v", name, file, i, row, centreAt(got, 0), centreAt(got, 1), x[i], y[i])
					}
				}
				o := Options{Mixed: got.Fields != nil, Fields: got.Fields, Centres: append([]float64{}, got.Centres...)}
				next, err := Read(context.Background(), strings.NewReader(others[file]), file, o)
				if err != nil {
					t.Fatal(name, file, err)
				}
				if row := next.Row(0); float64(row[0])+centreAt(got, 0) != later[0][0] || float64(row[1])+centreAt(got, 1) != later[1][0] || centreAt(next, 0) != centreAt(got, 0) {
					t.Errorf("%s, %s: another row is %v, want %v", name, file, row, later)
				}
			}
		}
	}
}

func TestCentresOfDoubles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 3000
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 1e9+r.NormFloat64(), r.NormFloat64()
	}
	for file, text := range columnsOf(t, false, x, y) {
		got, err := Read(context.Background(), strings.NewReader(text), file, Options{})
		if err != nil {
			t.Fatal(file, err)
		}
		for i := range n {
			if row := got.Row(i); math.Abs(float64(row[0])+centreAt(got, 0)-x[i]) > 1e-6 || row[1] != float32(y[i]) {
				t.Fatalf("%s: row %d is %v with centre %v, want %v and %v", file, i, row, centreAt(got, 0), x[i], y[i])
			}
		}
		if whole, err := Read(context.Background(), strings.NewReader(text), file, Options{Whole: true}); err != nil || centreAt(whole, 0) != 0 || !strings.Contains(whole.Doubt, "the values are so close together") {
			t.Errorf("%s: numbers that are to stay whole: %v, %q", file, err, whole.Doubt)
		}
	}
}

func TestCentreOf(t *testing.T) {
	jitter := func(v, by float64) []float64 { return []float64{v, v + by, v + 2*by, v + 3*by, v} }
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{math.NaN(), math.Inf(1), 1e300}, 0},
		{[]float64{0, 128, 255}, 0},
		{[]float64{2019, 2020, 2021}, 0},
		{jitter(0.1, 1e-17), 0},
		{jitter(1e6, 1e-9), 0},
		{jitter(1e6, 1), 1e6 + 1},
		{jitter(1e6, 100), 0},
		{[]float64{1.7e9}, 1.7e9},
		{[]float64{7, 7, 7}, 0},
		{[]float64{1e9, 1e9, 1e9, 1e9, 1e9 + 80}, 1e9},
		{[]float64{0, math.NaN(), 1.7e9, 1.7e9 + 80, 1.7e9 + 80, 1.7e9 + 160, 1.7e9 + 160, 1.7e9 + 160}, 1.7e9 + 80},
	} {
		if got := centreOf(c.values); got != c.want {
			t.Errorf("centreOf(%v) is %v, want %v", c.values, got, c.want)
		}
	}
}
