package featurize

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/internal/prepared"
	"mars.dev/mars/tables"
)

// preparedOf is what a model says that learnt from a table of that text.
func preparedOf(t *testing.T, text string) string {
	t.Helper()
	o := Options{Source: SideOptions{Path: writeFile(t, t.TempDir(), "s.csv", text)}, Mixed: MixedOptions{}}
	env := stages.Env{Columns: arrowio.DefaultColumns()}
	st, err := o.recipe(&env)
	if err == nil {
		o.Mixed.MaxCategories = DefaultMaxCategories
		_, err = read(t.Context(), env, o, st)
	}
	if err != nil {
		t.Fatal(err)
	}
	is, err := st.text()
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// timedBatch has rows of a, b and the time, of which b is null in the rows without.
func timedBatch(without ...int) arrow.Record {
	ms := &arrow.TimestampType{Unit: arrow.Millisecond}
	number := arrow.PrimitiveTypes.Float64
	schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: ms}, {Name: "a", Type: number}, {Name: "b", Type: number, Nullable: true}}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	for i := range 5 {
		builder.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(1000 * i))
		builder.Field(1).(*array.Float64Builder).Append(float64(i))
		if slices.Contains(without, i) {
			builder.Field(2).(*array.Float64Builder).AppendNull()
		} else {
			builder.Field(2).(*array.Float64Builder).Append(0.5)
		}
	}
	return builder.NewRecord()
}

// seconds are those of a time as RFC 3339 has it.
func seconds(text string) (int64, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	return at.Unix(), err
}

func modelOf(t *testing.T, p prepared.Preparation) string {
	t.Helper()
	text, err := p.Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Of a batch the rows that can be read come in order, with their times, and each other one as an error with its number in the stream.
func TestLiveBatch(t *testing.T) {
	live, err := NewLive(modelOf(t, prepared.Preparation{Columns: []string{"a", "b"}}), tables.Options{}, "at", seconds)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	rows := func(r *LiveRows) (int, error) {
		for i := range r.Features.Rows {
			got = append(got, fmt.Sprintf("%v at %d", r.Features.Data[i*r.Features.Stride:][:r.Features.Cols], r.Times[i]))
		}
		return r.Features.Rows, nil
	}
	bad := func(err error) error {
		got = append(got, err.Error())
		return nil
	}
	if err := live.Batch(t.Context(), timedBatch(1, 4), "test", 100, rows, bad); err != nil {
		t.Fatal(err)
	}
	const null = `test: column "b": row %d: is null: fill or drop the row`
	if want := []string{"[0 0.5] at 0", fmt.Sprintf(null, 102), "[2 0.5] at 2", "[3 0.5] at 3", fmt.Sprintf(null, 105)}; !slices.Equal(got, want) {
		t.Errorf("it said %q", got)
	}
	if err := live.Batch(t.Context(), timedBatch().NewSlice(2, 2), "test", 0, nil, nil); err != nil {
		t.Errorf("of no rows: %v", err)
	}
	stop := errors.New("stop")
	if err := live.Batch(t.Context(), timedBatch(), "test", 0, func(*LiveRows) (int, error) { return 0, stop }, bad); err != stop {
		t.Errorf("the error of who takes the rows is lost: %v", err)
	}
	if err := live.Batch(t.Context(), timedBatch(0), "test", 0, rows, func(error) error { return stop }); err != stop {
		t.Errorf("the error of who takes the errors is lost: %v", err)
	}
}

// All rows lack a column, be they one: that is the error, with no row's number.
func TestLiveBatchLacksAColumn(t *testing.T) {
	live, err := NewLive(modelOf(t, prepared.Preparation{Columns: []string{"a", "c"}}), tables.Options{}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(err error) error { t.Errorf("a row is bad: %v", err); return nil }
	for rows := range int64(3) {
		err := live.Batch(t.Context(), timedBatch().NewSlice(0, 1+rows), "test", 7, nil, fail)
		if lacking := (*tables.MissingColumns)(nil); !errors.As(err, &lacking) || strings.Contains(err.Error(), "row") {
			t.Errorf("%d rows: %v", 1+rows, err)
		}
	}
}

// Columns that no model prepares are given as they are read. An error without a place gets that of its row.
func TestLiveBatchOfColumns(t *testing.T) {
	columns := LiveColumns{Read: func(rec arrow.Record) (x blas32.General, times []int64, err error) {
		b := rec.Column(2).(*array.Float64)
		for i := range b.Len() {
			if b.IsNull(i) {
				return x, nil, errors.New("there is no number")
			}
			x.Rows, x.Cols, x.Data, times = x.Rows+1, 1, append(x.Data, float32(b.Value(i))), append(times, int64(rec.Column(0).(*array.Timestamp).Value(i)))
		}
		return x, times, nil
	}}
	var got []string
	err := NewLiveColumns(columns, tables.Options{}).Batch(t.Context(), timedBatch(3), "test", 10, func(r *LiveRows) (int, error) {
		got = append(got, fmt.Sprint(r.Features.Data, r.Times))
		return r.Features.Rows, nil
	}, func(err error) error {
		got = append(got, err.Error())
		return nil
	})
	if want := []string{"[0.5 0.5] [0 1000]", "[0.5] [2000]", "test: row 14: there is no number", "[0.5] [4000]"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// Whatever a model does to rows stops with the context.
func TestLiveStopsWithItsContext(t *testing.T) {
	standard := &scale.Standard{Mean: []float64{0, 0}, Deviation: []float64{1, 1}}
	for name, text := range map[string]string{
		"features of columns": preparedOf(t, mixedTable(60, 0)),
		"a transform":         modelOf(t, prepared.Preparation{Columns: []string{"a", "b"}, Target: prepared.Side{Transform: &scale.Transform{Log1p: true}}}),
		"a scaling":           modelOf(t, prepared.Preparation{Columns: []string{"a", "b"}, Target: prepared.Side{Scaling: scale.Scaling{Standard: standard}}}),
	} {
		live, err := NewLive(text, tables.Options{}, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		table := "a,b,kind,day\n1,2,x,2024-01-03\n"
		contexttest.Stops(t, 1, func(ctx context.Context) error {
			rows, err := tables.Read(t.Context(), strings.NewReader(table), name, live.options)
			if err != nil {
				t.Fatal(name, err)
			}
			_, err = live.prepare(ctx, rows)
			return err
		})
	}
}

// What cannot be prepared is an error, wherever it is found.
func TestLiveErrors(t *testing.T) {
	if _, err := NewLive("{", tables.Options{}, "", nil); err == nil || !strings.HasPrefix(err.Error(), arrowio.PreparationKey+": ") {
		t.Errorf("a model that cannot be read: %v", err)
	}
	live, err := NewLive(modelOf(t, prepared.Preparation{Columns: []string{"a", "b"}, Target: prepared.Side{Transform: &scale.Transform{Log1p: true}}}), tables.Options{}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := live.Open(t.Context(), "none.csv"); err == nil || !strings.Contains(err.Error(), "none.csv") {
		t.Errorf("a file that is not there: %v, %v", rows, err)
	}
	if rows, err := live.Read(t.Context(), strings.NewReader("a,b\n1,-2\n"), "test"); err == nil || !strings.Contains(err.Error(), `column "b": -2 has no log1p`) {
		t.Errorf("a number without logarithm: %v, %v", rows, err)
	}
}

// What cannot be the rows of a model is an error of the header, of the fields or of the line.
func TestLiveTextErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want string
	}{
		"a header without a column": {"a,c\n1,2\n", `test: has no column "b"`},
		"a header with it twice":    {"a,b,b\n1,2,3\n", `test: line 1: column "b" is there twice`},
		"a second header":           {"a,b\n1,2\n\nb,a\n3,4\n", "test: line 4 is a header with the columns in another order than the first"},
		"fields that all lack":      {"{\"a\": 1}\n{\"a\": 2}\n", `test: has no column "b"`},
		"fields that the last lack": {"{\"a\": 1}\n{\"a\": 2}\n\n", `test: has no column "b"`},
	} {
		got := readLive(t, tables.Options{}, tc.text, nil, false)
		if len(got) == 0 || !strings.HasPrefix(got[len(got)-1], tc.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := readLive(t, tables.Options{}, "{\"a\": 1, \"b\": [}\n{\"a\": 1}\n", nil, false); len(got) != 2 || !strings.HasPrefix(got[0], "test: line 1") || !strings.HasPrefix(got[1], `test: has no column "b"`) {
		t.Errorf("a bad row before one that lacks a field: %q", got)
	}
	in := newLiveText(t, tables.Options{})
	take := func(r *LiveRows) (int, error) { return r.Features.Rows, nil }
	pass := func(err error) error { return err }
	_, first := in.Read(t.Context(), []byte("a,b\n1,2\n"), take, pass, nil)
	_, err := in.Read(t.Context(), []byte("3,4\n\nb,a\n5,6\n"), take, pass, nil)
	if header := (*HeaderError)(nil); first != nil || !errors.As(err, &header) || header.Line != 5 || header.Name != "test" {
		t.Errorf("of a second part: %v", err)
	}
}

// A header may come without its end, if it is all there is. It is a line.
func TestLiveTextOfAHeader(t *testing.T) {
	in := newLiveText(t, tables.Options{})
	done, err := in.Read(t.Context(), []byte("a,b"), nil, nil, nil)
	if err != nil || done != 3 || in.Lines != 1 || in.Head != "a,b\n" {
		t.Errorf("%d bytes, %d lines, the header %q: %v", done, in.Lines, in.Head, err)
	}
}

// A line is long enough to be none only beyond the limit.
func TestLiveTextOfALongLine(t *testing.T) {
	in := newLiveText(t, tables.Options{})
	in.Lines = 6
	text := make([]byte, maxLine+1)
	if n, err := in.Cut(text[:maxLine], false); n != 0 || err != nil {
		t.Errorf("as long as a line may be: %d, %v", n, err)
	}
	if n, err := in.Cut(text, false); n != 0 || err == nil || err.Error() != "test: line 7 is longer than 64 MB: check what writes it" {
		t.Errorf("longer: %d, %v", n, err)
	}
}

// Rows of JSON have the times and the missing cells of their own, as those of CSV do, whatever row has shown the fields.
func TestLiveJSONIsAsCSV(t *testing.T) {
	model := preparedOf(t, mixedTable(60, 0))
	parse := func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }
	read := func(parts ...string) *LiveRows {
		live, err := NewLive(model, tables.Options{}, "at", parse)
		if err != nil {
			t.Fatal(err)
		}
		in := &LiveText{Live: live, Name: "test"}
		all := &LiveRows{}
		for _, text := range parts {
			if _, err := in.Read(t.Context(), []byte(text), func(r *LiveRows) (int, error) {
				all.Features.Data = append(all.Features.Data, r.Features.Data...)
				all.Features.Rows += r.Features.Rows
				all.Times, all.Missing = append(all.Times, r.Times...), append(all.Missing, r.Missing...)
				return r.Features.Rows, nil
			}, func(err error) error { return err }, nil); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	csv := read("a,b,kind,day,at\n1,2,x,2024-01-03,5\n3,,y,2024-01-04,6\n", ",,z,2024-01-05,7\n")
	object := func(a, b, kind string, day, at int) string {
		return fmt.Sprintf(`{"a": %s, "b": %s, "kind": %q, "day": "2024-01-%02d", "at": %d}`+"\n", a, b, kind, day, at)
	}
	json := read(object("1", "2", "x", 3, 5)+object("3", "null", "y", 4, 6), object("null", "null", "z", 5, 7))
	if !reflect.DeepEqual(json, csv) || !slices.Equal(csv.Missing, []int{0, 1, 2}) || !slices.Equal(csv.Times, []int64{5, 6, 7}) {
		t.Errorf("JSON: %v\nCSV: %v", json, csv)
	}
}

// An interruption while the row that shows the fields is looked for is told: text of which nothing was read would be read again for ever.
func TestLiveIsInterruptedBeforeItsFields(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := newLiveText(t, tables.Options{})
	rows := func(*LiveRows) (int, error) { t.Error("there are rows"); return 0, nil }
	if n, err := in.Read(ctx, []byte(`{"a":1,"b":2}`+"\n"), rows, func(err error) error { return err }, nil); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", n, err)
	}
}
