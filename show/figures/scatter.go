package figures

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/plot"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/stages/algorithms/pca"
	"mars.dev/mars/stages/algorithms/tsne"
)

// ScatterOptions say how rows are laid out in the plane.
type ScatterOptions struct {
	TSNE       bool    // by t-SNE, rather than principal components
	Perplexity float64 // see tsne.Options
	Seed       uint64
}

// Scatter draws each column of vectors of each stream in a panel: colours are classes, rings
// source rows and triangles target rows.
func Scatter(ctx context.Context, streams []*Rows, o ScatterOptions) (*Figure, error) {
	f, kind := &sheet{title: "Principal components"}, "pca"
	if o.TSNE {
		f.title, kind = "t-SNE", "tsne"
	}
	names := classesOf(streams)
	for _, s := range streams {
		for k, x := range s.Vectors {
			layout, err := o.layout(ctx, x)
			if err != nil {
				return nil, fmt.Errorf("%s: column %q: %w", s.Name, s.Columns[k], err)
			}
			title := s.Columns[k]
			if len(streams) > 1 {
				title += " of " + filepath.Base(s.Name)
			}
			f.panels = append(f.panels, s.panel(layout, safetext.Escape(title), names))
		}
	}
	if f.panels == nil {
		return nil, errNoPanels
	}
	f.legend = legendOf(streams, names)
	f.note = o.note(streams, len(names))
	return f.figure(kind, countsOf(streams, names)), nil
}

// plane is points in the plane, with what their axes are.
type plane struct {
	y    []float64 // n×2
	axes [2]string // "" where an axis says nothing
}

func (o ScatterOptions) layout(ctx context.Context, x blas32.General) (plane, error) {
	if o.TSNE {
		r, err := tsne.Fit(ctx, x, tsne.Options{Perplexity: o.Perplexity, Seed: o.Seed})
		if err != nil {
			return plane{}, err
		}
		return plane{y: r.Y}, nil
	}
	p, err := pca.Project(ctx, x, 2, o.Seed)
	if err != nil {
		return plane{}, err
	}
	l := plane{y: make([]float64, 2*x.Rows)}
	for j := range p.Scores.Cols {
		l.axes[j] = fmt.Sprintf("component %d (%.0f %% of the variance)", j+1, 100*p.Explained[j])
		for i := range x.Rows {
			l.y[2*i+j] = p.Scores.Data[i*p.Scores.Cols+j]
		}
	}
	return l, nil
}

// classesOf are the names of the classes of all streams, by the order in which they come.
func classesOf(streams []*Rows) (names []string) {
	for _, s := range streams {
		for k, name := range s.Names {
			if slices.Contains(s.Classes, int32(k)) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// panel draws the rows of a stream.
func (s *Rows) panel(l plane, title string, names []string) *plot.Plot {
	p := newPanel(title)
	clouds := map[[2]int]*cloud{}
	for i, class := range s.Classes {
		at := [2]int{int(s.Domains[i]), -1}
		if class >= 0 {
			at[1] = slices.Index(names, s.Names[class])
		}
		c := clouds[at]
		if c == nil {
			c = &cloud{colour: grey, mark: ring}
			if class >= 0 {
				c.colour = colourOf(at[1])
			}
			if s.Domains[i] == arrowio.TargetDomain {
				c.mark = triangle
			}
			clouds[at] = c
		}
		c.xs, c.ys = append(c.xs, l.y[2*i]), append(c.ys, l.y[2*i+1])
	}
	for _, domain := range []arrowio.Domain{arrowio.SourceDomain, arrowio.TargetDomain} {
		for class := -1; class < len(names); class++ {
			if c := clouds[[2]int{int(domain), class}]; c != nil {
				p.Add(c)
			}
		}
	}
	l.scale(p)
	return p
}

// scale gives both axes the same units.
func (l plane) scale(p *plot.Plot) {
	for _, a := range []struct {
		axis *plot.Axis
		name string
	}{{&p.X, l.axes[0]}, {&p.Y, l.axes[1]}} {
		a.axis.Label.Text = a.name
		if a.name == "" { // neither places nor units of t-SNE mean anything
			p.HideAxes()
		}
	}
	half := max(p.X.Max-p.X.Min, p.Y.Max-p.Y.Min) / 2 * 1.03
	if half == 0 {
		half = 1
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		middle := (axis.Min + axis.Max) / 2
		axis.Min, axis.Max = middle-half, middle+half
	}
}

// mostEntries is how many classes a legend lists.
const mostEntries = 24

func legendOf(streams []*Rows, names []string) (legend []entry) {
	for k, name := range names {
		if k == mostEntries {
			legend = append(legend, entry{fmt.Sprintf("and %d classes more", len(names)-k), grey, square})
			break
		}
		legend = append(legend, entry{safetext.Escape(name), colourOf(k), square})
	}
	has := func(f func(s *Rows, i int) bool) bool {
		return slices.ContainsFunc(streams, func(s *Rows) bool {
			for i := range s.Domains {
				if f(s, i) {
					return true
				}
			}
			return false
		})
	}
	if has(func(s *Rows, i int) bool { return s.Classes[i] < 0 }) {
		legend = append(legend, entry{"class not known", grey, square})
	}
	for _, m := range []struct {
		domain arrowio.Domain
		mark   mark
	}{{arrowio.SourceDomain, ring}, {arrowio.TargetDomain, triangle}} {
		if has(func(s *Rows, i int) bool { return s.Domains[i] == m.domain }) {
			legend = append(legend, entry{m.domain.String(), grey, m.mark})
		}
	}
	return legend
}

// note says what is drawn.
func (o ScatterOptions) note(streams []*Rows, classes int) string {
	var parts []string
	for _, s := range streams {
		drawn, of := len(s.Domains), ""
		if len(streams) > 1 {
			of = " of " + safetext.Escape(filepath.Base(s.Name))
		}
		if drawn < s.Total {
			parts = append(parts, fmt.Sprintf("%d of the %d rows%s are drawn, a fair sample by seed %d.", drawn, s.Total, of, o.Seed))
		} else {
			parts = append(parts, fmt.Sprintf("All %d rows%s.", drawn, of))
		}
		if slices.Contains(s.Domains, arrowio.TargetDomain) {
			parts = append(parts, map[string]string{
				"truth":      "Target rows have the colour of their true class.",
				"prediction": "Target rows have the colour of the class predicted.",
				"":           "The classes of target rows are not known.",
			}[s.Colours])
		}
	}
	parts = compact(parts)
	if o.TSNE {
		perplexity := o.Perplexity
		if perplexity == 0 {
			perplexity = 30
			for _, s := range streams {
				perplexity = min(perplexity, float64(len(s.Domains)-1)/3)
			}
		}
		parts = append(parts, fmt.Sprintf("t-SNE of the rows drawn, perplexity %.4g: near rows stay near; distances between groups, and sizes of groups, mean little.", perplexity))
	}
	if classes > mostEntries {
		parts = append(parts, "With so many classes, colours are alike.")
	}
	return strings.Join(parts, " ")
}

// countsOf is how many rows of each class are drawn.
func countsOf(streams []*Rows, names []string) Table {
	t := Table{Head: []string{"stream", "class", "source", "target"}}
	for _, s := range streams {
		counts := make([][2]int, len(names)+1)
		for i, class := range s.Classes {
			at := len(names)
			if class >= 0 {
				at = slices.Index(names, s.Names[class])
			}
			if s.Domains[i] == arrowio.TargetDomain {
				counts[at][1]++
			} else {
				counts[at][0]++
			}
		}
		for k, n := range counts {
			name := "not known"
			if k < len(names) {
				name = names[k]
			}
			if n != [2]int{} {
				t.Rows = append(t.Rows, []string{s.Name, name, strconv.Itoa(n[0]), strconv.Itoa(n[1])})
			}
		}
	}
	return t
}

// compact leaves out what was said before.
func compact(parts []string) (once []string) {
	for _, p := range parts {
		if !slices.Contains(once, p) {
			once = append(once, p)
		}
	}
	return once
}
