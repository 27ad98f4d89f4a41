package arrowio

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// oneColumn is a batch of one column "x" from JSON.
func oneColumn(t *testing.T, dt arrow.DataType, rows string) arrow.Record {
	t.Helper()
	col, _, err := array.FromJSON(allocator, dt, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return columnRecord(col)
}

func columnRecord(col arrow.Array) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: col.DataType(), Nullable: true}}, nil)
	return array.NewRecord(schema, []arrow.Array{col}, int64(col.Len()))
}

func TestIntColumn(t *testing.T) {
	want := Ints{Values: []int32{3, 0, -2}, Valid: []bool{true, false, true}}
	for _, dt := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64},
	} {
		got, err := IntColumn(oneColumn(t, dt, `[3, null, -2]`), "x")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v", dt, got, err)
		}
	}
	for _, dt := range []arrow.DataType{arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64} {
		got, err := IntColumn(oneColumn(t, dt, `[3, 7]`), "x")
		if err != nil || !reflect.DeepEqual(got, Ints{Values: []int32{3, 7}}) {
			t.Errorf("%s: got %v, %v", dt, got, err)
		}
	}
	got, err := IntColumn(oneColumn(t, arrow.FixedWidthTypes.Boolean, `[true, null, false]`), "x")
	if err != nil || !reflect.DeepEqual(got, Ints{[]int32{1, 0, 0}, []bool{true, false, true}}) {
		t.Errorf("booleans: got %v, %v", got, err)
	}
	// pandas writes labels with gaps as floats with NaN
	b := array.NewFloat64Builder(allocator)
	b.AppendValues([]float64{3, math.NaN(), -2}, nil)
	if got, err := IntColumn(columnRecord(b.NewArray()), "x"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("NaN: got %v, %v", got, err)
	}
	if got, err := IntColumn(oneColumn(t, arrow.Null, `[null]`), "x"); err != nil || !got.Null(0) {
		t.Errorf("null: got %v, %v", got, err)
	}
}

func TestIntColumnRefuses(t *testing.T) {
	for _, c := range []struct {
		dt   arrow.DataType
		rows string
		want string
	}{
		{arrow.PrimitiveTypes.Float64, `[1, 1.5]`, `column "x": row 2: 1.5 is not a whole number`},
		{arrow.PrimitiveTypes.Int64, `[3000000000]`, `row 1: 3000000000 is not a whole number in the range of int32`},
		{arrow.PrimitiveTypes.Uint32, `[4294967295]`, `row 1`},
		{arrow.BinaryTypes.String, `["1"]`, `has type utf8: must be an integer`},
	} {
		if _, err := IntColumn(oneColumn(t, c.dt, c.rows), "x"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.dt, err, c.want)
		}
	}
	b := array.NewFloat64Builder(allocator)
	b.AppendValues([]float64{math.Inf(1)}, nil)
	if _, err := IntColumn(columnRecord(b.NewArray()), "x"); err == nil {
		t.Error("an infinite label is taken")
	}
}

func TestMissingAndDoubleColumns(t *testing.T) {
	rec := sampleRecord(t, 1)
	if _, err := IntColumn(rec, "y"); err == nil || !strings.Contains(err.Error(), `column "y": is missing (the columns are id, domain, label, features)`) {
		t.Errorf("got %v", err)
	}
	two := array.NewRecord(arrow.NewSchema([]arrow.Field{rec.Schema().Field(0), rec.Schema().Field(0)}, nil), []arrow.Array{rec.Column(0), rec.Column(0)}, 1)
	if _, err := IntColumn(two, "id"); err == nil || !strings.Contains(err.Error(), "is there 2 times") {
		t.Errorf("got %v", err)
	}
}

func TestVectorColumn(t *testing.T) {
	for _, element := range []arrow.DataType{
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int64,
	} {
		for _, dt := range []arrow.DataType{arrow.ListOf(element), arrow.LargeListOf(element), arrow.FixedSizeListOf(2, element), arrow.ListViewOf(element)} {
			rec := oneColumn(t, dt, `[[0, 0], [1, 2], [3, 4], [5, 6], [0, 0]]`)
			got, err := VectorColumn(rec.NewSlice(1, 4), "x")
			if err != nil || got.Rows != 3 || got.Width != 2 || !reflect.DeepEqual(got.Data, []float32{1, 2, 3, 4, 5, 6}) {
				t.Errorf("%s: got %v, %v", dt, got, err)
			}
			if row := got.Row(1); row[0] != 3 || row[1] != 4 {
				t.Errorf("%s: row 1 is %v", dt, row)
			}
		}
	}
	if got, err := VectorColumn(oneColumn(t, arrow.PrimitiveTypes.Float64, `[1, 2]`), "x"); err != nil || got.Width != 1 || got.Rows != 2 {
		t.Errorf("floats: got %v, %v", got, err)
	}
	if got, err := VectorColumn(oneColumn(t, VectorType(4), `[]`), "x"); err != nil || got.Width != 4 || got.Rows != 0 {
		t.Errorf("no rows: got %v, %v", got, err)
	}
}

func TestVectorColumnIsAView(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, 6}
	rec := columnRecord(NewVectorArray(Vectors{Data: data, Rows: 3, Width: 2}))
	got, err := VectorColumn(rec.NewSlice(1, 3), "x")
	if err != nil || &got.Data[0] != &data[2] {
		t.Errorf("a copy was made (%v)", err)
	}
}

func TestVectorColumnRefuses(t *testing.T) {
	list := arrow.ListOf(arrow.PrimitiveTypes.Float32)
	for _, c := range []struct {
		dt   arrow.DataType
		rows string
		want string
	}{
		{list, `[[1, 2], null]`, `column "x": row 2: is null`},
		{VectorType(2), `[[1, 2], null]`, `column "x": row 2: is null`},
		{list, `[[1, 2], [1, 2], [1]]`, `row 3: has 1 elements, and the first row 2`},
		{list, `[[1, 2], [1, null]]`, `row 2: element 2 is null`},
		{list, `[[null, 2], [1, 2]]`, `row 1: element 1 is null`},
		{list, `[null, [1, 2]]`, `row 1: is null`},
		{arrow.ListOf(arrow.BinaryTypes.String), `[["a"]]`, `must be lists of numbers`},
		{arrow.BinaryTypes.String, `["a"]`, `has type utf8: must be lists of numbers`},
		{arrow.PrimitiveTypes.Float64, `[1e300]`, `row 1: element 1 is +Inf`},
	} {
		if _, err := VectorColumn(oneColumn(t, c.dt, c.rows), "x"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.rows, err, c.want)
		}
	}
	nan := columnRecord(NewVectorArray(Vectors{Data: []float32{1, 2, 3, float32(math.NaN())}, Rows: 2, Width: 2}))
	if _, err := VectorColumn(nan, "x"); err == nil || !strings.Contains(err.Error(), "row 2: element 2 is NaN") {
		t.Errorf("got %v", err)
	}
}

func TestFloatColumn(t *testing.T) {
	got, err := FloatColumn(oneColumn(t, arrow.PrimitiveTypes.Float64, `[1, 2.5]`), "x")
	if err != nil || !reflect.DeepEqual(got, []float32{1, 2.5}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := FloatColumn(oneColumn(t, arrow.PrimitiveTypes.Float64, `[1, null]`), "x"); err == nil || !strings.Contains(err.Error(), "row 2: is null") {
		t.Errorf("got %v", err)
	}
	nan := columnRecord(NewFloatArray([]float32{float32(math.Inf(-1))}))
	if _, err := FloatColumn(nan, "x"); err == nil || !strings.Contains(err.Error(), "row 1: is -Inf") {
		t.Errorf("got %v", err)
	}
}

// All types of numbers are read as float32, and as float64 where that holds more, with NaN for null.
func TestFloatsOfAllTypes(t *testing.T) {
	types, nan := arrow.PrimitiveTypes, math.NaN()
	for _, c := range []struct {
		dt      arrow.DataType
		doubles bool
	}{
		{types.Int8, false}, {types.Int16, false}, {types.Int32, true}, {types.Int64, true},
		{types.Uint8, false}, {types.Uint16, false}, {types.Uint32, true}, {types.Uint64, true},
		{arrow.FixedWidthTypes.Float16, false}, {types.Float32, false}, {types.Float64, true},
	} {
		rec := oneColumn(t, c.dt, `[3, null, 100, 7]`).NewSlice(1, 4)
		if got, err := Floats(rec, "x"); err != nil || fmt.Sprint(got) != "[NaN 100 7]" {
			t.Errorf("%s: got %v, %v", c.dt, got, err)
		}
		var want []float64
		if c.doubles {
			want = []float64{nan, 100, 7}
		}
		if got := Doubles(rec, "x"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: doubles %v, want %v", c.dt, got, want)
		}
		if got, err := FloatColumnWithGaps(rec, "x"); err != nil || fmt.Sprint(got) != "[NaN 100 7]" {
			t.Errorf("%s: with gaps %v, %v", c.dt, got, err)
		}
		vectors := oneColumn(t, arrow.FixedSizeListOf(2, c.dt), `[[1, 2], [3, null], [5, 6]]`).NewSlice(1, 3)
		if got := Doubles(vectors, "x"); c.doubles && fmt.Sprint(got) != "[3 NaN 5 6]" || !c.doubles && len(got) > 0 {
			t.Errorf("vectors of %s: doubles %v", c.dt, got)
		}
	}
	if got := Doubles(oneColumn(t, arrow.BinaryTypes.String, `["a"]`), "x"); got != nil {
		t.Errorf("of text: %v", got)
	}
}

// The first value that is no finite number is found wherever it is, in columns of any length.
func TestFirstNonFinite(t *testing.T) {
	for n := range 70 {
		values := make([]float32, n)
		for i := range values {
			values[i] = math.MaxFloat32 * float32(1-2*(i%2))
		}
		if at := firstNonFinite(values); at != -1 {
			t.Fatalf("%d finite values: found at %d", n, at)
		}
		for i := n - 1; i >= 0; i-- {
			values[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[i%3]
			if at := firstNonFinite(values); at != i {
				t.Fatalf("%d values from %d on: found at %d", n, i, at)
			}
		}
	}
}

var stringTypes = []arrow.DataType{
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
}

func TestStringColumns(t *testing.T) {
	for _, dt := range stringTypes {
		rec := oneColumn(t, dt, `["source", null, "target", "target"]`)
		got, err := StringColumn(rec, "x")
		if err != nil || !reflect.DeepEqual(got, Strings{[]string{"source", "", "target", "target"}, []bool{true, false, true, true}}) {
			t.Errorf("%s: got %v, %v", dt, got, err)
		}
		domains, err := DomainColumn(rec.NewSlice(2, 4), "x")
		if err != nil || !reflect.DeepEqual(domains, []Domain{TargetDomain, TargetDomain}) {
			t.Errorf("%s: got %v, %v", dt, domains, err)
		}
		if _, err := DomainColumn(rec, "x"); err == nil || !strings.Contains(err.Error(), "row 2: is null") {
			t.Errorf("%s: got %v", dt, err)
		}
		labels, err := LabelColumn(rec, "x", []string{"target", "source"})
		if err != nil || !reflect.DeepEqual(labels, Ints{[]int32{1, 0, 0, 0}, []bool{true, false, true, true}}) {
			t.Errorf("%s: got %v, %v", dt, labels, err)
		}
		if _, err := LabelColumn(rec, "x", []string{"source"}); err == nil || !strings.Contains(err.Error(), `row 3: class "target" is not among`) {
			t.Errorf("%s: got %v", dt, err)
		}
	}
	if _, err := DomainColumn(oneColumn(t, arrow.BinaryTypes.String, `["Source"]`), "x"); err == nil || !strings.Contains(err.Error(), `row 1: is "Source"`) {
		t.Errorf("got %v", err)
	}
	if got, err := LabelColumn(oneColumn(t, arrow.PrimitiveTypes.Int64, `[1]`), "x", nil); err != nil || got.Values[0] != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAppendColumns(t *testing.T) {
	rec := sampleRecord(t, 3)
	weight := arrow.Field{Name: "weight", Type: arrow.PrimitiveTypes.Float32}
	label := arrow.Field{Name: "label", Type: arrow.PrimitiveTypes.Int32}
	schema := WithColumns(rec.Schema(), weight, label)
	if got := fieldNames(schema); got != "id, domain, label, features, weight" {
		t.Errorf("columns are %s", got)
	}
	if !HasColumn(schema, "weight") || HasColumn(rec.Schema(), "weight") {
		t.Error("HasColumn")
	}
	labels := NewIntArray([]int32{7, 8, 9}, nil)
	out, err := AppendColumns(rec, schema, Column{"label", labels}, Column{"weight", NewFloatArray([]float32{1, 2, 3})})
	if err != nil {
		t.Fatal(err)
	}
	if out.Column(2) != labels || out.Column(0) != rec.Column(0) || out.NumCols() != 5 {
		t.Errorf("got %v", out)
	}
	if m, err := ReadMeta(out.Schema()); err != nil || len(m.Classes) != 3 {
		t.Errorf("metadata %v, %v", m, err)
	}
	for _, bad := range []Column{{"weight", NewFloatArray([]float32{1})}, {"weight", labels}, {"weigth", labels}} {
		if _, err := AppendColumns(rec, schema, bad); err == nil {
			t.Errorf("%s: taken", bad.Name)
		}
	}
	if _, err := AppendColumns(rec, schema); err == nil {
		t.Error("a missing column is taken")
	}
}

func TestMeta(t *testing.T) {
	user := arrow.NewMetadata([]string{"pandas", "mars.classes"}, []string{"{}", `["old"]`})
	schema := arrow.NewSchema(sampleRecord(t, 1).Schema().Fields(), &user)
	want := Meta{
		Classes: []string{"a", "b"}, SourceProportions: []float64{0.5, 0.5}, TargetProportions: []float64{0.9, 0.1},
		Provenance:  []Step{{Command: []string{"mars-embed"}, Version: "1", Seed: 3, State: map[string]string{"m": "abc"}}},
		Diagnostics: json.RawMessage(`{"warnings":[]}`),
	}
	schema = want.Apply(schema)
	got, err := ReadMeta(schema)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if meta := schema.Metadata(); meta.FindKey("pandas") < 0 || meta.Len() != 6 {
		t.Errorf("metadata %v", meta)
	}
	if meta := (Meta{}).Apply(schema).Metadata(); fmt.Sprint(meta.Keys()) != "[pandas]" {
		t.Errorf("metadata %v", meta)
	}
	bad := arrow.NewMetadata([]string{"mars.classes"}, []string{"no JSON"})
	if _, err := ReadMeta(arrow.NewSchema(nil, &bad)); err == nil || !strings.Contains(err.Error(), "mars.classes") {
		t.Errorf("got %v", err)
	}
}

// A step without a stage is none, and a longer list leaves the shorter as it was.
func TestWithStep(t *testing.T) {
	steps := make([]Step, 1, 2)
	steps[0].Stage = "a"
	if got := WithStep(steps, Step{Version: "1"}); len(got) != 1 {
		t.Errorf("a step without a stage was added: %v", got)
	}
	b, c := WithStep(steps, Step{Stage: "b"}), WithStep(steps, Step{Stage: "c"})
	if b[1].Stage != "b" || c[1].Stage != "c" {
		t.Errorf("the steps are %v and %v", b, c)
	}
}

// Each says of which input a row is, and counts rows through all batches.
func TestEachPlacesRows(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "truth", Type: arrow.BinaryTypes.String}}, nil)
	batch := func(words ...string) arrow.Record {
		b := array.NewRecordBuilder(allocator, schema)
		defer b.Release()
		b.Field(0).(*array.StringBuilder).AppendValues(words, nil)
		return b.NewRecord()
	}
	src := NewBatches("rows.arrow", schema, batch("a", "b"), batch("a", "c"))
	err := Each(t.Context(), src, func(rec arrow.Record) error {
		_, err := LabelColumn(rec, "truth", []string{"a", "b"})
		return err
	})
	want := `rows.arrow: column "truth": row 4: class "c" is not among the 2 known (metadata mars.classes): name the classes there in order, or use indices`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
