package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// A File is a pipeline as it was written: stages in order, and the matrix of values
// to expand them by.
type File struct {
	Name     string
	Settings map[string]Value // top-level keys
	Axes     []Axis           // of the matrix, in the order of the file
	Stages   []FileStage
	lines    *lines
}

// A Value is the value of a setting or flag, and where it comes from.
type Value struct {
	Text   string
	Origin string // "flag", "environment X", "line 12", "default"
}

// An Axis is a key of the matrix and its values. A value is a set of variables: a
// scalar sets the one with the axis's name, a table all its keys. The variable
// AXIS.name is what the value is called: the table's key "name", or the scalar.
type Axis struct {
	Name   string
	Values []map[string]string
	names  map[string]bool // of all variables, also of values that --set leaves out
}

// A FileStage is one [[stage]].
type FileStage struct {
	Stage *Stage
	Name  string // what other stages call it: the value of run, unless the file names it
	After string // name of the stage whose rows it reads; "" for the one before
	From  string // file whose rows it reads instead; "" for none
	Flags map[string]Value
	Order []string // keys of Flags in the order of the file
	place place
}

// SettingNames are the keys of the top level.
var SettingNames = []string{"cache", "jobs", "memory", "threads", "in-process", "table"}

// stageKeys are the keys of a stage that are not flags.
var stageKeys = []string{"run", "name", "after", "from"}

// Parse reads a pipeline file. Flags are checked by name here, and by value
// when the matrix has been expanded.
func Parse(name, text string, catalogue Catalogue) (*File, error) {
	var raw struct {
		Matrix map[string]any
		Stage  []map[string]any
	}
	var top map[string]any
	meta, err := toml.Decode(text, &raw)
	if err == nil {
		_, err = toml.Decode(text, &top)
	}
	f := &File{Name: name, Settings: map[string]Value{}, lines: findLines(text)}
	if err != nil {
		return nil, f.syntaxError(err)
	}
	if err := f.readSettings(top); err != nil {
		return nil, err
	}
	if err := f.readMatrix(raw.Matrix, meta); err != nil {
		return nil, err
	}
	for i, table := range raw.Stage {
		if err := f.readStage(i, table, catalogue); err != nil {
			return nil, err
		}
	}
	if len(f.Stages) == 0 {
		return nil, f.fail(place{}, "", errors.New(`there are no stages: begin one with [[stage]] and run = "featurize"; mars run --init toy writes an example`))
	}
	return f, nil
}

func (f *File) fail(at place, key string, err error) error {
	return &FileError{File: f.Name, Line: f.lines.of(at, key), Key: key, Err: err}
}

func (f *File) syntaxError(err error) error {
	var syntax toml.ParseError
	if errors.As(err, &syntax) {
		return &FileError{File: f.Name, Line: syntax.Position.Line, Key: syntax.LastKey, Err: errors.New(syntax.Message)}
	}
	return &FileError{File: f.Name, Err: err}
}

func (f *File) readSettings(top map[string]any) error {
	for _, key := range f.inOrder(place{}, top) {
		v := top[key]
		if key == "matrix" || key == "stage" {
			continue
		}
		if !slices.Contains(SettingNames, key) {
			all := append([]string{"[matrix]", "[[stage]]"}, SettingNames...)
			return f.fail(place{}, key, fmt.Errorf("there is no such setting: %s", didYouMean(key, all)))
		}
		text, err := scalar(v)
		if err != nil {
			return f.fail(place{}, key, err)
		}
		f.Settings[key] = Value{text, f.origin(place{}, key)}
	}
	return nil
}

// inOrder are the keys of a table in the order of the file.
func (f *File) inOrder(at place, table map[string]any) []string {
	return slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(f.lines.of(at, a)-f.lines.of(at, b), strings.Compare(a, b))
	})
}

func (f *File) origin(at place, key string) string {
	return "line " + strconv.Itoa(f.lines.of(at, key))
}

func (f *File) readMatrix(matrix map[string]any, meta toml.MetaData) error {
	at := place{table: "matrix"}
	for _, key := range meta.Keys() {
		if len(key) != 2 || key[0] != "matrix" || slices.ContainsFunc(f.Axes, func(a Axis) bool { return a.Name == key[1] }) {
			continue
		}
		list, ok := matrix[key[1]].([]any)
		if !ok {
			list = []any{matrix[key[1]]}
		}
		axis := Axis{Name: key[1], names: map[string]bool{}}
		for _, v := range list {
			vars, err := variables(key[1], v)
			if err != nil {
				return f.fail(at, key[1], err)
			}
			axis.Values = append(axis.Values, vars)
			for name := range vars {
				axis.names[name] = true
			}
		}
		if len(axis.Values) == 0 {
			return f.fail(at, key[1], errors.New("has no values, so there would be no runs: list some"))
		}
		f.Axes = append(f.Axes, axis)
	}
	return nil
}

// variables are what a value of an axis sets.
func variables(axis string, v any) (map[string]string, error) {
	table, ok := v.(map[string]any)
	if !ok {
		text, err := scalar(v)
		return map[string]string{axis: text, axis + nameSuffix: text}, err
	}
	vars := map[string]string{}
	for key, v := range table {
		text, err := scalar(v)
		if err != nil {
			return nil, err
		}
		vars[key] = text
	}
	if vars[axis] == "" {
		return nil, fmt.Errorf("a table of values needs the key %s", axis)
	}
	vars[axis+nameSuffix] = cmp.Or(vars["name"], vars[axis])
	delete(vars, "name")
	return vars, nil
}

// nameSuffix makes the variable that has the name of an axis' value.
const nameSuffix = ".name"

// scalar writes a TOML value as a flag's; a list gets commas.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case bool:
		return strconv.FormatBool(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			var err error
			if parts[i], err = scalar(e); err != nil {
				return "", err
			}
		}
		return strings.Join(parts, ","), nil
	}
	return "", fmt.Errorf("is a %T: want text, a number, true or false, or a list of them", v)
}

func (f *File) readStage(i int, table map[string]any, catalogue Catalogue) error {
	at := place{table: "stage", n: i}
	run, _ := table["run"].(string)
	if run == "" {
		return f.fail(at, "", fmt.Errorf(`stage %d does not say what it runs: run = "train", say`, i+1))
	}
	s := FileStage{Stage: catalogue.Find(run), Name: run, Flags: map[string]Value{}, place: at}
	if s.Stage == nil {
		return f.fail(at, "run", fmt.Errorf("there is no stage %q: %s", run, didYouMean(run, catalogue.Names())))
	}
	for _, key := range f.inOrder(at, table) {
		text, err := scalar(table[key])
		if err != nil {
			return f.fail(at, key, err)
		}
		switch key {
		case "run":
		case "name":
			s.Name = text
		case "after":
			s.After = text
		case "from":
			s.From = text
		default:
			if err := s.Stage.allows(key); err != nil {
				return f.fail(at, key, err)
			}
			s.Flags[key] = Value{text, f.origin(at, key)}
			s.Order = append(s.Order, key)
		}
	}
	f.Stages = append(f.Stages, s)
	return f.checkInput(i)
}

// allows reports why a key cannot be set in a pipeline file.
func (s *Stage) allows(key string) error {
	flag, ok := s.Flags[key]
	switch {
	case !ok:
		return fmt.Errorf("%s has no such flag: %s", s.Name, didYouMean(key, append(s.writable(), stageKeys...)))
	case flag.Role == Checkpoint || flag.Role == Resume:
		return errors.New("mars run keeps checkpoints and resumes by itself: leave it out")
	case !flag.Role.Settable():
		return errors.New("belongs to the command line: leave it out")
	}
	return nil
}

// checkInput checks that there are rows for the stage to read.
func (f *File) checkInput(i int) error {
	s := &f.Stages[i]
	switch {
	case s.After != "" && s.From != "":
		return f.fail(s.place, "from", errors.New("a stage reads the rows of a file (from) or of a stage (after), not both"))
	case !s.Stage.Reads && s.After+s.From != "":
		return f.fail(s.place, "", fmt.Errorf("%s reads no rows: leave after and from out", s.Stage.Name))
	case s.After != "" && f.stage(s.After, i) < 0:
		return f.fail(s.place, "after", fmt.Errorf("no stage above is called %q: %s", s.After, didYouMean(s.After, f.stageNames(i))))
	case s.Stage.Reads && s.After+s.From == "" && i == 0:
		return f.fail(s.place, "run", fmt.Errorf("%s reads rows, and there is no stage before it: name a file with from, or begin with featurize", s.Stage.Name))
	}
	parent := f.parent(i)
	if parent >= 0 && !f.Stages[parent].Stage.Rows {
		return f.fail(s.place, "run", fmt.Errorf("%s puts out no rows for %s to read: say which stage it follows with after", f.Stages[parent].Name, s.Stage.Name))
	}
	return nil
}

// parent is the index of the stage whose rows stage i reads, -1 if none.
func (f *File) parent(i int) int {
	s := &f.Stages[i]
	switch {
	case !s.Stage.Reads || s.From != "":
		return -1
	case s.After != "":
		return f.stage(s.After, i)
	}
	return i - 1
}

// stage finds the last of the first n stages that has the name, -1 if none.
func (f *File) stage(name string, n int) int {
	for i := n - 1; i >= 0; i-- {
		if f.Stages[i].Name == name {
			return i
		}
	}
	return -1
}

func (f *File) stageNames(n int) []string {
	var names []string
	for _, s := range f.Stages[:n] {
		names = append(names, s.Name)
	}
	return names
}

// Set overrides a flag, STAGE.FLAG, of all stages of that name, or an axis,
// matrix.NAME.
func (f *File) Set(target, text, origin string) error {
	name, key, ok := strings.Cut(target, ".")
	if !ok {
		return fmt.Errorf("%q: write STAGE.FLAG=VALUE, as in train.lambda=0.5", target)
	}
	if name == "matrix" {
		return f.setAxis(key, text)
	}
	found := false
	for i := range f.Stages {
		s := &f.Stages[i]
		if s.Name != name {
			continue
		}
		if err := s.Stage.allows(key); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		if _, there := s.Flags[key]; !there {
			s.Order = append(s.Order, key)
		}
		s.Flags[key], found = Value{text, origin}, true
	}
	if !found {
		return fmt.Errorf("%s: the file has no stage %q: %s", target, name, didYouMean(name, f.stageNames(len(f.Stages))))
	}
	return nil
}

func (f *File) setAxis(name, text string) error {
	i := slices.IndexFunc(f.Axes, func(a Axis) bool { return a.Name == name })
	if i < 0 {
		f.Axes, i = append(f.Axes, Axis{Name: name, names: map[string]bool{name: true, name + nameSuffix: true}}), len(f.Axes)
	}
	var values []map[string]string
	for _, v := range strings.Split(text, ",") {
		known := slices.IndexFunc(f.Axes[i].Values, func(vars map[string]string) bool { return vars[name+nameSuffix] == v })
		if known >= 0 {
			values = append(values, f.Axes[i].Values[known])
		} else {
			values = append(values, map[string]string{name: v, name + nameSuffix: v})
		}
	}
	f.Axes[i].Values = values
	return nil
}

// SetThreads gives n threads to all stages that do not set a number themselves.
func (f *File) SetThreads(n int) {
	for i := range f.Stages {
		s := &f.Stages[i]
		name := s.Stage.flag(Threads)
		if _, given := s.Flags[name]; name != "" && !given {
			s.Flags[name] = Value{strconv.Itoa(n), f.Settings["threads"].Origin}
			s.Order = append(s.Order, name)
		}
	}
}
