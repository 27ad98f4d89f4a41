package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// contribute is the page for those who change the program.
const contribute = "contribute.md"

// The changes that the page shows make a program that does what the page says: a format, a
// classifier and a column.
func TestContribute(t *testing.T) {
	t.Parallel()
	root, page := filepath.Join("..", ".."), contributePage(t)
	overlay, dir := map[string]string{}, t.TempDir()
	var rest strings.Builder // what runPage runs
	for _, b := range blocks(page) {
		kind, path, _ := strings.Cut(b.info, " ")
		content := b.text
		switch kind {
		default:
			rest.WriteString("```" + b.info + "\n" + b.text + "```\n")
			continue
		case "diff":
			content = patched(t, filepath.Join(root, path), b.text)
		case "go":
		}
		target, err := filepath.Abs(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		overlay[target] = filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(overlay[target], []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if len(overlay) != 6 {
		t.Fatalf("the page changes %d files, want 6: has the pattern gone stale?", len(overlay))
	}
	runPage(t, rest.String(), buildWith(t, overlay))
}

func contributePage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(programsBeside, contribute))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// patched is a file with the lines of a diff changed. A line may be the end of one in the file.
func patched(t *testing.T, path, diff string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var before, after []string
	for line := range strings.Lines(diff) {
		if line[0] != '+' {
			before = append(before, line[1:])
		}
		if line[0] != '-' {
			after = append(after, line[1:])
		}
	}
	if n := strings.Count(string(text), strings.Join(before, "")); n != 1 {
		t.Fatalf("%s has %d times what the page changes: %q", path, n, before)
	}
	return strings.Replace(string(text), strings.Join(before, ""), strings.Join(after, ""), 1)
}

// buildWith builds the program with other contents of files, and returns its folder.
func buildWith(t *testing.T, overlay map[string]string) string {
	t.Helper()
	bin := t.TempDir()
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(bin, "overlay.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", file, "-o", filepath.Join(bin, "mars"), ".")
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

var (
	taskRow = regexp.MustCompile(`(?m)^\| (an? [^|]*) \|([^|]*)\|`)
	inCode  = regexp.MustCompile("`([^`]+)`")
)

// What the page names is there, and the tasks touch the few files that it says.
func TestContributeNamesFiles(t *testing.T) {
	page := contributePage(t)
	_, tasks, _ := strings.Cut(page, "## Eleven usual tasks")
	rows := taskRow.FindAllStringSubmatch(tasks, -1)
	if len(rows) != 11 {
		t.Errorf("the page has %d tasks, want 11", len(rows))
	}
	for _, row := range rows {
		files := 0
		for _, code := range inCode.FindAllStringSubmatch(row[2], -1) {
			if path := code[1]; strings.Contains(path, "/") {
				files++
				if _, err := os.Stat(filepath.Join("..", "..", path)); err != nil {
					t.Errorf("%s: %v", row[1], err)
				}
			}
		}
		if most := map[bool]int{true: 5, false: 4}[strings.HasPrefix(row[1], "an assumption")]; files == 0 || files > most {
			t.Errorf("%s touches %d files, want at most %d", row[1], files, most)
		}
	}
	folders, _, _ := strings.Cut(page, "## One test")
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(folders, -1) {
		if _, err := os.Stat(filepath.Join("..", "..", row[1])); err != nil {
			t.Error(err)
		}
	}
}
