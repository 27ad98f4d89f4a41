package pipeline

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// environmentPrefix begins the names of environment variables that are settings.
const environmentPrefix = "MARS_"

// DefaultOrigin is where a setting comes from that nobody has set.
const DefaultOrigin = "default"

// Settle gives every setting its value: that of its flag, or else of the environment
// (MARS_CACHE), of the file, or the default. The flags of stages come from set
// (STAGE.FLAG=VALUE), or else from the environment (MARS_TRAIN_LAMBDA) or the file.
func (f *File) Settle(flags map[string]string, set []string, getenv func(string) string, defaults map[string]string) error {
	for _, name := range SettingNames {
		variable := environmentName(name)
		if text, ok := flags[name]; ok {
			f.Settings[name] = Value{text, "flag"}
		} else if text := getenv(variable); text != "" {
			f.Settings[name] = Value{text, "environment " + variable}
		} else if _, ok := f.Settings[name]; !ok {
			f.Settings[name] = Value{defaults[name], DefaultOrigin}
		} else if err := f.settlePath(name); err != nil {
			return err
		}
	}
	for i := range f.Stages {
		f.Stages[i].settle(getenv)
	}
	for _, assignment := range set {
		target, text, ok := strings.Cut(assignment, "=")
		if !ok {
			return fmt.Errorf("--set %s: write STAGE.FLAG=VALUE, as in train.lambda=0.5", assignment)
		}
		if err := f.Set(target, text, "flag"); err != nil {
			return fmt.Errorf("--set %w", err)
		}
	}
	return nil
}

// pathSettings are those whose values are paths.
var pathSettings = []string{"cache", "table"}

// settlePath puts environment variables into a setting of the file that is a path.
func (f *File) settlePath(name string) error {
	if !slices.Contains(pathSettings, name) {
		return nil
	}
	v := f.Settings[name]
	path, err := f.path(v.Text)
	if err != nil && name == "table" && f.Table != nil {
		return f.fail(tablePlace, fileKey, err)
	}
	if err != nil {
		return f.fail(place{}, name, err)
	}
	f.Settings[name] = Value{path, v.Origin}
	return nil
}

// settle takes flags from the environment.
func (s *FileStage) settle(getenv func(string) string) {
	for _, name := range s.Stage.Settable() {
		variable := environmentName(s.Name + "_" + name)
		if text := getenv(variable); text != "" {
			if _, there := s.Flags[name]; !there {
				s.Order = append(s.Order, name)
			}
			s.Flags[name] = Value{text, "environment " + variable}
		}
	}
}

func environmentName(name string) string {
	return environmentPrefix + strings.ToUpper(strings.NewReplacer("-", "_", " ", "_", ".", "_").Replace(name))
}

// WriteConfig prints all settings, with where they come from, as a pipeline file. The
// defaults of stages are comments.
func (f *File) WriteConfig(w io.Writer) error {
	p := &printer{w: w}
	for _, name := range SettingNames {
		if name != "table" || f.Table == nil {
			p.line("%s = %s  # %s", tomlKey(name), settingText(name, f.Settings[name].Text), f.Settings[name].Origin)
		}
	}
	if f.Table != nil {
		f.writeTable(p)
	}
	if len(f.Axes) > 0 {
		p.line("\n[matrix]")
	}
	for _, axis := range f.Axes {
		p.line("%s = [%s]", tomlKey(axis.Name), strings.Join(axis.texts(), ", "))
	}
	for _, s := range f.Stages {
		p.line("\n[[stage]]\nrun = %s", tomlText(s.Stage.Name))
		for _, pair := range [][2]string{{"name", s.Name}, {"after", s.After}, {"from", s.From}} {
			if pair[1] != "" && pair[1] != s.Stage.Name {
				p.line("%s = %s", pair[0], tomlText(pair[1]))
			}
		}
		if s.When != nil {
			p.line("%s = %s", whenKey, s.When.toml())
		}
		for _, name := range s.Order {
			p.line("%s = %s  # %s", tomlKey(name), s.Stage.Flags[name].toml(s.Flags[name].Text), s.Flags[name].Origin)
		}
		for _, name := range s.Stage.Settable() {
			if _, given := s.Flags[name]; !given && s.Stage.Flags[name].Default != "" {
				p.line("# %s = %s  # default", tomlKey(name), s.Stage.Flags[name].toml(s.Stage.Flags[name].Default))
			}
		}
	}
	return p.err
}

// printer prints lines until one fails.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func settingText(name, text string) string {
	switch name {
	case "jobs", "threads", "in-process":
		return Flag{Bool: name == "in-process"}.toml(text)
	}
	return tomlText(text)
}

// toml writes a flag's value as TOML.
func (f Flag) toml(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil && plainNumber(text) || f.Bool && (text == "true" || text == "false") {
		return text
	}
	return tomlText(text)
}

// plainNumber reports whether the text is a number in TOML, and stays as it is when
// it is read and written.
func plainNumber(text string) bool {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(i, 10) == text
	}
	v, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.Contains(text, ".") && strconv.FormatFloat(v, 'g', -1, 64) == text && !strings.Contains(text, "e")
}
