package pipeline

import (
	"embed"
	"fmt"
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
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".toml"))
	}
	return names
}

// Example is a commented pipeline file.
func Example(name string) (string, error) {
	if !slices.Contains(ExampleNames(), name) {
		return "", fmt.Errorf("there is no example %q: %s", name, didYouMean(name, ExampleNames()))
	}
	text, err := examples.ReadFile("examples/" + name + ".toml")
	return string(text), err
}
