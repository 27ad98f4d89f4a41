package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The list has every module of a program, here of this test, and is the same whenever it is made.
func TestSBOM(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(strings.TrimSpace(string(cache)))+"/cache/download") // what is there already: no network
	t.Setenv("GOSUMDB", "off")
	var texts [2][]byte
	for i := range texts {
		if texts[i], err = sbom(program, "1.2.3"); err != nil && strings.Contains(err.Error(), "/cache/download/") {
			t.Skip("cyclonedx-gomod is not in the cache of modules: make dist fetches it")
		} else if err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", t.TempDir())
		t.Setenv("GOFLAGS", "-tags=noasm")
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two lists differ")
	}
	var list struct {
		BOMFormat    string
		SerialNumber string
		Metadata     struct{ Timestamp string }
		Components   []struct{ Name, Version string }
	}
	if err := json.Unmarshal(texts[0], &list); err != nil || list.BOMFormat != "CycloneDX" || list.SerialNumber+list.Metadata.Timestamp != "" {
		t.Errorf("%v: %+v", err, list)
	}
	versions := map[string]string{}
	for _, c := range list.Components {
		versions[c.Name] = c.Version
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil || len(info.Deps) == 0 {
		t.Fatal(err, "no modules")
	}
	for _, module := range info.Deps {
		if versions[module.Path] != module.Version {
			t.Errorf("the list has %s %q, want %s", module.Path, versions[module.Path], module.Version)
		}
	}
	if versions["std"] == "" {
		t.Error("the list lacks Go's own library")
	}
}

// The tool's checksums go, for each machine builds it for itself; those of modules stay.
func TestWithoutToolHashes(t *testing.T) {
	text, err := withoutToolHashes([]byte(`{"metadata": {"tools": [{"name": "t", "hashes": ["of the tool"]}]}, "components": [{"hashes": ["of a module"]}]}`))
	if err != nil || strings.Contains(string(text), "of the tool") || !strings.Contains(string(text), "of a module") {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := withoutToolHashes([]byte("no list")); err == nil {
		t.Error("what is no JSON is taken")
	}
}
