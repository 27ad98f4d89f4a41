package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestSettingsFlag(t *testing.T) {
	for text, want := range map[string]string{
		"lambda=1":                                  "lambda=1",
		"lambda=1,2;epochs=3,4":                     "lambda=1,2;epochs=3,4",
		"lambda=1,2,epochs=3,4":                     "lambda=1,2;epochs=3,4", // as the elements of a list of TOML are joined
		" lambda=1, 2 ; epochs=3":                   "lambda=1,2;epochs=3",
		"augment=none,noise=0.5,lambda=1":           "augment=none,noise=0.5;lambda=1",
		"learning-rate=default,.1,class-loss=plain": "learning-rate=default,.1;class-loss=plain",
	} {
		var s settingsFlag
		if err := s.Set(text); err != nil || s.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, s.String(), err, want)
		}
	}
}

// Every flag that can be selected is one of mars-train.
func TestSelectableFlags(t *testing.T) {
	f := Train().Flags()
	for _, name := range selectable {
		if f.Lookup(name) == nil {
			t.Errorf("mars-train has no flag --%s", name)
		}
	}
}

// What is parsed is written so that it is parsed to the same again, as provenance does.
func FuzzSettingsFlag(f *testing.F) {
	for _, text := range []string{"lambda=1,2;epochs=3", "lambda=1,epochs=3", "augment=none,noise=0.5", ";", "=", "lambda=,", "lambda=1;;beta=2", "augment=lambda=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, again settingsFlag
		if s.Set(text) != nil {
			return
		}
		if err := again.Set(s.String()); err != nil || again.String() != s.String() {
			t.Fatalf("%q is %q, and that is %q, %v", text, s.String(), again.String(), err)
		}
		for _, item := range s.items {
			if len(item.values) == 0 || slices.Contains(item.values, "") || strings.ContainsAny(strings.Join(item.values, ""), ",;") {
				t.Fatalf("%q is %q", text, item)
			}
		}
	})
}
