package tables

import (
	"slices"
	"strings"
	"testing"
)

// Every text that Spellings and MissingTexts give is read as what they say, and there are
// all ways to write a word.
func TestSpellings(t *testing.T) {
	for value, want := range map[string]string{"3": "3 3.0", "-7": "-7 -7.0", "red": "red", "3.5": "3.5", "": ""} {
		got := Spellings(value)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q", value, got)
		}
		for _, text := range got {
			if canonical(text) != value {
				t.Errorf("%q is %q", text, canonical(text))
			}
		}
	}
	texts := MissingTexts()
	for _, text := range texts {
		if !isMissingText(text) {
			t.Errorf("%q is not missing", text)
		}
	}
	slices.Sort(texts)
	if n := 1 + 4 + 4 + 8 + 16 + 4 + 4; len(texts) != n || len(slices.Compact(texts)) != n || !slices.Contains(texts, "NaN") || !slices.Contains(texts, "#N/A") {
		t.Errorf("%d texts: %q", len(texts), texts)
	}
}
