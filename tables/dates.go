package tables

import (
	"math"
	"slices"
	"strings"
)

// A Layout says how dates are written in text.
type Layout string

// Layouts of dates. Between year, month and day is -, / or a point.
const (
	yearFirst  Layout = "ymd"
	dayFirst   Layout = "dmy"
	monthFirst Layout = "mdy"
)

// Known reports whether a column may have the layout: none if it holds times, or no text.
func (l Layout) Known() bool { return l == "" || slices.Contains(layouts, l) }

// layouts are tried in this order.
var layouts = []Layout{yearFirst, dayFirst, monthFirst}

// ofDay is how many seconds a day has.
const ofDay = 24 * 3600

// A moment is a date, a time of day, or both.
type moment struct {
	day, clock   float32
	dated, timed bool
}

// parseMoment reads a date, a time, or both with a space or T in between. With a zone they are brought to UTC, which
// is all that Parquet knows of: a table has the same answer in every format. A time without a date stays as it is written.
func parseMoment(text string, layout Layout) (m moment, ok bool) {
	date, clock, both := text, "", false
	if i := strings.IndexAny(text, " T"); i > 0 {
		date, clock, both = text[:i], strings.TrimLeft(text[i+1:], " "), true
	} else if strings.Contains(text, ":") {
		date, clock = "", text
	}
	if date != "" {
		if m.day, m.dated = parseDay(date, layout); !m.dated {
			return m, false
		}
	}
	if clock != "" {
		ahead := 0
		if m.clock, ahead, m.timed = parseClock(clock); !m.timed {
			return m, false
		}
		if m.dated && ahead != 0 {
			seconds := int(m.clock) - ahead
			days := math.Floor(float64(seconds) / ofDay)
			m.day, m.clock = m.day+float32(days), float32(seconds-ofDay*int(days))
		}
	}
	return m, m.dated && (m.timed || !both) || m.timed && !both
}

// digits reads a number of so many digits at least and at most.
func digits(s string, least, most int) (v int, rest string, ok bool) {
	n := 0
	for n < len(s) && n < most && s[n] >= '0' && s[n] <= '9' {
		v = 10*v + int(s[n]-'0')
		n++
	}
	return v, s[n:], n >= least
}

func parseDay(s string, layout Layout) (float32, bool) {
	widths := [3][2]int{{1, 2}, {1, 2}, {1, 2}}
	at := slices.Index([]byte(layout), 'y')
	if at < 0 { // a column of times
		return 0, false
	}
	widths[at] = [2]int{4, 4}
	var parts [3]int
	var mark byte
	for i := range parts {
		var ok bool
		if parts[i], s, ok = digits(s, widths[i][0], widths[i][1]); !ok {
			return 0, false
		}
		if i == 2 {
			break
		}
		if len(s) == 0 || !strings.ContainsRune("-/.", rune(s[0])) || i == 1 && s[0] != mark {
			return 0, false
		}
		mark, s = s[0], s[1:]
	}
	if s != "" {
		return 0, false
	}
	var year, month, day int
	for i, unit := range []byte(layout) {
		switch unit {
		case 'y':
			year = parts[i]
		case 'm':
			month = parts[i]
		default:
			day = parts[i]
		}
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return float32(dayNumber(year, month, day)), true
}

func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// dayNumber is the number of days since 1970-01-01 in the Gregorian calendar.
func dayNumber(year, month, day int) int {
	if month <= 2 { // years that begin in March end with the leap day
		year--
		month += 12
	}
	if year < 0 { // January and February of the year 0
		return dayNumber(year+400, month, day) - 146097
	}
	era := year / 400
	ofEra := year - 400*era
	ofYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468
}

// parseClock reads 15:04, 15:04:05 or 15:04:05.678, with a zone such as Z or +01:00, which is so many seconds ahead of UTC.
func parseClock(s string) (seconds float32, ahead int, ok bool) {
	hour, s, ok := digits(s, 1, 2)
	if !ok || hour > 24 || len(s) == 0 || s[0] != ':' {
		return 0, 0, false
	}
	minute, s, ok := digits(s[1:], 2, 2)
	if !ok || minute > 59 {
		return 0, 0, false
	}
	second := 0
	if len(s) > 0 && s[0] == ':' {
		if second, s, ok = digits(s[1:], 2, 2); !ok || second > 60 {
			return 0, 0, false
		}
		if len(s) > 0 && s[0] == '.' {
			if _, s, ok = digits(s[1:], 1, 9); !ok {
				return 0, 0, false
			}
		}
	}
	ahead, ok = parseZone(s)
	return float32(3600*hour + 60*minute + second), ahead, ok
}

// parseZone reads the zone after a time, or nothing: by how many seconds it is ahead of UTC.
func parseZone(s string) (ahead int, ok bool) {
	s = strings.TrimLeft(s, " ")
	if s == "" || s == "Z" || s == "UTC" {
		return 0, true
	}
	sign := 1
	switch s[0] {
	case '+':
	case '-':
		sign = -1
	default:
		return 0, false
	}
	hours, s, ok := digits(s[1:], 2, 2)
	minutes := 0
	if ok && s != "" {
		minutes, s, ok = digits(strings.TrimPrefix(s, ":"), 2, 2)
	}
	return sign * (3600*hours + 60*minutes), ok && s == ""
}

// layoutOf finds how the dates of a column are written: as one layout reads them all.
// several says that two do, and that the order of day and month cannot be told.
func layoutOf(values []string) (layout Layout, dated, timed, several, ok bool) {
	for _, l := range layouts {
		d, t, all := 0, 0, true
		for _, value := range values {
			m, ok := parseMoment(value, l)
			if !ok {
				all = false
				break
			}
			if m.dated {
				d++
			}
			if m.timed {
				t++
			}
		}
		switch {
		case !all || d > 0 && d < len(values):
		case ok && layout == dayFirst && strings.Contains(values[0], "."): // nobody writes 12.31.2020
			return layout, dated, timed, false, true
		case ok:
			return layout, dated, timed, dated, true
		default:
			layout, dated, timed, ok = l, d > 0, t > 0, true
		}
		if ok && !dated {
			return "", false, timed, false, true // times need no layout
		}
	}
	return layout, dated, timed, false, ok
}
