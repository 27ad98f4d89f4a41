package pipeline

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A grid is a table for people to read.
type grid struct {
	title string // "" for none
	head  []string
	rows  [][]string
}

// writeText writes grids as aligned text.
func writeText(w io.Writer, grids []grid) error {
	p := &printer{w: w}
	for i, g := range grids {
		if i > 0 {
			p.line("")
		}
		if g.title != "" {
			p.line("%s", g.title)
		}
		p.aligned(append([][]string{g.head}, g.rows...))
	}
	return p.err
}

func (p *printer) aligned(rows [][]string) {
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	tw.Flush() //nolint:errcheck // a Builder takes all
	for line := range strings.Lines(text.String()) {
		p.line("%s", strings.TrimRight(line, " \n"))
	}
}

// writeMarkdown writes grids as tables of Markdown.
func writeMarkdown(w io.Writer, grids []grid) error {
	p := &printer{w: w}
	for i, g := range grids {
		if i > 0 {
			p.line("")
		}
		if g.title != "" {
			p.line("%s\n", g.title)
		}
		p.markdownRow(g.head)
		p.line("%s|", strings.Repeat("|---", len(g.head)))
		for _, row := range g.rows {
			p.markdownRow(row)
		}
	}
	return p.err
}

func (p *printer) markdownRow(cells []string) {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	p.line("| %s |", strings.Join(escaped, " | "))
}
