package main

import (
	"fmt"
	"os"
	"path/filepath"
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

// leaveOut takes those of alike out of the mutants.
func leaveOut(kinds map[string][]mutant, dir string) error {
	left := map[same]bool{}
	for _, s := range alike {
		s.why = ""
		left[s] = true
	}
	texts := map[string]string{}
	for kind, of := range kinds {
		var kept []mutant
		for _, m := range of {
			if texts[m.file] == "" {
				text, err := os.ReadFile(filepath.Join(dir, m.file))
				if err != nil {
					return err
				}
				texts[m.file] = string(text)
			}
			text := texts[m.file]
			from := 1 + strings.LastIndexByte(text[:m.at], '\n')
			to := m.at + len(m.old) + strings.IndexByte(text[m.at+len(m.old):], '\n')
			s := same{m.file, strings.TrimSpace(text[from:to]), strings.TrimSpace(text[from:m.at] + m.new + text[m.at+len(m.old):to]), ""}
			if _, ok := left[s]; ok {
				left[s] = false
			} else {
				kept = append(kept, m)
			}
		}
		kinds[kind] = kept
	}
	for s, lacks := range left {
		if lacks {
			return fmt.Errorf("%s: %q does not become %q: mend the list of lines that are the same", s.file, s.line, s.becomes)
		}
	}
	return nil
}
