package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A record is what came of a study, and of what. Its file has a line that says what made
// the runs below it, a line for each of them, and the same again for each part that was added.
// mars compare reads such a file.
type record struct {
	origin // of the newest part
	parts  []part
	runs   []run // of all parts
}

// A part is runs that were made together.
type part struct {
	origin
	runs []run
}

// An origin is what made runs.
type origin struct {
	Study     string `json:"study"`
	Command   string `json:"command"`
	Commit    string `json:"commit"`
	Content   string `json:"content"` // of the file of mars run: the beginning of its SHA-256
	Program   string `json:"program"` // the same of mars
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	Kernels   string `json:"kernels"`
	Date      string `json:"date"`
}

// recordOf is a record of its parts, the newest last.
func recordOf(parts ...part) record {
	r := record{parts: parts}
	for _, p := range parts {
		r.origin, r.runs = p.origin, append(r.runs, p.runs...)
	}
	return r
}

func readRecord(path string) (record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return record{}, err
	}
	var parts []part
	for line := range bytes.Lines(text) {
		var o origin
		if err := json.Unmarshal(line, &o); err == nil && o.Program != "" {
			parts = append(parts, part{origin: o})
			continue
		}
		runs, err := readLines(bytes.NewReader(line))
		if err != nil {
			return record{}, err
		}
		if len(parts) == 0 {
			return record{}, errors.New("its first line does not say what made it")
		}
		last := &parts[len(parts)-1]
		last.runs = append(last.runs, runs...)
	}
	return recordOf(parts...), nil
}

// write writes a record. Numbers keep the digits that a table can show.
func (r record) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	for _, p := range r.parts {
		if err := e.Encode(p.origin); err != nil {
			return err
		}
		for _, run := range p.runs {
			for name, v := range run {
				if v, ok := v.(float64); ok {
					run[name], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
				}
			}
			if err := e.Encode(run); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(path, text.Bytes(), 0o666)
}

// seeds says which seeds the runs have.
func (r record) seeds() string {
	var seeds []int
	for _, run := range r.runs {
		if v, ok := run.number("seed"); ok && !slices.Contains(seeds, int(v)) {
			seeds = append(seeds, int(v))
		}
	}
	slices.Sort(seeds)
	switch n := len(seeds); {
	case n == 0:
		return "seed 0"
	case n == 1:
		return "seed " + strconv.Itoa(seeds[0])
	case seeds[n-1]-seeds[0] == n-1:
		return "seeds " + strconv.Itoa(seeds[0]) + " to " + strconv.Itoa(seeds[n-1])
	}
	var text []string
	for _, s := range seeds {
		text = append(text, strconv.Itoa(s))
	}
	return "seeds " + strings.Join(text, ", ")
}
