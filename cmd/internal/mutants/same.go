package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A same is a line that may become another without any difference that could be seen, but for time and memory.
type same struct{ file, line, becomes, why string }

// alike are the lines that are not chosen. They are those that a choice by seed has shown, not all that there are.
var alike = []same{
	{"stages/algorithms/adapt/selftraining.go", "if cap(b.target) < targets {", "if cap(b.target) <= targets {", "memory is made that was there"},
	{"stages/algorithms/boosting/split.go", "if g*hRight+gRight*h < least*(h*hRight) {", "if g*hRight+gRight*h < least*(h / hRight) {",
		"what is passed over is less, and what is not is compared by its gain"},
	{"stages/algorithms/hedge/axes.go", "if z.Rows > 0 {", "if z.Rows >= 0 {", "a product of no rows is nothing"},
	{"stages/algorithms/labelshift/fixedpoint.go", "if classes > newtonClasses {", "if classes >= newtonClasses {", "both ways lead to the same proportions"},
	{"stages/algorithms/unmix/unmix.go", "of[k] = dense.Sum(m.gram.RawRowView(k)) / float64(classes)", "of[k] = dense.Sum(m.gram.RawRowView(k)) * float64(classes)",
		"more taken off all classes alike makes the least eigenvalue, of the direction in which they are alike, negative where it was 0"},
	{"stages/featurize/livetext.go", "n, told := len(l.ends), false", "n, told := len(l.ends), true", "the next part is read later"},
	{"stages/featurize/toy/toy.go", "if i%stepRows == 0 && ctx.Err() != nil {", "if i%stepRows != 0 && ctx.Err() != nil {", "an interruption is noticed within so many rows"},
}

// isAlike says whether a chosen mutant is one of alike.
func (m mutant) isAlike(dir string) (bool, error) {
	content, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return false, err
	}
	text, end := string(content), m.at+len(m.old)
	from, to := 1+strings.LastIndexByte(text[:m.at], '\n'), end+strings.IndexByte(text[end:], '\n')
	line, becomes := strings.TrimSpace(text[from:to]), strings.TrimSpace(text[from:m.at]+m.new+text[end:to])
	return slices.ContainsFunc(alike, func(s same) bool { return s.file == m.file && s.line == line && s.becomes == becomes }), nil
}
