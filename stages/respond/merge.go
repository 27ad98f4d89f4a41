package respond

import (
	"fmt"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/responses"
)

// Sums are what passes over parts have left.
type Sums = responses.Responses

// Union merges the sums of parts, whose names are for errors.
func Union(all []*Sums, names []string) (*Sums, error) { return responses.Merge(all, names) }

// Merge merges the sums in files: in any order the result is the same, to the byte.
func Merge(env stages.Env, paths []string) (*Sums, error) {
	all := make([]*Sums, len(paths))
	for i, path := range paths {
		var err error
		if all[i], err = responses.Load(path); err != nil {
			return nil, err
		}
	}
	r, err := responses.Merge(all, paths)
	if err == nil {
		env.Logger().Info(fmt.Sprintf("pass %d: %s of %s", r.Pass, spelling.Count(r.Rows(), "row", "rows"), spelling.Count(len(r.Parts), "part", "parts")))
	}
	return r, err
}
