package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

var namedDefault = regexp.MustCompile("`--([a-z-]+)` \\(default ([^),;]+)")

// A default that a page names, as in `--level` (default 0.9), is that of the flag.
func TestDefaultsOfPages(t *testing.T) {
	defaults := map[string][]string{}
	for _, cmd := range Mars().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { defaults[f.Name] = append(defaults[f.Name], f.DefValue) })
	}
	named := 0
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join("..", "..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range namedDefault.FindAllStringSubmatch(string(text), -1) {
				if named++; !slices.Contains(defaults[found[1]], found[2]) {
					t.Errorf("%s: %s is not a default of --%s: %q", page, found[2], found[1], defaults[found[1]])
				}
			}
		}
	}
	if named == 0 {
		t.Error("pages name no defaults: has the pattern gone stale?")
	}
}
