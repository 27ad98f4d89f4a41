package windows

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

func TestParseTime(t *testing.T) {
	for text, want := range map[string]int64{
		"2026-03-01T12:00:00Z": 1772366400e9, "2026-03-01T13:00:00+01:00": 1772366400e9, "2026-03-01 12:00:00": 1772366400e9,
		"2026-03-01 12:00": 1772366400e9, "2026-03-01": 1772323200e9, "1772366400": 1772366400e9, "1772366400.5": 1772366400.5e9,
		"1772366400000": 1772366400e9, "1772366400000000": 1772366400e9, "1772366400000000000": 1772366400e9, "0": 0, " 1 ": 1e9,
		"20260301.0": 20260301e9, "20261399": 20261399e9,
		// The last ones that are seconds, milli-, micro- and nanoseconds, and the first that are not.
		"7258000000": 7258000000e9, "8000000001": 8000000001e6, "7258000000000": 7258000000e9, "8000000000001": 8000000000001e3,
		"7258000000000000": 7258000000e9, "8000000000000001": 8000000000000001, "7258000000000000000": 7258000000e9,
		"7257999999.5": 7257999999.5e9, "0.0": 0, "1970-01-01": 0, "2199-12-31T23:59:59Z": 7258118399e9, "1969-12-31T23:00:00-01:00": 0,
		// Digits of dates in years that no time is in are seconds.
		"19691231": 19691231e9, "22000101": 22000101e9,
	} {
		if got, err := ParseTime(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "noon", "-5", "NaN", "1e30", "2300-01-01", "1960-01-01", "2200-01-01", "1969-12-31T23:59:59Z", "2199-12-31T23:30:00-01:00", "7258000001", "8000000000", "7258000000000000001", "7258000000.0", "-0.5", "9223372036854775807", "2026-13-01",
		// Seconds, by the digits alone, of August 1970.
		"20260301", "202603011200", "20260301120000", "19700101", "21991231"} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2026-03-01T12:00:00Z", "1772366400000", "1.5", "x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if ns, err := ParseTime(text); err == nil && (ns < 0 || time.Unix(0, ns).UTC().Year() > lastYear) {
			t.Errorf("%q: %d", text, ns)
		}
	})
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]Span{"10": {Rows: 10}, "1h": {Time: time.Hour}, "7d": {Time: 168 * time.Hour}, "90s": {Time: 90 * time.Second},
		"1": {Rows: 1}, "1099511627776": {Rows: 1 << 40}, "1ms": {Time: time.Millisecond}, "36500d": {Time: 36500 * 24 * time.Hour}, "1d": {Time: 24 * time.Hour}} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1y", "1ns", "999us", "-1h", "0d", "-1d", "36501d", "1099511627777", "99999999999999999999"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

// Times of a type of their own are in the years that text may be in.
func TestTimeOf(t *testing.T) {
	seconds := &arrow.TimestampType{Unit: arrow.Second}
	column := func(of arrow.DataType, text string) arrow.Array {
		column, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader("[null, "+text+"]"))
		if err != nil {
			t.Fatal(err)
		}
		return column
	}
	for _, c := range []struct {
		name   string
		column arrow.Array
		want   int64 // in seconds
		err    string
	}{
		{"seconds", column(seconds, "1772366400"), 1772366400, ""},
		{"milliseconds", column(&arrow.TimestampType{Unit: arrow.Millisecond}, "1772366400000"), 1772366400, ""},
		{"microseconds in a zone", column(&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Asia/Tokyo"}, "1772366400000000"), 1772366400, ""},
		{"nanoseconds", column(arrow.FixedWidthTypes.Timestamp_ns, "1772366400000000000"), 1772366400, ""},
		{"a day", column(arrow.FixedWidthTypes.Date32, `"2026-03-01"`), 1772323200, ""},
		{"a day in milliseconds", column(arrow.FixedWidthTypes.Date64, `"2026-03-01"`), 1772323200, ""},
		{"text", column(arrow.BinaryTypes.String, `"2026-03-01"`), 1772323200, ""},
		{"a number", column(arrow.PrimitiveTypes.Int64, "1772366400"), 1772366400, ""},
		{"the first", column(seconds, "0"), 0, ""},
		{"before it", column(seconds, "-1"), 0, "1969-12-31T23:59:59Z is no time from 1970 to 2200: mend or drop the row"},
		{"the last day", column(arrow.FixedWidthTypes.Date32, `"2199-12-31"`), 7258032000, ""},
		{"after it", column(arrow.FixedWidthTypes.Date64, `"2200-01-01"`), 0, "2200-01-01T00:00:00Z is no time from 1970 to 2200: mend or drop the row"},
	} {
		got, err := TimeOf(c.column, 1)
		if c.err == "" && (err != nil || got != c.want*1e9) || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%s: %d, %v, want %d s, %s", c.name, got, err, c.want, c.err)
		}
		if _, err := TimeOf(c.column, 0); err == nil || err.Error() != "there is no time: fill it or drop the row" {
			t.Errorf("%s: none: %v", c.name, err)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"0s": 0, "0d": 0, "1.5h": 90 * time.Minute, "2d": 48 * time.Hour} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"-1s", "-1d", "x", "d"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
