package tables

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table of docs/formats.md has a row for each file of the folder formats, with the
// program that wrote it, and no others. TestOracle reads them.
func TestFormatsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(formats, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []oracleCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if strings.HasSuffix(line, "` |\n") {
			rows[strings.TrimSpace(line)] = true
		}
	}
	for _, c := range cases {
		file, _, _ := strings.Cut(c.File, ":")
		row := fmt.Sprintf("| %s | %s | `%s` |", c.Format, c.Writer, file)
		if _, there := rows[row]; !there {
			t.Errorf("the page lacks the row\n%s", row)
		}
		rows[row] = false
	}
	for row, unread := range rows {
		if unread {
			t.Errorf("the page has a row that no file stands for:\n%s", row)
		}
	}
}
