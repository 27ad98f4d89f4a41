package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page of the data of tests has a row for each folder of answers of other programs, with the versions
// that its generator says, and for each other folder of data but what a fuzzer has found.
func TestDataIsListed(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	page, err := os.ReadFile("testdata/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // what each folder is made with
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+) \| [^|]+ \| ([^|]+) \| [^|]*\|$`).FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = row[2]
	}
	links, version := regexp.MustCompile(`\[[^]]*\]\([^)]*\)`), regexp.MustCompile(`\d+(\.\w+)+`)
	for _, folder := range entries(t, "testdata/oracle") {
		generator, err := os.ReadFile(filepath.Join("testdata/oracle", folder, "generate.py"))
		if made, ok := rows[folder]; err != nil || !ok {
			t.Errorf("testdata/README.md has a row for testdata/oracle/%s: %v, generator: %v", folder, ok, err)
		} else {
			for _, v := range version.FindAllString(links.ReplaceAllString(made, ""), -1) {
				if !strings.Contains(string(generator), v) {
					t.Errorf("testdata/README.md has version %s for %s, its generator not", v, folder)
				}
			}
		}
	}
	err = filepath.WalkDir(".", func(path string, f fs.DirEntry, err error) error {
		if err != nil || !f.IsDir() || f.Name() != "testdata" {
			if err == nil && f.IsDir() && len(path) > 1 && strings.HasPrefix(f.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		for _, child := range entries(t, path) {
			inside := filepath.ToSlash(filepath.Join(path, child))
			if child != "fuzz" && inside != "testdata/oracle" && rows[inside] == "" && rows[filepath.ToSlash(path)] == "" {
				t.Errorf("testdata/README.md has no row for %s", inside)
			}
		}
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
}

// entries are the names in a folder, but for what lies beside folders in testdata itself.
func entries(t *testing.T, folder string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.IsDir() || folder != "testdata" {
			names = append(names, e.Name())
		}
	}
	return names
}
