package windows

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	for text, want := range map[string]int64{
		"2026-03-01T12:00:00Z": 1772366400e9, "2026-03-01T13:00:00+01:00": 1772366400e9, "2026-03-01 12:00:00": 1772366400e9,
		"2026-03-01 12:00": 1772366400e9, "2026-03-01": 1772323200e9, "1772366400": 1772366400e9, "1772366400.5": 1772366400.5e9,
		"1772366400000": 1772366400e9, "1772366400000000": 1772366400e9, "1772366400000000000": 1772366400e9, "0": 0, " 1 ": 1e9,
		"20260301.0": 20260301e9, "20261399": 20261399e9,
	} {
		if got, err := ParseTime(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "noon", "-5", "NaN", "1e30", "2300-01-01", "1960-01-01", "9223372036854775807", "2026-13-01",
		// Seconds, by the digits alone, of August 1970.
		"20260301", "202603011200", "20260301120000"} {
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
	for text, want := range map[string]Span{"10": {Rows: 10}, "1h": {Time: time.Hour}, "7d": {Time: 168 * time.Hour}, "90s": {Time: 90 * time.Second}} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1y", "1ns", "-1h", "99999999999999999999"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
