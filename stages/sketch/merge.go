package sketch

import (
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/sketches"
)

// A Sketch of parts.
type Sketch = sketches.Sketch

// DefaultSample is how many rows a fit of the default looks at.
const DefaultSample = sketches.DefaultSample

// Is reports whether a path is the file of a sketch.
func Is(path string) bool { return sketches.Is(path) }

// Merge merges the sketches in files: in any order the result is the same, to the byte.
func Merge(env stages.Env, paths []string) (*Sketch, error) {
	s, err := sketches.LoadAll(paths)
	if err == nil {
		tell(env, s)
	}
	return s, err
}
