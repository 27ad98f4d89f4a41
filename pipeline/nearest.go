package pipeline

import (
	"strings"

	"mars.dev/mars/internal/spelling"
)

// didYouMean is a hint: the nearest candidate, or all of them.
func didYouMean(word string, candidates []string) string {
	if c := spelling.Nearest(word, candidates); c != "" {
		return "did you mean " + c + "?"
	}
	return "there are " + strings.Join(candidates, ", ")
}
