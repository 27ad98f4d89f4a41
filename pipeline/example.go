package pipeline

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed examples/*.toml
var examples embed.FS

// ExampleNames are the pipeline files that Example has.
func ExampleNames() []string {
	files, err := examples.ReadDir("examples")
	if err != nil {
		panic("pipeline: " + err.Error())
	}
	return namesOf(files, func(f fs.DirEntry) string { return strings.TrimSuffix(f.Name(), ".toml") })
}

// Example is a commented pipeline file.
func Example(name string) (string, error) {
	if !slices.Contains(ExampleNames(), name) {
		return "", fmt.Errorf("there is no example %q: %s", name, didYouMean(name, ExampleNames()))
	}
	text, err := examples.ReadFile("examples/" + name + ".toml")
	return string(text), err
}
