package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A line that was rewritten must be rewritten in the fixed list too: better said by the
// tests than by the last step of the checks.
func TestFixedListFits(t *testing.T) {
	if err := fits(fixedMutants, "../../.."); err != nil {
		t.Error(err)
	}
}

// A line that may become another is there, and is said to become something else, for a reason.
func TestAlikeFits(t *testing.T) {
	for _, s := range alike {
		text, err := os.ReadFile(filepath.Join("../../..", s.file))
		lines := "\n" + trimmed(string(text)) + "\n"
		if n := strings.Count(lines, "\n"+s.line+"\n"); err != nil || n != 1 || s.why == "" || strings.HasSuffix("\n"+s.line, "\n"+s.becomes) {
			t.Errorf("%s: %q is there %d times, not once, or has no reason: mend alike.tsv (%v)", s.file, s.line, n, err)
			continue
		}
		before, _, _ := strings.Cut(lines, "\n"+s.line+"\n")
		last := strings.Count(before, "\n") + strings.Count(s.line, "\n") - strings.Count(s.becomes, "\n")
		at := len(strings.Join(strings.SplitAfter(string(text), "\n")[:last], ""))
		old := strings.Join(strings.Split(string(text[at:]), "\n")[:1+strings.Count(s.becomes, "\n")], "\n")
		m := mutant{file: s.file, old: old, new: s.becomes, at: at}
		if listed, err := m.isAlike("../../.."); err != nil || !listed {
			t.Errorf("%s: %q is not known as one of the list (%v)", s.file, s.line, err)
		}
		m.new += " else"
		if listed, err := m.isAlike("../../.."); err != nil || listed {
			t.Errorf("%s: something else is taken for one of the list (%v)", s.file, err)
		}
	}
}

// Six commits after each other try the whole list.
func TestSixths(t *testing.T) {
	tried := 0
	for sixth := 1; sixth <= 6; sixth++ {
		tried += len(sixthOf(fixedMutants, sixth))
	}
	if all := len(sixthOf(fixedMutants, 0)); all != len(fixedMutants) || tried != all {
		t.Errorf("sixths have %d lines, and the list %d of %d", tried, all, len(fixedMutants))
	}
}
