package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/show/figures"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"plain": safetext.Escape, "lines": safetext.EscapeLines, "heading": heading}).Parse(pageText))

// A Page is some parts in one HTML file, which needs nothing else: no network, no script.
type Page struct {
	Title   string
	Parts   []*Part
	Inputs  *figures.Table // files that were read; nil if none are known
	Log     []string       // what the program said of them
	Made    string         // what made it, and when: program, version and date
	Command string         // that makes it again; "" if it is not known
	Sources []Source
}

// A Source is the text of a file that a page was made by.
type Source struct{ Name, Text string }

// maxTable is how many rows of a table a page has.
const maxTable = 500

type drawn struct {
	*figures.Figure
	SVG  template.HTML
	More int // rows of the table that are left out
}

// section is a part as the template takes it, which calls no methods: cmd/internal/web says why.
type section struct {
	*Part
	ID    string
	Grade *Grade
	Drawn []drawn
	Held  []held
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	var sections []section
	for i, part := range p.Parts {
		s := section{Part: part, ID: fmt.Sprintf("part-%d", i+1), Grade: part.Grade()}
		var err error
		if s.Held, err = hold(part.Pictures); err != nil {
			return err
		}
		for k, f := range part.Figures {
			svg, err := f.Inline(fmt.Sprintf("figure-%d-%d", i+1, k+1))
			if err != nil {
				return err
			}
			shown := *f
			d := drawn{Figure: &shown, SVG: template.HTML(svg)}
			if d.More = len(f.Table.Rows) - maxTable; d.More > 0 {
				shown.Table.Rows = f.Table.Rows[:maxTable]
			}
			s.Drawn = append(s.Drawn, d)
		}
		sections = append(sections, s)
	}
	return page.Execute(safetext.NewWriter(w), map[string]any{"Page": p, "Sections": sections, "Scale": Scale,
		"Alone": len(p.Parts) == 1 && p.Parts[0].Title == p.Title})
}

// heading is one under the title of a part, which is the page's if it is the only one.
func heading(alone bool, text string) template.HTML {
	level := 3
	if alone {
		level = 2
	}
	return template.HTML(fmt.Sprintf("<h%d>%s</h%[1]d>", level, template.HTMLEscapeString(safetext.Escape(text))))
}
