package pipeline

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// A History is how a file came to be: the stages that led to it, each after all that
// it reads from, and last the one that made the file.
type History struct {
	File  string         `json:"file"`
	Flag  string         `json:"flag,omitempty"` // of the last stage, which names the file; "" for its rows or text
	From  string         `json:"from"`           // where the history comes from: the cache, or the file
	Steps []*HistoryStep `json:"steps"`

	embedded bool  // it comes from the file
	refused  error // why no pipeline is made of it
}

// A HistoryStep is a stage that led to a file.
type HistoryStep struct {
	Stage   string                  `json:"stage"`
	Version string                  `json:"version,omitempty"`
	Options map[string]string       `json:"options"`
	Rows    *HistoryInput           `json:"rows,omitempty"`
	Files   map[string]HistoryInput `json:"files,omitempty"` // read, by flag
	Saved   map[string]string       `json:"saved,omitempty"` // written, by flag
	// Selection is what it chose settings from, where its rows or its model say so.
	Selection *arrowio.Selection `json:"selection,omitempty"`
}

// A HistoryInput is what a step reads: a file, or what an earlier step put out.
type HistoryInput struct {
	Path   string `json:"path,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Step   *int   `json:"step,omitempty"` // of Steps
}

// Trace finds the history of a stream, a model or a result: in the cache, by the
// hash of the file, or in the file itself.
func Trace(ctx context.Context, path string, cache *Cache, catalogue Catalogue) (*History, error) {
	sum, err := hashFile(ctx, path)
	if err != nil {
		return nil, err
	}
	if h, err := traceCache(path, sum, cache); h != nil || err != nil {
		return h, err
	}
	steps, err := embedded(path)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s: says nothing of its provenance, and the cache %s knows no such file: name the cache that it came from with --cache", path, cache.Dir)
	}
	return fromSteps(path, steps, catalogue)
}

// traceCache looks for the entry that has a file of that hash.
func traceCache(path, sum string, cache *Cache) (*History, error) {
	all, err := cache.List()
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if l.Entry == nil {
			continue
		}
		if f, ok := l.fileOf(sum); ok {
			t := &tracer{cache: cache, at: map[string]int{},
				history: &History{File: path, Flag: f.Flag, From: "the cache " + cache.Dir}}
			t.add(l.Key, Origin{l.Dependencies, l.Version})
			return t.history, t.err
		}
	}
	return nil, nil
}

// tracer turns an entry, and all that it depends on, into steps.
type tracer struct {
	cache   *Cache
	history *History
	at      map[string]int // key to step
	err     error          // the first of an origin that is not there
}

func (t *tracer) add(key string, o Origin) int {
	if i, known := t.at[key]; known {
		return i
	}
	d := o.Dependencies
	s := &HistoryStep{Stage: d.Stage, Version: o.Version, Options: map[string]string{}, Files: map[string]HistoryInput{}, Saved: map[string]string{}}
	if d.Rows != nil {
		rows := t.input(*d.Rows)
		s.Rows = &rows
	}
	for flag, in := range d.Files {
		s.Files[flag] = t.input(in)
	}
	maps.Copy(s.Options, d.Options)
	t.history.Steps = append(t.history.Steps, s)
	t.at[key] = len(t.history.Steps) - 1
	return t.at[key]
}

func (t *tracer) input(in Input) HistoryInput {
	if in.Key == "" {
		return HistoryInput{Path: in.Name, SHA256: in.SHA256}
	}
	step := t.add(in.maker(), t.origin(in))
	s := HistoryInput{Step: &step}
	if strings.Contains(in.Key, "/") {
		s.Path = in.Name
	}
	return s
}

func (t *tracer) origin(in Input) Origin {
	o, known := t.cache.Origin(in.maker())
	if known {
		return o
	}
	if t.err == nil {
		t.err = fmt.Errorf("%s: the cache %s no longer says what made %s: run the pipeline again", t.history.File, t.cache.Dir, in.Name)
	}
	return Origin{}
}

// embedded are the steps that a file carries, if it is Arrow or a model.
func embedded(path string) ([]arrowio.Step, error) {
	isArrow, err := arrowio.IsArrowFile(path)
	if err != nil {
		return nil, err
	}
	if !isArrow {
		return modelSteps(path)
	}
	r, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	meta, err := arrowio.ReadMeta(r.Schema())
	for err == nil { // what is cut or damaged does not come from what it says
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return meta.Provenance, nil
}

// modelSteps are the steps that a safetensors file carries; nil for other files. One that is
// cut or damaged is an error.
func modelSteps(path string) ([]arrowio.Step, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	meta, err := safetensors.ReadMetadata(bufio.NewReader(f))
	if err != nil || meta[arrowio.ProvenanceKey] == "" {
		//lint:ignore lostnil it is another file
		return nil, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := safetensors.Read(bufio.NewReader(f)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var steps []arrowio.Step
	if err := json.Unmarshal([]byte(meta[arrowio.ProvenanceKey]), &steps); err != nil {
		return nil, fmt.Errorf("%s: metadata %s: %w", path, arrowio.ProvenanceKey, err)
	}
	return steps, nil
}

// fromSteps makes a history of the steps that a file carries, of which each reads the
// rows of the one before.
func fromSteps(path string, steps []arrowio.Step, catalogue Catalogue) (*History, error) {
	h := &History{File: path, From: "the file itself", embedded: true}
	for i, recorded := range steps {
		stage := findStage(recorded, catalogue)
		if stage == nil {
			return nil, fmt.Errorf("%s: was made by %q, which this program does not have", path, recorded.Stage)
		}
		if err := stage.checkRecorded(recorded); err != nil && h.refused == nil {
			h.refused = fmt.Errorf("%s: step %d of its provenance (%s): %w", path, i+1, stage.Name, err)
		}
		s := &HistoryStep{Stage: stage.Name, Version: recorded.Version, Options: maps.Clone(recorded.Options), Files: map[string]HistoryInput{}, Saved: map[string]string{}, Selection: recorded.Selection}
		if s.Options == nil {
			s.Options = map[string]string{}
		}
		if flag := stage.flag(Seed); flag != "" && recorded.Seed != 0 {
			s.Options[flag] = strconv.FormatUint(recorded.Seed, 10)
		}
		if i > 0 {
			before := i - 1
			s.Rows = &HistoryInput{Step: &before}
		}
		s.readState(recorded.State, stage)
		h.Steps = append(h.Steps, s)
	}
	last := h.Steps[len(h.Steps)-1]
	if save := catalogue.Find(last.Stage).flag(StateFile); save != "" && filepath.Ext(path) == ".safetensors" {
		h.Flag, last.Options[save] = save, filepath.Base(path)
	}
	return h, nil
}

// findStage is the stage of a recorded step. A subcommand is recorded under the
// name of its command: it is meant where that would read something, and the step
// names nothing to read.
func findStage(s arrowio.Step, catalogue Catalogue) *Stage {
	stage := catalogue.Find(s.Stage)
	if stage == nil || stage.Reads || stage.namesInput(s.Options) {
		return stage
	}
	if i := slices.IndexFunc(catalogue, func(sub *Stage) bool { return strings.HasPrefix(sub.Name, stage.Name+" ") }); i >= 0 {
		return catalogue[i]
	}
	return stage
}

// namesInput reports whether some option names a file to read.
func (s *Stage) namesInput(options map[string]string) bool {
	for flag := range options {
		if s.Flags[flag].Role.Reads() {
			return true
		}
	}
	return false
}

// readState takes up the recorded hashes of files: those that flags name were read,
// the others were saved.
func (s *HistoryStep) readState(state map[string]string, stage *Stage) {
	for flag, f := range stage.Flags {
		if path, set := s.Options[flag]; set && f.Role.Reads() {
			sum := state[filepath.Base(path)]
			if named, ok := state[flag+"="+filepath.Base(path)]; ok {
				sum = named
			}
			s.Files[flag] = HistoryInput{Path: path, SHA256: sum}
		}
	}
	save := stage.flag(StateFile)
	for _, name := range slices.Sorted(maps.Keys(state)) {
		read := slices.ContainsFunc(slices.Collect(maps.Values(s.Files)), func(in HistoryInput) bool { return filepath.Base(in.Path) == name })
		if _, named := stage.readBy(name); save != "" && !read && !named {
			s.Options[save] = name
			s.Saved[save] = state[name]
		}
	}
}

// WriteText prints the history for people, a paragraph for each stage.
func (h *History) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s, by %s", safetext.Escape(h.File), safetext.Escape(h.From))
	for i, s := range h.Steps {
		p.line("\n%d. %s  (mars %s)", i+1, s.Stage, safetext.Escape(s.Version))
		if s.Rows != nil {
			p.line("   reads %s", safetext.Escape(h.inputText(*s.Rows)))
		}
		for _, flag := range slices.Sorted(maps.Keys(s.Options)) {
			p.line("   %s = %s", safetext.Escape(flag), safetext.Escape(s.Options[flag]))
		}
		for _, flag := range slices.Sorted(maps.Keys(s.Files)) {
			p.line("   %s: %s", safetext.Escape(flag), safetext.Escape(h.inputText(s.Files[flag])))
		}
		for _, flag := range slices.Sorted(maps.Keys(s.Saved)) {
			p.line("   %s: SHA-256 %s", safetext.Escape(flag), safetext.Escape(s.Saved[flag]))
		}
		if s.Selection != nil {
			p.selection(s.Selection)
		}
	}
	return p.err
}

// selection writes what was chosen from.
func (p *printer) selection(s *arrowio.Selection) {
	p.line("   chosen by %s: %s, from", safetext.Escape(s.Score), safetext.Escape(s.Choice()))
	for _, c := range s.Candidates {
		if c.Failed != "" {
			p.line("     %s: left out: %s", safetext.Escape(c.String()), safetext.Escape(c.Failed))
			continue
		}
		p.line("     %s: %.4f", safetext.Escape(c.String()), c.Scores[s.Score])
	}
}

func (h *History) inputText(s HistoryInput) string {
	switch {
	case s.Step != nil && s.Path != "":
		return fmt.Sprintf("%s of step %d", s.Path, *s.Step+1)
	case s.Step != nil:
		return fmt.Sprintf("the rows of step %d", *s.Step+1)
	case s.SHA256 == "":
		return s.Path
	}
	return fmt.Sprintf("%s, SHA-256 %s", s.Path, s.SHA256)
}

// WritePipeline writes the pipeline file that makes the file again. What it makes goes
// into the folder in, which is to be a new one. It refuses a history from a file that
// names what is written, or files elsewhere than in the present folder.
func (h *History) WritePipeline(w io.Writer, catalogue Catalogue, in Place) error {
	if h.refused != nil {
		return h.refused
	}
	p := &printer{w: w}
	p.line("# Makes %s again; by mars provenance.", safetext.Escape(filepath.Base(h.File)))
	for i, s := range h.Steps {
		stage := catalogue.Find(s.Stage)
		if stage == nil {
			return fmt.Errorf("%s: this program has no stage %q", h.File, s.Stage)
		}
		p.line("\n[[stage]]\nrun = %s\nname = %s", tomlText(stage.Name), tomlText(stepName(i)))
		if s.Rows != nil && s.Rows.Step != nil {
			p.line("after = %s", tomlText(stepName(*s.Rows.Step)))
		} else if s.Rows != nil {
			p.line("from = %s", tomlText(asPath(s.Rows.Path)))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Options)) {
			if err := stage.allows(name); err != nil {
				return fmt.Errorf("%s: step %d (%s): %q: %w", h.File, i+1, stage.Name, name, err)
			}
			p.line("%s = %s", tomlKey(name), stage.Flags[name].toml(h.option(i, name, stage, in)))
		}
		last := i == len(h.Steps)-1 && h.Flag == ""
		if last && !stage.Rows && h.embedded {
			return fmt.Errorf("%s: holds rows that %s wrote with --output; a pipeline makes its text alone: run the command again", h.File, s.Stage)
		}
		if last {
			p.line("output = %s", tomlText(asPath(h.Made(in))))
		}
	}
	return p.err
}

// A Place is where a pipeline of a history writes.
type Place struct {
	Dir string // a new folder
	// Scratch says that all around the folder is new too. Files that later steps read
	// then keep their paths, which provenance records, if these are local.
	Scratch bool
}

// Made is where the pipeline of WritePipeline makes the file.
func (h *History) Made(in Place) string {
	if h.Flag == "" {
		return filepath.Join(in.Dir, filepath.Base(h.File))
	}
	last := len(h.Steps) - 1
	return h.written(last, h.Steps[last].Options[h.Flag], in)
}

// option is the value of a step's flag, as in a pipeline file.
func (h *History) option(step int, flag string, stage *Stage, in Place) string {
	value, role := h.Steps[step].Options[flag], stage.Flags[flag].Role
	if role.isWritten() {
		value = h.written(step, value, in)
	} else if file := h.Steps[step].Files[flag]; file.Step != nil {
		value = h.written(*file.Step, file.Path, in)
	}
	if role.namesFile() {
		value = asPath(value)
	}
	return value
}

// written is where a step writes the file name, of which the base alone counts: in a
// folder of the step's own, or at the path by which a later step reads it.
func (h *History) written(step int, name string, in Place) string {
	name = filepath.Base(name)
	for _, s := range h.Steps[step+1:] {
		for _, read := range s.Files {
			if in.Scratch && read.Step != nil && *read.Step == step && filepath.Base(read.Path) == name && filepath.IsLocal(read.Path) {
				return read.Path
			}
		}
	}
	return filepath.Join(in.Dir, stepFolder+strconv.Itoa(step+1), name)
}

const stepFolder = "step-"

// NewFolder is a name for a folder that is not there in the folder in, and that no input
// of the history begins with.
func (h *History) NewFolder(in string) string {
	for i := 1; ; i++ {
		name := "again"
		if i > 1 {
			name += "-" + strconv.Itoa(i)
		}
		_, err := os.Lstat(filepath.Join(in, name))
		taken := slices.ContainsFunc(h.read(), func(in HistoryInput) bool {
			first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(in.Path)), "/")
			return strings.EqualFold(first, name)
		})
		if errors.Is(err, os.ErrNotExist) && !taken {
			return name
		}
	}
}

// read is all that steps read.
func (h *History) read() []HistoryInput {
	var all []HistoryInput
	for _, s := range h.Steps {
		all = slices.AppendSeq(all, maps.Values(s.Files))
		if s.Rows != nil {
			all = append(all, *s.Rows)
		}
	}
	return all
}

func stepName(i int) string { return "step " + strconv.Itoa(i+1) }

// Inputs are the files that the history began with and their hashes, "" where
// they are not known.
func (h *History) Inputs() map[string]string {
	files := map[string]string{}
	for _, in := range h.read() {
		if in.Step == nil {
			files[in.Path] = in.SHA256
		}
	}
	return files
}

// Same compares a file with what was made again. The note is "" if they are the same
// byte for byte, and says so if only their metadata or layout differ. Other content
// is an error.
func Same(ctx context.Context, old, again string) (note string, err error) {
	a, errA := hashFile(ctx, old)
	b, errB := hashFile(ctx, again)
	if err := errors.Join(errA, errB); err != nil || a == b {
		return "", err
	}
	rowsA, errA := hashRows(ctx, old)
	rowsB, errB := hashRows(ctx, again)
	if errA != nil || errB != nil || rowsA != rowsB {
		return "", fmt.Errorf("%s: what was made again differs: SHA-256 %s, and was %s", old, b, a)
	}
	return "the rows are the same; metadata (such as the version) or layout differ", nil
}
