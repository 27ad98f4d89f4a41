// Package windows holds what stages that look at rows window by window do alike: lengths of windows,
// times, and what Prometheus reads.
package windows

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// A Span is the length of a window: rows, or time. One of them is 0.
type Span struct {
	Rows int64
	Time time.Duration
}

// String is the number of rows, or the time.
func (s Span) String() string {
	if s.Time > 0 {
		return s.Time.String()
	}
	return strconv.FormatInt(s.Rows, 10)
}

// ParseSpan reads a number of rows (10000) or a duration (30s, 15m, 1h, 7d).
func ParseSpan(text string) (Span, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 1 || n > 1<<40 {
			return Span{}, fmt.Errorf("%s rows: want from 1 to %d", text, int64(1)<<40)
		}
		return Span{Rows: n}, nil
	}
	d, err := ParseDuration(text)
	if err != nil {
		return Span{}, fmt.Errorf("%q is neither a number of rows, such as 10000, nor a time, such as 30s, 15m, 1h or 7d", text)
	}
	if d < time.Millisecond {
		return Span{}, fmt.Errorf("%s: want at least 1ms", text)
	}
	return Span{Time: d}, nil
}

// ParseDuration reads a duration as time.ParseDuration does, and days: 7d.
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 32)
		if err != nil || n < 0 || n > 36_500 {
			return 0, fmt.Errorf("%q is no number of days", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("is negative")
	}
	return d, err
}

// layouts are how times may be written, beside numbers. Those without a zone are UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04", time.DateOnly}

// bareDates are how dates and times are written that look like numbers.
var bareDates = []string{"20060102", "200601021504", "20060102150405"}

// Years that a time may be in: others overflow, or are a mistake of units.
const firstYear, lastYear = 1970, 2200

// ParseTime reads a time: as RFC 3339 and much like it, or the seconds since 1970 UTC;
// numbers so large that they would be after 2200 are milli-, micro- or nanoseconds.
// It returns nanoseconds since 1970 UTC, and refuses a number that is a date without hyphens.
func ParseTime(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, errors.New("there is no time: fill it or drop the row")
	}
	for _, layout := range bareDates {
		if len(text) != len(layout) {
			continue
		}
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= firstYear && t.Year() < lastYear {
			return 0, fmt.Errorf("%q is a date without hyphens, or a number of seconds since 1970: write %s, or seconds as 86400.0", text, TimeText(t.UnixNano()))
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		unit := int64(1e9)
		for n > 8e9*(1e9/unit) && unit > 1 {
			unit /= 1000
		}
		if n >= 0 && n <= 7_258_000_000*(1e9/unit) {
			return n * unit, nil
		}
	} else if f, err := strconv.ParseFloat(text, 64); err == nil {
		if f >= 0 && f < 7.258e9 {
			whole := int64(f)
			return whole*1e9 + int64((f-float64(whole))*1e9), nil
		}
	} else {
		for _, layout := range layouts {
			if t, err := time.Parse(layout, text); err == nil {
				if y := t.UTC().Year(); y >= firstYear && y < lastYear {
					return t.UnixNano(), nil
				}
			}
		}
	}
	return 0, fmt.Errorf("%q is no time from %d to %d: write 2026-03-01T12:00:00Z, or seconds since 1970", text, firstYear, lastYear)
}

// TimeText is a time as it is written.
func TimeText(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// TimeOf is the time in row i of a column: of a type of times, or as ParseTime reads it.
func TimeOf(column arrow.Array, i int) (int64, error) {
	if column.IsNull(i) {
		return ParseTime("")
	}
	var at time.Time
	switch c := column.(type) {
	case *array.Timestamp:
		at = c.Value(i).ToTime(c.DataType().(*arrow.TimestampType).Unit)
	case *array.Date32:
		at = c.Value(i).ToTime()
	case *array.Date64:
		at = c.Value(i).ToTime()
	default:
		text, _ := arrowio.Cell(column, i)
		return ParseTime(text)
	}
	if y := at.UTC().Year(); y < firstYear || y >= lastYear {
		return 0, fmt.Errorf("%s is no time from %d to %d: mend or drop the row", at.UTC().Format(time.RFC3339), firstYear, lastYear)
	}
	return at.UnixNano(), nil
}
