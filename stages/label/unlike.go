package label

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mars.dev/mars/internal/spelling"
)

const (
	mostOff      = 5 // columns that are named of the rows of a class
	mostUnlike   = 3 // classes that UnlikeLine names
	mostOffLine  = 3 // columns that it names
	timesChance  = 2 // from how many times the rows that chance explains on rows are told
	fewestUsual  = 10
	fewestUnlike = 3
)

// Unlike are rows that are like none of the source, by the class that they are nearest to: that of the
// greatest posterior.
type Unlike struct {
	Class   string  `json:"class"`
	Rows    int     `json:"rows"`
	Chance  float64 `json:"chance"`  // rows of the class that are expected to be so if nothing is new
	Columns []Off   `json:"columns"` // in which they differ most, at most five; none where values are not known
}

// Off is how rows differ from the target's other rows of a class in a column.
type Off struct {
	Column string  `json:"column"`
	Mean   float64 `json:"mean"`  // of the rows
	Usual  float64 `json:"usual"` // of the others
	By     float64 `json:"by"`    // the difference, in standard deviations of the others
}

// likest is what is added up of the rows whose likeliest class is one.
type likest struct{ usual, unlike moments }

// moments are sums of columns over rows. A missing value is in none.
type moments struct {
	rows             int
	n, sums, squares []float64
}

func (m *moments) add(row []float32) {
	m.rows++
	if m.n == nil {
		m.n, m.sums, m.squares = make([]float64, len(row)), make([]float64, len(row)), make([]float64, len(row))
	}
	for j, x := range row {
		if x := float64(x); !math.IsNaN(x) {
			m.n[j]++
			m.sums[j] += x
			m.squares[j] += x * x
		}
	}
}

// rate is the typicality below which a row is like none of the source.
func (t *Tally) rate() float64 { return cmp.Or(t.Labels.Unknown, strangeRow) }

// compare adds a row to those of its likeliest class.
func (t *Tally) compare(class string, typicality float64, values []float32) {
	of := t.likest[class]
	if of == nil {
		of = &likest{}
		t.likest[class] = of
	}
	m := &of.usual
	if typicality < t.rate() {
		m = &of.unlike
	}
	if values == nil || len(t.Labels.classes)*len(values) > mostKept {
		m.rows++ // too many to keep
		return
	}
	m.add(values)
}

// likeliest is the class of the greatest of its posteriors.
func (t *Tally) likeliest(p []float32) string {
	best := 0
	for k, v := range p {
		if v > p[best] {
			best = k
		}
	}
	return t.Labels.classes[best]
}

// Unlike are the rows that are like none of the source, of each class at least twice as many as
// chance explains, that of the most rows first.
func (t *Tally) Unlike() (all []Unlike) {
	for _, name := range slices.Sorted(maps.Keys(t.likest)) {
		of := t.likest[name]
		u := Unlike{Class: name, Rows: of.unlike.rows, Chance: t.rate() * float64(of.usual.rows+of.unlike.rows)}
		if u.Rows < fewestUnlike || float64(u.Rows) <= timesChance*u.Chance {
			continue
		}
		u.Columns = t.off(of)
		all = append(all, u)
	}
	slices.SortStableFunc(all, func(a, b Unlike) int { return cmp.Compare(b.Rows, a.Rows) })
	return all
}

// off are the columns in which the rows of a class that are like none of the source differ most from the
// others: those whose means differ by more than chance explains in any of all columns, where values spread as the others' do.
func (t *Tally) off(of *likest) []Off {
	columns := []Off{}
	wide := math.Sqrt(2 * math.Log(2*float64(len(of.unlike.n))/chance))
	for j := range of.unlike.n {
		n, m := of.unlike.n[j], 0.0
		if j < len(of.usual.n) {
			m = of.usual.n[j]
		}
		if n < fewestUnlike || m < fewestUsual {
			continue
		}
		mean, usual := of.unlike.sums[j]/n, of.usual.sums[j]/m
		spread := math.Sqrt(max(0, of.usual.squares[j]/m-usual*usual))
		if spread <= 1e-6*math.Abs(usual) {
			continue // all have one value
		}
		shift := 0.0
		if v := t.Labels.values; j < len(v.centres) {
			shift = v.centres[j]
		}
		by := (mean - usual) / spread
		if math.Abs(by) > wide*math.Sqrt(1/n+1/m) {
			columns = append(columns, Off{t.Labels.values.Names[j], mean + shift, usual + shift, by})
		}
	}
	slices.SortStableFunc(columns, func(a, b Off) int { return cmp.Compare(math.Abs(b.By), math.Abs(a.By)) })
	return columns[:min(len(columns), mostOff)]
}

// String says in words by how much.
func (o Off) String() string {
	way := "higher"
	if o.By < 0 {
		way = "lower"
	}
	return fmt.Sprintf("%s %s by %.1f", o.Column, way, math.Abs(o.By))
}

// Differ says in which columns the rows differ most, at most n.
func (u Unlike) Differ(n int) string {
	var words []string
	for _, o := range u.Columns[:min(len(u.Columns), n)] {
		words = append(words, o.String())
	}
	return strings.Join(words, ", ")
}

// UnlikeLine says which classes the rows that are unknown are nearest to, and what makes them new; "" where
// none are more than chance explains.
func (t *Tally) UnlikeLine() string {
	all := t.Unlike()
	if len(all) == 0 || t.Labels.Unknown == 0 {
		return ""
	}
	var parts []string
	for _, u := range all[:min(len(all), mostUnlike)] {
		part := fmt.Sprintf("%d nearest to %s (%.0f by chance)", u.Rows, u.Class, u.Chance)
		if differ := u.Differ(mostOffLine); differ != "" {
			part += ": " + differ + " standard deviations"
		}
		parts = append(parts, part)
	}
	if more := len(all) - mostUnlike; more > 0 {
		parts = append(parts, "and "+spelling.Count(more, "more class", "more classes"))
	}
	return "unknown rows, which may be a class that the source lacks: " + strings.Join(parts, "; ")
}
