package main

import (
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A same is a line that may become another without any difference that could be seen, but for time and memory.
// Where the line is in its file more than once, those before it stand before it.
type same struct{ file, line, becomes, why string }

//go:embed alike.tsv
var alikeTable string

// alike are the lines that are not chosen: those that somebody has thought about, not all that there are.
// They are rows of alike.tsv, in which ⏎ is the end of a line.
var alike = func() (all []same) {
	for row := range strings.Lines(alikeTable) {
		c := append(strings.Split(strings.TrimSuffix(row, "\n"), "\t"), make([]string, 4)...)
		all = append(all, same{c[0], strings.ReplaceAll(c[1], "⏎", "\n"), strings.ReplaceAll(c[2], "⏎", "\n"), c[3]})
	}
	return all
}()

// isAlike says whether a chosen mutant is one of alike.
func (m mutant) isAlike(dir string) (bool, error) {
	content, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return false, err
	}
	text, end := string(content), m.at+len(m.old)
	from, to := 1+strings.LastIndexByte(text[:m.at], '\n'), end+strings.IndexByte(text[end:], '\n')
	until, becomes := "\n"+trimmed(text[:to]), trimmed(text[from:m.at]+m.new+text[end:to])
	return slices.ContainsFunc(alike, func(s same) bool {
		return s.file == m.file && s.becomes == becomes && strings.HasSuffix(until, "\n"+s.line)
	}), nil
}

// trimmed is text without the blanks at the ends of its lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
