// Package compare reads what the runs of studies left, and compares methods as the field
// does: means over seeds, ranks, wins, and tests by ranks (package ranktest).
package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/pipeline/internal/grid"
	"mars.dev/mars/stages/algorithms/ranktest"
)

// Options say what is compared. The zero value is usable.
type Options struct {
	Method   string   // the column that names what is compared; "" means method
	Over     []string // the columns over which means are taken; nil means seed
	Settings []string // the columns that make a setting; nil means all that hold no results
	Number   string   // what is compared; "" means balanced_accuracy or else accuracy
	// Direction says which values are better: "higher", "lower", or "" for what the name of
	// the number says.
	Direction string
	Level     float64 // of all tests; 0 means the paper's 0.01
	Control   string  // the method that the others are compared with; "" means all pairs
	// Incomplete takes what all methods have, where some lack a setting or a run. It is an
	// error otherwise.
	Incomplete bool
	// Mixed takes results of different versions of the program. They are an error otherwise.
	Mixed bool
}

// A Comparison is of one number of several methods.
type Comparison struct {
	Number  string   `json:"number"`
	Lower   bool     `json:"lower_is_better"`
	Level   float64  `json:"level"`
	Methods []string `json:"methods"`
	Columns []string `json:"columns"` // that make a setting
	// Settings are in the order in which they came up.
	Settings []Setting `json:"settings"`
	// Wins counts the settings in which a method is the best or not significantly worse.
	Wins []int `json:"wins"`
	// Ranks are mean ranks over the settings that have all methods, from 1 for the best.
	Ranks []float64 `json:"ranks,omitempty"`
	// Means are over the same settings.
	Means []float64 `json:"means,omitempty"`
	// Others are means of what else the results hold: errors of proportions, seconds,
	// megabytes.
	Others   []Other  `json:"others,omitempty"`
	Friedman *Rank    `json:"friedman,omitempty"`
	Pairs    []Pair   `json:"pairs,omitempty"`
	PairedBy string   `json:"paired_by,omitempty"` // "settings", or the runs of the only one
	Notes    []string `json:"notes,omitempty"`
}

// A Setting is a row of the table: the same data for all methods.
type Setting struct {
	Values  []string `json:"values"` // of the columns
	Results []Result `json:"results"`

	seeds  []string
	files  []string             // that have results of it
	values []map[string]float64 // by method and seed
}

// A Result is a method's in a setting. Runs is 0 if it has none.
type Result struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Runs      int     `json:"runs"`
	Rank      float64 `json:"rank,omitempty"` // 0 in a setting that lacks a method
	// Best is whether the method is the best of the setting, or not significantly worse.
	Best bool `json:"best"`
	// P is of the signed-rank test against the best, over the runs. It is 1 for the best, and
	// absent where there are too few runs to tell.
	P *float64 `json:"p,omitempty"`
}

// An Other is the mean of another number over all runs, by method: nil if it has none.
type Other struct {
	Name  string     `json:"name"`
	Means []*float64 `json:"means"`
}

// A Rank is Friedman's test, and how far apart ranks have to be (Nemenyi).
type Rank struct {
	ChiSquared         float64 `json:"chi_squared"`
	P                  float64 `json:"p"`
	PF                 float64 `json:"p_iman_davenport"`
	CriticalDifference float64 `json:"critical_difference"`
}

// A Pair is the signed-rank test of two methods.
type Pair struct {
	First       string  `json:"first"`
	Second      string  `json:"second"`
	Better      int     `json:"better"` // pairs in which the first is
	Worse       int     `json:"worse"`
	Equal       int     `json:"equal"`
	P           float64 `json:"p"`
	Corrected   float64 `json:"p_holm"`
	Significant bool    `json:"significant"`
}

// Files compares the methods of files of results.
func Files(files []string, o Options) (*Comparison, error) {
	t, err := read(files)
	if err != nil {
		return nil, err
	}
	return t.compare(o)
}

// Table compares the methods of a table, such as pipeline.Results has: names of columns, and then a row
// for each run. Errors name it.
func Table(name string, rows [][]string, o Options) (*Comparison, error) {
	if len(rows) < 2 {
		return nil, noResults(name)
	}
	t := &table{}
	if err := t.addColumns(name, rows[0]); err != nil {
		return nil, err
	}
	for i, record := range rows[1:] {
		t.addRecord(name, i+2, rows[0], record)
	}
	return t.compare(o)
}

func (t *table) compare(o Options) (*Comparison, error) {
	o.Method, o.Level = cmp.Or(o.Method, "method"), cmp.Or(o.Level, 0.01)
	if o.Over == nil {
		o.Over = []string{"seed"}
	}
	if !(o.Level > 0 && o.Level < 1) {
		return nil, fmt.Errorf("level %v: give one between 0 and 1", o.Level)
	}
	c := &comparer{table: t, Options: o}
	return c.compare()
}

// A comparer has what a comparison needs at hand.
type comparer struct {
	Options
	*table
	to *Comparison
}

func (c *comparer) compare() (*Comparison, error) {
	if err := c.choose(); err != nil {
		return nil, err
	}
	if err := c.sameProgram(); err != nil {
		return nil, err
	}
	if err := c.gather(); err != nil {
		return nil, err
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	c.rate()
	if err := c.rank(); err != nil {
		return nil, err
	}
	if err := c.pairs(); err != nil {
		return nil, err
	}
	return c.to, c.others()
}

// choose finds the columns.
func (c *comparer) choose() error {
	if c.Number == "" {
		for _, name := range []string{"balanced_accuracy", "accuracy", "proportions_l1"} {
			if slices.Contains(c.columns, name) {
				c.Number = name
				break
			}
		}
		if c.Number == "" {
			return fmt.Errorf("%s: which number is to be compared? Name its column with --number; there are %s", c.rows[0].file, strings.Join(c.columns, ", "))
		}
	}
	over := slices.DeleteFunc(slices.Clone(c.Over), func(name string) bool { return name == "seed" && !slices.Contains(c.columns, name) })
	for _, name := range slices.Concat([]string{c.Number, c.Method}, over, c.Settings) {
		if !slices.Contains(c.columns, name) {
			return c.unknown(name)
		}
	}
	c.Over = over
	if c.Settings == nil {
		for _, name := range c.columns {
			if name != c.Method && name != c.Number && !slices.Contains(c.Over, name) && !isResult(name) && c.tellsApart(name) {
				c.Settings = append(c.Settings, name)
			}
		}
	}
	c.to = &Comparison{Number: c.Number, Level: c.Level, Columns: slices.Clone(c.Settings), Lower: isError(c.Number)}
	switch c.Direction {
	case "":
	case "higher", "lower":
		c.to.Lower = c.Direction == "lower"
	default:
		return fmt.Errorf("better: %q is not known: choose higher or lower", c.Direction)
	}
	return nil
}

// tellsApart reports whether a column may tell settings apart: it has several values, and some
// two methods have one of them. A number that belongs to each method, such as a published one,
// does not.
func (c *comparer) tellsApart(name string) bool {
	method := map[string]string{} // that has a value first
	shared := false
	for i := range c.rows {
		cells := c.rows[i].cells
		first, known := method[cells[name]]
		if !known {
			method[cells[name]] = cells[c.Method]
		}
		shared = shared || known && first != cells[c.Method]
	}
	return shared && len(method) > 1
}

func (c *comparer) unknown(name string) error {
	meant := ""
	if near := spelling.Nearest(name, c.columns); near != "" {
		meant = fmt.Sprintf("did you mean %q? ", near)
	}
	return fmt.Errorf("%s: there is no column %q: %sit has %s", c.rows[0].file, name, meant, strings.Join(c.columns, ", "))
}

// sameProgram refuses results of different versions of the program.
func (c *comparer) sameProgram() error {
	for _, o := range c.origins {
		first := c.origins[0]
		if o.program == first.program || c.Mixed {
			continue
		}
		if o.file == first.file {
			return fmt.Errorf("%s has results of several versions of the program, such as %s and %s: they compare the versions as well as the methods: make some again, or say --mixed", o.file, first.text, o.text)
		}
		return fmt.Errorf("%s was made by another version of the program (%s) than %s (%s): results of both compare the versions as well as the methods: make one again, or say --mixed", o.file, o.text, first.file, first.text)
	}
	return nil
}

// gather sorts the numbers by setting, method and seed.
func (c *comparer) gather() error {
	first := c.rows[0].cells[c.Method]
	if first != "" && !slices.ContainsFunc(c.rows, func(r row) bool { return r.cells[c.Method] != first }) {
		return fmt.Errorf("%s: there is only one %s, %s: nothing can be compared", c.rows[0].file, c.Method, first)
	}
	at, methods := map[string]int{}, map[string]int{}
	from := map[string]*row{}
	for i := range c.rows {
		r := &c.rows[i]
		method, known := r.cells[c.Method]
		if !known {
			return fmt.Errorf("%s: line %d: %s is empty: name the column of what is compared with --method", r.file, r.line, c.Method)
		}
		v, known, err := r.number(c.Number)
		if err != nil {
			return err
		}
		if _, ok := methods[method]; !ok {
			methods[method] = len(methods)
			c.to.Methods = append(c.to.Methods, method)
		}
		values := r.values(c.Settings)
		key := strings.Join(values, "\x00")
		s, ok := at[key]
		if !ok {
			s, at[key] = len(c.to.Settings), len(c.to.Settings)
			c.to.Settings = append(c.to.Settings, Setting{Values: values})
		}
		if !known {
			continue // complete says that it is missing
		}
		for _, name := range c.Over {
			if r.cells[name] == "" {
				return fmt.Errorf("%s: line %d: %s is empty, and others have it: are these results of the same study?", r.file, r.line, name)
			}
		}
		seed := strings.Join(r.values(c.Over), ", ")
		cell := strings.Join([]string{key, method, seed}, "\x00")
		if first := from[cell]; first != nil {
			return fmt.Errorf("%s: line %d: %s: the result is there twice: see %s, line %d: results of different data or versions? Name the column that tells them apart with --settings", r.file, r.line, c.name(values, method, seed), first.file, first.line)
		}
		from[cell] = r
		if s := &c.to.Settings[s]; !slices.Contains(s.files, r.file) {
			s.files = append(s.files, r.file)
		}
		c.to.Settings[s].add(methods[method], seed, v)
	}
	for _, s := range c.to.Settings {
		if len(s.files) > 1 {
			c.note("Some settings have results of several files, such as %s and %s: they are taken for the same data.", s.files[0], s.files[1])
			break
		}
	}
	if c.Control != "" && !slices.Contains(c.to.Methods, c.Control) {
		return fmt.Errorf("control: no %s is called %q: there are %s", c.Method, c.Control, strings.Join(c.to.Methods, ", "))
	}
	return nil
}

// values are those of some columns.
func (r *row) values(columns []string) []string {
	values := make([]string, len(columns))
	for i, name := range columns {
		values[i] = r.cells[name]
	}
	return values
}

func (s *Setting) add(method int, seed string, v float64) {
	for len(s.values) <= method {
		s.values = append(s.values, map[string]float64{})
	}
	if !slices.Contains(s.seeds, seed) {
		s.seeds = append(s.seeds, seed)
	}
	s.values[method][seed] = v
}

// name names a place of the table.
func (c *comparer) name(values []string, method, seed string) string {
	var parts []string
	for i, v := range values {
		parts = append(parts, c.Settings[i]+" "+v)
	}
	if method != "" {
		parts = append(parts, method)
	}
	if seed != "" {
		parts = append(parts, strings.Join(c.Over, ", ")+" "+seed)
	}
	return strings.Join(parts, ", ")
}

// note adds a sentence for the reader.
func (c *comparer) note(format string, args ...any) {
	c.to.Notes = append(c.to.Notes, fmt.Sprintf(format, args...))
}

// shownMissing is how many missing results an error names.
const shownMissing = 3

// complete sees to it that all methods have all settings and seeds, or leaves out those that
// some lack.
func (c *comparer) complete() error {
	var missing []string
	for i := range c.to.Settings {
		s := &c.to.Settings[i]
		for len(s.values) < len(c.to.Methods) {
			s.values = append(s.values, map[string]float64{})
		}
		if len(s.seeds) == 0 {
			missing = append(missing, cmp.Or(c.name(s.Values, "", ""), "all runs"))
		}
		var shared []string
		for _, seed := range s.seeds {
			whole := true
			for m, of := range s.values {
				if _, ok := of[seed]; !ok {
					whole = false
					missing = append(missing, c.name(s.Values, c.to.Methods[m], seed))
				}
			}
			if whole {
				shared = append(shared, seed)
			}
		}
		if len(shared) > 0 {
			s.seeds = shared
		}
	}
	if len(missing) == 0 {
		return nil
	}
	list := strings.Join(missing[:min(shownMissing, len(missing))], "; ")
	if len(missing) > shownMissing {
		list += fmt.Sprintf("; and %d more", len(missing)-shownMissing)
	}
	if !c.Incomplete {
		return fmt.Errorf("%s is missing for %s: finish the runs, or say --incomplete to take what all methods have", c.Number, list)
	}
	c.note("Missing and left out: %s.", list)
	return nil
}

// whole reports whether all methods have results in a setting.
func (s *Setting) whole() bool {
	return !slices.ContainsFunc(s.values, func(of map[string]float64) bool { return len(of) == 0 })
}

// of are the values of a method, in the order of the seeds.
func (s *Setting) of(method int) []float64 {
	var values []float64
	for _, seed := range s.seeds {
		if v, ok := s.values[method][seed]; ok {
			values = append(values, v)
		}
	}
	return values
}

// rate finds the means, and the best of each setting.
func (c *comparer) rate() {
	few := 0
	c.to.Wins = make([]int, len(c.to.Methods))
	for i := range c.to.Settings {
		s := &c.to.Settings[i]
		best := -1
		for m := range c.to.Methods {
			mean := grid.MeanOf(s.of(m))
			s.Results = append(s.Results, Result{Mean: mean.Value, Deviation: mean.Deviation, Runs: mean.Runs})
			if mean.Runs > 0 && (best < 0 || c.better(mean.Value, s.Results[best].Mean)) {
				best = m
			}
		}
		if best < 0 {
			continue
		}
		tested := len(s.seeds) >= ranktest.MinPairs(c.Level)
		if !tested {
			few++
		}
		for m := range s.Results {
			r := &s.Results[m]
			r.Best = r.Runs > 0 && r.Mean == s.Results[best].Mean
			if tested && r.Runs == len(s.seeds) && s.Results[best].Runs == r.Runs {
				w, _ := ranktest.SignedRanks(differences(s.of(best), s.of(m))) // all are finite
				r.P, r.Best = &w.P, r.Best || w.P >= c.Level
			}
			if r.Best {
				c.to.Wins[m]++
			}
		}
	}
	if few > 0 && (len(c.to.Settings) > 1 || len(c.to.Settings[0].seeds) > 1) {
		c.note("%s fewer than %d runs a method, with which no difference is significant at %g: only the best is marked there.", settings(few, len(c.to.Settings)), ranktest.MinPairs(c.Level), c.Level)
	}
}

func settings(n, of int) string {
	switch {
	case of == 1:
		return "There are"
	case n == of:
		return "All settings have"
	case n == 1:
		return "One setting has"
	}
	return fmt.Sprintf("%d settings have", n)
}

func (c *comparer) better(a, b float64) bool {
	if c.to.Lower {
		return a < b
	}
	return a > b
}

func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}
