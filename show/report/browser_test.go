package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// browser is a browser that can be run without a screen.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no browser (chromium) is installed: pages are not looked at")
	return ""
}

// look looks at pages in a browser as testdata/look.cjs says, and reports what is wrong with them.
func look(t *testing.T, pages ...string) {
	t.Helper()
	program, folder := browser(t), t.TempDir()
	if err := exec.Command("node", "-e", `require("puppeteer-core"); require("axe-core")`).Run(); err != nil {
		t.Skip("Node.js with puppeteer-core and axe-core (NODE_PATH) is not installed: pages are not looked at")
	}
	cmd := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join("testdata", "look.cjs"), program, folder}, pages...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	views := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); views++ {
		var seen struct {
			Name  string
			Wrong []string
		}
		if err := json.Unmarshal(lines.Bytes(), &seen); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range seen.Wrong {
			t.Errorf("%s: %s", seen.Name, wrong)
		}
	}
	if views != 9*len(pages) {
		t.Errorf("%d views of %d pages", views, len(pages))
	}
}

// savePage writes a page into a folder.
func savePage(t *testing.T, folder, name string, page *Page) string {
	t.Helper()
	path := filepath.Join(folder, name+".html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(page.Write(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// Pages can be read on a telephone and on a wide screen, in light, dark and print, by people who do
// not see, and without a network: a browser says nothing about them.
func TestPagesInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	folder := t.TempDir()
	doubted, err := Proportions(proportionsOf([]string{"naive T cells", "B", "a class with a rather long name"}))
	if err != nil {
		t.Fatal(err)
	}
	doubted.Judged, doubted.Next, doubted.Command = "doubt", "Label some rows.", "mars ask "+strings.Repeat("--column=long ", 30)
	rows, err := Rows(t.Context(), rowsOf([]string{"a", "b", "c"}, 200), Options{})
	if err != nil {
		t.Fatal(err)
	}
	look(t, savePage(t, folder, "many points", &Page{Title: "A page", Parts: []*Part{rows}}), savePage(t, folder, "all", &Page{Title: "A page", Parts: allParts(t, hostile), Made: "Made by a test.", Log: hostile}),
		savePage(t, folder, "doubted", &Page{Title: doubted.Title, Parts: []*Part{doubted}, Made: "Made by a test."}))
}
