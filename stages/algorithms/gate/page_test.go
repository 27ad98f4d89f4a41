package gate

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The page of the default has all signs, in their order, and what the report says of each.
func TestPageHasSigns(t *testing.T) {
	const page = "../../../docs/default-rules.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	said := func(name, high, low string) []string { return []string{"`" + name + "`", high, low} }
	var problem, view, answer [][]string
	for _, s := range problemSigns {
		problem = append(problem, said(s.name, s.high, s.low))
	}
	for _, s := range viewSigns {
		view = append(view, said(s.name, s.high, s.low))
	}
	for _, name := range names(answerSigns) {
		answer = append(answer, []string{"`" + name + "`"})
	}
	for title, want := range map[string][][]string{"Of the problem": problem, "Of an assumption": view, "Of the answer": answer} {
		rows := tableOf(string(text), "\n### "+title+"\n")
		if len(rows) != len(want) {
			t.Errorf("%s: %q has %d signs, the program %d", page, title, len(rows), len(want))
			continue
		}
		for i, row := range rows {
			// The second cell says what the sign is.
			if len(row) != 1+len(want[i]) || len(row[1]) == 0 || !slices.Equal(append(row[:1:1], row[2:]...), want[i]) {
				t.Errorf("%s: sign %d of %q is %q: want %q", page, i+1, title, row, want[i])
			}
		}
	}
}

// tableOf are the cells of the first table after a title, below its head.
func tableOf(text, title string) (rows [][]string) {
	_, text, _ = strings.Cut(text, title)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows[min(2, len(rows)):]
}
