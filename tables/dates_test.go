package tables

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// A date is read as Go's own reader of that layout reads it, and what that refuses is refused.
func FuzzDates(f *testing.F) {
	for _, text := range []string{"2024-02-29", "31.12.1999", "3/4/2020 5:06", "2020-01-02T03:04:05.678Z", "23:59:60", "1969/07/20 20:17:40 +0200", "0000-01-01", "0001-03-01", "9999-12-31"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for layout, plain := range map[Layout]string{yearFirst: "2006-1-2", dayFirst: "2-1-2006", monthFirst: "1-2-2006"} {
			m, ok := parseMoment(text, layout)
			if !ok {
				if day, err := time.Parse(plain, text); err == nil && text == day.Format(plain) {
					t.Errorf("%q is no %s", text, layout)
				}
				continue
			}
			if m.day != float32(math.Trunc(float64(m.day))) || m.clock < 0 || m.clock > 25*3600 || !m.dated && !m.timed {
				t.Errorf("%q as %s: %+v", text, layout, m)
			}
			date, _, _ := strings.Cut(text, " ")
			date, _, _ = strings.Cut(date, "T")
			if !m.dated {
				continue
			}
			day, err := time.Parse(plain, strings.NewReplacer("/", "-", ".", "-").Replace(date))
			if err != nil || math.Abs(float64(float32(day.Unix()/86400)-m.day)) > 5 { // by a zone, of 99 hours at most
				t.Errorf("%q as %s is day %v, and Go has %v, %v", text, layout, m.day, day, err)
			}
			if plain := !strings.ContainsAny(strings.TrimPrefix(text, date), "+-"); plain && float32(day.Unix()/86400) != m.day {
				t.Errorf("%q as %s is day %v, and Go has %v, %v", text, layout, m.day, day, err)
			}
		}
		layoutOf(strings.Split(text, "\n"))
	})
}

// Times with a zone are the same in text, in Arrow and in Parquet, which knows no zone but UTC: a table has one answer in all formats.
func TestTimesWithAZone(t *testing.T) {
	start := time.Date(2026, 2, 27, 20, 0, 0, 0, time.UTC)
	var want []float32
	check := func(name string, file []byte) {
		t.Helper()
		got, err := Read(context.Background(), bytes.NewReader(file), name, Options{Mixed: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want == nil {
			want = got.Features.Data
		}
		if !slices.Equal(got.Features.Data, want) {
			t.Errorf("%s: %v, want %v", name, got.Features.Data, want)
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z", "2006-01-02 15:04:05", "2006-01-02 15:04:05.000 UTC"} {
		text := "at\n"
		for i := range 30 {
			text += start.Add(time.Duration(i)*5000*time.Second).Format(layout) + "\n"
		}
		check("times.csv", []byte(text))
	}
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("", 9*3600), time.FixedZone("", -(3*3600 + 30*60))} {
		text := "at\n"
		for i := range 30 {
			text += start.Add(time.Duration(i)*5000*time.Second).In(zone).Format("2006-01-02 15:04:05-07:00") + "\n"
		}
		check("times.csv", []byte(text))
	}
	for _, zone := range []string{"", "UTC", "Asia/Tokyo", "-03:30", "Mars/Olympus"} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: zone}}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range 30 {
			b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(start.Unix() + 5000*int64(i)))
		}
		rec := b.NewRecord()
		var stream, parquet bytes.Buffer
		w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
		if err := errors.Join(w.Write(rec), w.Close()); err != nil {
			t.Fatal(err)
		}
		check("times.arrows", stream.Bytes())
		f, err := pqarrow.NewFileWriter(schema, &parquet, nil, pqarrow.DefaultWriterProps())
		if err == nil {
			err = errors.Join(f.Write(rec), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		check("times.parquet", parquet.Bytes())
	}
}
