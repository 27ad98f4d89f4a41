// Package grid writes tables for people: as aligned text, Markdown and LaTeX.
package grid

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A Grid is a table for people to read.
type Grid struct {
	Title string // "" for none
	Head  []string
	Rows  [][]string
	// Strong cells stand out: by an asterisk in text, in bold elsewhere. Nil if none do.
	Strong func(row, column int) bool
	// Notes stand below it, a line each.
	Notes []string
}

// cells are the rows as they are written.
func (g *Grid) cells(strong, plain func(string) string) [][]string {
	rows := make([][]string, len(g.Rows))
	for i, row := range g.Rows {
		for j, cell := range row {
			write := plain
			if g.Strong != nil && g.Strong(i, j) {
				write = strong
			}
			rows[i] = append(rows[i], write(cell))
		}
	}
	return rows
}

// WriteText writes grids as aligned text.
func WriteText(w io.Writer, grids []Grid) error {
	var b strings.Builder
	for i, g := range grids {
		if i > 0 {
			b.WriteByte('\n')
		}
		if g.Title != "" {
			b.WriteString(g.Title + "\n")
		}
		if len(g.Head) > 0 {
			asIs := func(s string) string { return s }
			align(&b, append([][]string{g.Head}, g.cells(func(s string) string { return s + "*" }, asIs)...))
		}
		for _, note := range g.Notes {
			b.WriteString(note + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func align(b *strings.Builder, rows [][]string) {
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	tw.Flush() //nolint:errcheck // a Builder takes all
	for line := range strings.Lines(text.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// WriteMarkdown writes grids as tables of Markdown.
func WriteMarkdown(w io.Writer, grids []Grid) error {
	var b strings.Builder
	escape := strings.NewReplacer("|", `\|`).Replace
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	for i, g := range grids {
		if i > 0 {
			b.WriteByte('\n')
		}
		if g.Title != "" {
			b.WriteString(g.Title + "\n\n")
		}
		if len(g.Head) > 0 {
			head := Grid{Rows: [][]string{g.Head}}
			row(head.cells(nil, escape)[0])
			fmt.Fprintf(&b, "%s|\n", strings.Repeat("|---", len(g.Head)))
			for _, cells := range g.cells(func(s string) string { return "**" + escape(s) + "**" }, escape) {
				row(cells)
			}
			if len(g.Notes) > 0 {
				b.WriteByte('\n')
			}
		}
		for _, note := range g.Notes {
			b.WriteString("- " + note + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var latex = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "±", `$\pm$`, "≥", `$\ge$`, "<", `$<$`, ">", `$>$`)

// WriteLaTeX writes each grid as a tabular, with its title and notes as comments.
func WriteLaTeX(w io.Writer, grids []Grid) error {
	var b strings.Builder
	comment := func(text string) { b.WriteString("% " + strings.ReplaceAll(text, "\n", " ") + "\n") }
	row := func(cells []string) { b.WriteString(strings.Join(cells, " & ") + ` \\` + "\n") }
	for i, g := range grids {
		if i > 0 {
			b.WriteByte('\n')
		}
		if g.Title != "" {
			comment(g.Title)
		}
		if len(g.Head) > 0 {
			fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\hline\n", strings.Repeat("l", len(g.Head)))
			head := Grid{Rows: [][]string{g.Head}}
			row(head.cells(nil, latex.Replace)[0])
			b.WriteString("\\hline\n")
			for _, cells := range g.cells(func(s string) string { return `\textbf{` + latex.Replace(s) + "}" }, latex.Replace) {
				row(cells)
			}
			b.WriteString("\\hline\n\\end{tabular}\n")
		}
		for _, note := range g.Notes {
			comment(note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
