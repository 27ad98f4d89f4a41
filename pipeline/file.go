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
	"mars.dev/mars/internal/spelling"
)

// A File is a pipeline as it was written: stages in order, and the matrix of values
// to expand them by.
type File struct {
	Name     string
	Settings map[string]Value // top-level keys
	Axes     []Axis           // of the matrix, in the order of the file
	Table    *Table           // nil: the file has none
	Stages   []FileStage
	lines    *lines
	literal  bool // paths are as they are: a $ in them stands for itself
}

// A Value is the value of a setting or flag, and where it comes from.
type Value struct {
	Text   string
	Origin string // "flag", "environment X", "line 12", "default"
}

// A FileStage is one [[stage]].
type FileStage struct {
	Stage *Stage
	Name  string    // what other stages call it: the value of run, unless the file names it
	After string    // name of the stage whose rows it reads; "" for the one before
	From  string    // file whose rows it reads instead; "" for none
	When  condition // of the runs that have it; nil: all
	Flags map[string]Value
	Order []string // keys of Flags in the order of the file
	place place
}

// SettingNames are the keys of the top level.
var SettingNames = []string{"cache", "jobs", "memory", "threads", "in-process", "table"}

// stageKeys are the keys of a stage that are not flags.
var stageKeys = []string{"run", "name", "after", "from", whenKey}

const whenKey = "when"

// Parse reads a pipeline file. Flags are checked by name here, and by value
// when the matrix has been expanded.
func Parse(name, text string, catalogue Catalogue) (*File, error) {
	f := &File{Name: name, Settings: map[string]Value{}, lines: findLines(text)}
	if line, err := checkNesting(text); err != nil {
		return nil, &FileError{File: name, Line: line, Err: err}
	}
	var raw struct {
		Matrix map[string]any
		Stage  []map[string]any
	}
	var top map[string]any
	meta, err := toml.Decode(text, &raw)
	if err == nil {
		_, err = toml.Decode(text, &top)
	}
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
	if key, err := f.checkTable(); err != nil {
		return nil, f.fail(tablePlace, key, err)
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
		if table, ok := v.(map[string]any); ok && key == "table" {
			if err := f.readTable(table); err != nil {
				return err
			}
			continue
		}
		if !slices.Contains(SettingNames, key) {
			all := append([]string{"[matrix]", "[table]", "[[stage]]"}, SettingNames...)
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
	if err := f.readWhen(&s, table[whenKey]); err != nil {
		return f.fail(at, whenKey, err)
	}
	delete(table, whenKey)
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

// readWhen reads the condition of a stage that only some runs have.
func (f *File) readWhen(s *FileStage, v any) (err error) {
	if v == nil {
		return nil
	}
	if s.When, err = readCondition(v); err != nil {
		return err
	}
	return s.When.check(f.Axes)
}

// allows reports why a key cannot be set in a pipeline file.
func (s *Stage) allows(key string) error {
	flag, ok := s.Flags[key]
	switch {
	case !ok:
		if near := spelling.Nearest(key, append(s.Settable(), stageKeys...)); near != "" {
			return fmt.Errorf("%s has no such flag: did you mean %s?", s.Name, near)
		}
		return fmt.Errorf("%s has no such flag: mars %[1]s --help lists them", s.Name)
	case flag.Role == Checkpoint || flag.Role == Resume:
		return errors.New("mars run keeps checkpoints and resumes by itself: leave it out")
	case !flag.Role.Settable():
		return errors.New("belongs to the command line: leave it out")
	}
	return nil
}

// checkInput checks what a stage says of its input.
func (f *File) checkInput(i int) error {
	s := &f.Stages[i]
	switch {
	case s.After != "" && s.From != "":
		return f.fail(s.place, "from", errors.New("a stage reads the rows of a file (from) or of a stage (after), not both"))
	case !s.Stage.Reads && s.After+s.From != "":
		return f.fail(s.place, "", fmt.Errorf("%s reads no rows: leave after and from out", s.Stage.Name))
	case s.instead() != "" && s.After+s.From != "":
		return f.fail(s.place, s.instead(), fmt.Errorf("%s reads files or rows, not both: leave this out, or after and from", s.Stage.Name))
	case s.After != "" && f.stage(s.After, i) < 0:
		return f.fail(s.place, "after", fmt.Errorf("no stage above is called %q: %s", s.After, didYouMean(s.After, f.stageNames(i))))
	}
	return nil
}

// reads reports whether the stage reads rows.
func (s *FileStage) reads() bool { return s.Stage.Reads && s.instead() == "" }

// instead is a flag that names a file to read instead of rows, "" if none is set.
func (s *FileStage) instead() string {
	for _, name := range s.Stage.Instead {
		if _, set := s.Flags[name]; set {
			return name
		}
	}
	return ""
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
	return namesOf(f.Stages[:n], func(s FileStage) string { return s.Name })
}

// Set overrides a flag, STAGE.FLAG, of all stages of that name, an axis, matrix.NAME,
// or a key of the table, table.KEY.
func (f *File) Set(target, text, origin string) error {
	name, key, ok := strings.Cut(target, ".")
	if !ok {
		return fmt.Errorf("%q: write STAGE.FLAG=VALUE, as in train.lambda=0.5", target)
	}
	switch name {
	case "matrix":
		f.setAxis(key, text)
		return nil
	case "table":
		if err := f.setTable(key, text); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		return nil
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
