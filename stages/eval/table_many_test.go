package eval

import (
	"fmt"
	"strings"
	"testing"
)

// A table of many classes, or of long names, stays one that a person can read.
func TestTableOfManyClasses(t *testing.T) {
	const n = 4096
	classes, confusion := make([]string, n), make([][]int, n)
	for k := range classes {
		classes[k], confusion[k] = fmt.Sprint("class", k), make([]int, n)
		confusion[k][k] = 1
	}
	classes[7] = strings.Repeat("é", 10_000)
	confusion[7][9], confusion[8][9] = 5, 3
	var text strings.Builder
	if err := newMetrics(classes, confusion).WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	got := text.String()
	cut := strings.Repeat("é", 39) + "…"
	largest := "largest confusions, 2 of 2 (--json has the whole matrix of 4096 classes)\n"
	if at := strings.Index(got, largest); at < 0 || !strings.HasPrefix(got[at+len(largest):], "true") ||
		strings.Index(got[at:], cut) > strings.Index(got[at:], "class8") {
		t.Errorf("want %q, the largest first:\n%s", largest, got[max(0, len(got)-300):])
	}
	if strings.Contains(got, cut[:78]+"é") || len(got) > 1<<20 {
		t.Errorf("%d bytes", len(got))
	}
}
