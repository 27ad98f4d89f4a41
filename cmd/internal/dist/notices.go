package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// legal are the names of files that say on which terms one may use what is beside them.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents|unlicense)`)

// A linked package is one that the program is made of.
type linked struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version string
		Main          bool
	}
}

// notices are the licences of all that a program made of packages has but for its own, each
// with the module that it is from. A module without one is an error: it may not be given to
// others.
func notices(packages []linked) (text []byte, err error) {
	files := map[string]map[string]bool{} // by module
	for _, p := range packages {
		switch {
		case p.Standard: // is Go's own, below
		case p.Module == nil:
			return nil, fmt.Errorf("%s is of no module", p.ImportPath)
		case !p.Module.Main:
			name := p.Module.Path + " " + p.Module.Version
			if files[name] == nil {
				files[name] = map[string]bool{}
			}
			if err := collect(files[name], p); err != nil {
				return nil, err
			}
		}
	}
	name := "Go " + strings.TrimPrefix(runtime.Version(), "go")
	if files[name], err = ofGo(packages); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("mars is made of its own code (LICENSE) and of what follows, each on its own terms.\n")
	seen := map[string]bool{}
	for _, module := range slices.Sorted(maps.Keys(files)) {
		if len(files[module]) == 0 {
			return nil, fmt.Errorf("%s has no licence: without one it may not be given to others", module)
		}
		for _, file := range slices.Sorted(maps.Keys(files[module])) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			title := module + ": " + filepath.Base(file)
			if seen[title+string(text)] { // of several packages of a module
				continue
			}
			seen[title+string(text)] = true
			fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), title, bytes.TrimSpace(text))
		}
	}
	return b.Bytes(), nil
}

// noticesOf are those of the program for a platform; "" is that of go env.
func noticesOf(platform string) ([]byte, error) {
	linked, err := packages(platform)
	if err != nil {
		return nil, err
	}
	return notices(linked)
}

// granted is in every licence of a kind that Go modules have.
var granted = regexp.MustCompile(`Permission is hereby granted|Redistribution and use|Apache License|Mozilla Public License`)

// collect finds the legal files from a package's folder up to that of its module. A module
// may have its licence in its README.
func collect(files map[string]bool, p linked) error {
	below := strings.Count(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
	for dir := p.Dir; below >= 0; dir, below = filepath.Dir(dir), below-1 {
		found, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range found {
			path := filepath.Join(dir, f.Name())
			isLegal := legal.MatchString(f.Name()) && filepath.Ext(f.Name()) != ".go"
			if below == 0 && len(files) == 0 && strings.HasPrefix(f.Name(), "README") {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				isLegal = granted.Match(text)
			}
			if isLegal && f.Type().IsRegular() {
				files[path] = true
			}
		}
	}
	return nil
}

// packages are those that the program for a platform is made of; "" is that of go env.
func packages(platform string) (all []linked, err error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", "./cmd/mars")
	cmd.Stderr = os.Stderr
	if system, processor, ok := strings.Cut(platform, "/"); ok {
		cmd.Env = environment(system, processor)
	}
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p linked
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// ofGo is the licence of Go and its library. Where a distribution keeps it elsewhere, that of
// golang.org/x/sys is the same text, by the same authors.
func ofGo(packages []linked) (map[string]bool, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(root)), "LICENSE")
	if _, err := os.Stat(file); err == nil {
		return map[string]bool{file: true}, nil
	}
	files := map[string]bool{}
	for _, p := range packages {
		if p.Module != nil && p.Module.Path == "golang.org/x/sys" {
			return files, collect(files, p)
		}
	}
	return files, nil
}
