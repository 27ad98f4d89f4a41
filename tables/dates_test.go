package tables

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
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
			if err != nil || float32(day.Unix()/86400) != m.day {
				t.Errorf("%q as %s is day %v, and Go has %v, %v", text, layout, m.day, day, err)
			}
		}
		layoutOf(strings.Split(text, "\n"))
	})
}

// A zone that is not known is an error that names the column, and no other zone.
func TestUnknownZone(t *testing.T) {
	for zone, known := range map[string]bool{"": true, "UTC": true, "Europe/Berlin": true, "+02:00": true, "Mars/Olympus": false} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: zone}}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range 30 {
			b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000 + 5000*i))
		}
		rec := b.NewRecord()
		var file bytes.Buffer
		w := ipc.NewWriter(&file, ipc.WithSchema(schema))
		if err := errors.Join(w.Write(rec), w.Close()); err != nil {
			t.Fatal(err)
		}
		_, err := Read(context.Background(), &file, "times.arrows", Options{Mixed: true})
		if known != (err == nil) || err != nil && !strings.Contains(err.Error(), `column "at": its times are in the zone "Mars/Olympus", which is not known`) {
			t.Errorf("zone %q: %v", zone, err)
		}
	}
}
