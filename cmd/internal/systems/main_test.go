package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong on one system alone is found there, once, in packages and in tests.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module m\n\ngo 1.26\n",
		"p.go":             "package p\n\nfunc F() int { return 1 }\n",
		"p_windows.go":     "package p\n\nfunc G() int { return \"one\" }\n",
		"p_test.go":        "package p\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { F() }\n",
		"q_darwin_test.go": "package p\n\nfunc init() { absent() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{"linux/amd64": "", "windows/amd64": "as int value", "darwin/arm64/some": "undefined: absent"} {
		wrong, err := check(dir, system)
		if err != nil {
			t.Fatal(err)
		}
		if (want == "") != (len(wrong) == 0) || want != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], want)) {
			t.Errorf("%s: %q, want %q", system, wrong, want)
		}
	}
	if _, err := check(dir, "linux"); err == nil {
		t.Error("a system without an architecture is taken")
	}
}
