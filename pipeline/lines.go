package pipeline

import (
	"fmt"
	"regexp"
	"strings"
)

// A place is a table of a TOML file: "" the top level, "matrix", or the n-th
// [[stage]].
type place struct {
	table string
	n     int
}

// lines knows the line of each key of a TOML file. The decoder tells it for errors
// of syntax alone.
type lines struct {
	keys   map[place]map[string]int
	tables map[place]int
}

var (
	headerLine = regexp.MustCompile(`^\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(#.*)?$`)
	keyLine    = regexp.MustCompile(`^\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*=`)
)

// findLines finds the keys of text, as far as it is TOML.
func findLines(text string) *lines {
	l := &lines{keys: map[place]map[string]int{}, tables: map[place]int{}}
	at, stages := place{}, 0
	for i, line := range strings.Split(text, "\n") {
		if m := headerLine.FindStringSubmatch(line); m != nil {
			at = place{table: m[1]}
			if m[1] == "stage" {
				at.n = stages
				stages++
			}
			l.tables[at] = i + 1
		} else if m := keyLine.FindStringSubmatch(line); m != nil {
			if l.keys[at] == nil {
				l.keys[at] = map[string]int{}
			}
			if key := m[1] + m[2] + m[3]; l.keys[at][key] == 0 {
				l.keys[at][key] = i + 1
			}
		}
	}
	return l
}

// of is the line of a key, or of its table if the key is not there.
func (l *lines) of(at place, key string) int {
	if line := l.keys[at][key]; line > 0 {
		return line
	}
	return l.tables[at]
}

// A FileError is a mistake in a pipeline file.
type FileError struct {
	File string
	Line int
	Key  string // "" where the mistake is in no key
	Err  error
}

func (e *FileError) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s: line %d", e.File, e.Line)
	}
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }
