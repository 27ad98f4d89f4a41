package figures

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline/compare"
)

// StudyOptions say what is drawn of the results of a study.
type StudyOptions struct {
	Number  string   // "": balanced_accuracy, or else accuracy
	X       string   // the column along the axis; "": the last one of numbers, or of names
	Methods []string // in this order; nil: all that have the number
	// Settings are the columns that make a setting; nil means all that hold no results.
	Settings []string
	// Mixed takes results of different versions of the program.
	Mixed bool
	// PerRow is how many panels stand side by side; 0 means three.
	PerRow int
}

// Study draws a number by method against a column of the results, a panel for each setting of
// the other columns: lines with bands of a standard deviation where the column has numbers,
// else points with bars.
func Study(files []string, o StudyOptions) (*Figure, error) {
	c, err := compare.Files(files, compare.Options{Number: o.Number, Incomplete: true, Settings: o.Settings, Mixed: o.Mixed})
	if err != nil {
		return nil, err
	}
	return StudyOf(c, o)
}

// StudyOf draws a comparison as Study does, whose options Number, Settings and Mixed it has
// behind it.
func StudyOf(c *compare.Comparison, o StudyOptions) (*Figure, error) {
	f, s, err := studySheet(c, o)
	if err != nil {
		return nil, err
	}
	return f.figure("study", s.table()), nil
}

func studySheet(c *compare.Comparison, o StudyOptions) (*sheet, *study, error) {
	s := &study{Comparison: c}
	if err := s.chooseMethods(o.Methods); err != nil {
		return nil, nil, err
	}
	if err := s.chooseX(o.X); err != nil {
		return nil, nil, err
	}
	f := &sheet{title: safetext.Escape(c.Number), perRow: o.PerRow}
	for _, panel := range s.panels() {
		f.panels = append(f.panels, s.draw(panel))
	}
	if f.panels == nil {
		return nil, nil, errNoPanels
	}
	sameRange(f.panels)
	f.wide = len(f.panels) == 1 && !s.numbers
	for k, m := range s.methods {
		f.legend = append(f.legend, entry{safetext.Escape(c.Methods[m]), colourOf(s.look(k)), markOf(s.look(k))})
	}
	f.note = s.note()
	return f, s, nil
}

type study struct {
	*compare.Comparison
	methods []int // drawn
	named   bool  // the user has chosen them
	left    []string
	x       int  // column of the axis
	numbers bool // whether it has numbers
}

// chooseMethods takes the methods that have the number.
func (s *study) chooseMethods(names []string) error {
	s.named = names != nil
	for m, name := range s.Methods {
		has := slices.ContainsFunc(s.Settings, func(t compare.Setting) bool { return t.Results[m].Runs > 0 })
		switch {
		case names == nil && has:
			s.methods = append(s.methods, m)
		case names == nil:
			s.left = append(s.left, name)
		case slices.Contains(names, name) && !has:
			return fmt.Errorf("method %q has no %s", name, s.Number)
		}
	}
	for _, name := range names {
		m := slices.Index(s.Methods, name)
		if m < 0 {
			return fmt.Errorf("there are no results of a method %q: there are %s", name, strings.Join(s.Methods, ", "))
		}
		if !slices.Contains(s.methods, m) {
			s.methods = append(s.methods, m)
		}
	}
	return nil
}

// fewestNumbers is how many different numbers make an axis without being asked for.
const fewestNumbers = 2

// chooseX settles which column goes along the axis.
func (s *study) chooseX(name string) error {
	if s.x = -1; len(s.Columns) == 0 {
		if name != "" {
			return fmt.Errorf("there is no column %q to draw against: the results are all of one setting", name)
		}
		return nil // methods stand side by side
	}
	s.x = slices.Index(s.Columns, name)
	if name != "" && s.x < 0 {
		return fmt.Errorf("there is no column %q to draw against: there are %s", name, strings.Join(s.Columns, ", "))
	}
	if name == "" {
		s.x = len(s.Columns) - 1
		for k := range s.Columns {
			if values, numbers := s.values(k); numbers && len(values) >= fewestNumbers {
				s.x = k
			}
		}
	}
	_, s.numbers = s.values(s.x)
	return nil
}

// values are the different values of a column, and whether all are numbers.
func (s *study) values(column int) (values []string, numbers bool) {
	numbers = true
	for _, t := range s.Settings {
		v := t.Values[column]
		if _, err := parsed(v); err != nil {
			numbers = false
		}
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values, numbers
}

func parsed(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}

// panels groups the settings by all columns but that of the axis.
func (s *study) panels() (groups [][]compare.Setting) {
	at := map[string]int{}
	for _, t := range s.Settings {
		key := s.title(t)
		if _, ok := at[key]; !ok {
			at[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], t)
	}
	return groups
}

func (s *study) title(t compare.Setting) string {
	var parts []string
	for k, column := range s.Columns {
		if k != s.x {
			parts = append(parts, column+" "+t.Values[k])
		}
	}
	return strings.Join(parts, ", ")
}

// mostNames is how many names stand level along an axis; more of them are turned.
const mostNames = 5

func (s *study) draw(settings []compare.Setting) *plot.Plot {
	p := newPanel(safetext.Escape(s.title(settings[0])))
	p.Y.Label.Text = safetext.Escape(s.Number)
	if s.x >= 0 {
		p.X.Label.Text = safetext.Escape(s.Columns[s.x])
	}
	if s.numbers {
		slices.SortStableFunc(settings, func(a, b compare.Setting) int {
			va, _ := parsed(a.Values[s.x])
			vb, _ := parsed(b.Values[s.x])
			return int(math.Copysign(1, va-vb))
		})
	} else {
		names := make([]string, len(settings))
		for i, t := range settings {
			if s.x >= 0 {
				names[i] = safetext.Escape(t.Values[s.x])
			}
		}
		p.NominalX(names...)
		p.X.Min, p.X.Max = -.5, float64(len(names))-.5
		if len(names) > mostNames {
			p.X.Tick.Label.Rotation = math.Pi / 2
			p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
		}
	}
	for k, m := range s.methods {
		p.Add(s.trail(settings, k, m))
	}
	if s.numbers {
		pad(&p.X)
	}
	return p
}

// sameRange gives all panels one range of the number, so that they can be compared.
func sameRange(panels []*plot.Plot) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		low, high = min(low, p.Y.Min), max(high, p.Y.Max)
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = low, high
		pad(&p.Y)
	}
}

// pad leaves some room on both sides of the values.
func pad(a *plot.Axis) {
	room := .03 * (a.Max - a.Min)
	if !(room > 1e-9) {
		room = .01
	}
	a.Min, a.Max = a.Min-room, a.Max+room
}

// markOf is the mark of method k: colours are not all that tells methods apart.
func markOf(k int) mark { return []mark{square, triangle, diamond, ring}[k%4] }

// look is which colour and mark the method drawn in place k has: the same in all figures of a
// study, also of a number that some methods lack.
func (s *study) look(k int) int {
	if s.named {
		return k
	}
	return s.methods[k]
}

// trail is a method's in a panel.
func (s *study) trail(settings []compare.Setting, k, m int) *trail {
	look := s.look(k)
	c := &trail{colour: colourOf(look), mark: markOf(look), joined: s.numbers, dashed: look >= 4}
	for i, t := range settings {
		r := t.Results[m]
		if r.Runs == 0 {
			continue
		}
		x := 0.0
		if s.numbers {
			x, _ = parsed(t.Values[s.x])
		} else {
			x = float64(i) + .7*(float64(k)+.5)/float64(len(s.methods)) - .35
		}
		c.x, c.mean = append(c.x, x), append(c.mean, r.Mean)
		deviation := 0.0
		if r.Runs > 1 {
			deviation = r.Deviation
		}
		c.deviation = append(c.deviation, deviation)
	}
	return c
}

// table is the means and deviations.
func (s *study) table() Table {
	t := Table{Head: slices.Clone(s.Columns)}
	for _, m := range s.methods {
		t.Head = append(t.Head, s.Methods[m])
	}
	for _, setting := range s.Settings {
		row := slices.Clone(setting.Values)
		for _, m := range s.methods {
			cell := ""
			switch r := setting.Results[m]; {
			case r.Runs > 1:
				cell = fmt.Sprintf("%.3f ± %.3f", r.Mean, r.Deviation)
			case r.Runs == 1:
				cell = fmt.Sprintf("%.3f", r.Mean)
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// note says what the means are of, and what is missing.
func (s *study) note() string {
	least, most := math.MaxInt, 0
	missing := map[string]int{}
	for _, t := range s.Settings {
		for _, m := range s.methods {
			runs := t.Results[m].Runs
			if runs == 0 {
				missing[s.Methods[m]]++
				continue
			}
			least, most = min(least, runs), max(most, runs)
		}
	}
	text := fmt.Sprintf("Means of %d runs, and their standard deviation.", most)
	switch {
	case most == 1:
		text = "One run each: there is no deviation to draw."
	case least < most:
		text = fmt.Sprintf("Means of %d to %d runs, and their standard deviation.", least, most)
	}
	if len(s.left) > 0 {
		text += fmt.Sprintf(" Without %s: %s.", s.Number, strings.Join(s.left, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		text += fmt.Sprintf(" %s lacks %d of %d settings.", name, missing[name], len(s.Settings))
	}
	for _, n := range s.Notes { // what was taken for what, and what was left out, as in comparisons
		if len(s.left) == 0 && strings.HasPrefix(n, "Missing and left out") || strings.HasPrefix(n, "Some settings have results of several files") {
			text += " " + n
		}
	}
	return safetext.Escape(text)
}

// trail is a plotter of means with deviations: a line with a band, or points with bars.
type trail struct {
	x, mean, deviation []float64
	colour             color.NRGBA
	mark               mark
	joined, dashed     bool
}

func (d *trail) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i, x := range d.x {
		xmin, xmax = min(xmin, x), max(xmax, x)
		ymin, ymax = min(ymin, d.mean[i]-d.deviation[i]), max(ymax, d.mean[i]+d.deviation[i])
	}
	return
}

func (d *trail) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	points := make([]vg.Point, len(d.x))
	low, high := slices.Clone(points), slices.Clone(points)
	for i, x := range d.x {
		points[i] = vg.Point{X: tx(x), Y: ty(d.mean[i])}
		low[i] = vg.Point{X: tx(x), Y: ty(d.mean[i] - d.deviation[i])}
		high[i] = vg.Point{X: tx(x), Y: ty(d.mean[i] + d.deviation[i])}
	}
	if len(points) == 0 {
		return
	}
	line := draw.LineStyle{Color: d.colour, Width: 1.2}
	if d.dashed {
		line.Dashes = []vg.Length{4, 2}
	}
	if d.joined {
		band := d.colour
		band.A = 40
		slices.Reverse(low)
		c.FillPolygon(band, append(high, low...))
		c.StrokeLines(line, points)
	} else {
		line.Dashes = nil
		for i := range points {
			c.StrokeLine2(line, low[i].X, low[i].Y, high[i].X, high[i].Y)
		}
	}
	d.mark.draw(&c, points, d.colour)
}
