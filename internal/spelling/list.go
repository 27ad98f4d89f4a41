package spelling

import (
	"fmt"
	"strings"
)

// MaxNamed is how many names get a sentence each; more share one, with List.
const MaxNamed = 10

// List names the first few of many, and counts the others.
func List(names []string) string {
	const shown = 5
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
