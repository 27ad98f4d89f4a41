package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"mars.dev/mars/cmd/internal/machine"
	"mars.dev/mars/pipeline"
)

// A study is a file of mars run, or another command that writes what comes of each of
// many runs.
type study struct {
	name    string
	file    string   // of mars run, in docs/experiments
	init    string   // instead of a file: what mars run --init prints; see grow.go
	set     []string // of mars run
	command []string // instead of a file; {out}.csv or {out}.jsonl is what it writes
	seeds   string   // if the runs have no column "seed"
	seconds int      // about, on two cores
	data    bool     // needs $MARS_DATA
	axes    []string // columns that say which run it is; runs alike in them are told by their order

	// spread is how far a figure may be from this one on another machine, by the number's
	// name or how that begins. A number that has none is not checked.
	spread map[string]float64
	// sample are values of the matrix, or the command, of the runs that -check repeats: all if there are none.
	sample []string
}

// shown is the command as a user types it.
func (s study) shown() string {
	if s.command != nil {
		return strings.Join(s.command, " ")
	}
	if s.init != "" {
		return fmt.Sprintf("mars run --init %[1]s > %[1]s.toml; mars run %[1]s.toml", s.init)
	}
	parts := []string{"mars run"}
	for _, v := range s.set {
		parts = append(parts, "--set "+v)
	}
	return strings.Join(append(parts, "docs/experiments/"+s.file), " ")
}

// content tells files of mars run apart that do not run the same. Comments do not count.
func (s study) content() string {
	text, err := s.text()
	if err != nil {
		return ""
	}
	if s.init != "" {
		return hash([]byte(comment.ReplaceAllString(text, "\n")))
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
	return hash([]byte(strings.Join(lines, "\n")))
}

// comment is what does not count of a file that mars run --init prints: none of its values has
// a #.
var comment = regexp.MustCompile(`[ \t]*(#.*)?\n+`)

// text is the study's file of mars run; "" for one that has none.
func (s study) text() (string, error) {
	switch {
	case s.command != nil:
		return "", nil
	case s.init != "":
		return pipeline.Example(s.init)
	}
	text, err := os.ReadFile(filepath.Join("docs", "experiments", s.file))
	return string(text), err
}

func hash(of []byte) string {
	sum := sha256.Sum256(of)
	return hex.EncodeToString(sum[:6])
}

// missing says why a study cannot run here.
func (s study) missing() string {
	if s.data && os.Getenv("MARS_DATA") == "" {
		return "MARS_DATA, the folder of the real data, is not set"
	}
	return ""
}

// A program is the mars that is measured, and where it was built.
type program struct {
	folder, path, hash, commit, kernels string
}

// build builds mars as it ships, but for its version: two commits that differ in pages
// alone make the same program.
func build(ctx context.Context, folder string) (p program, err error) {
	if p.folder, err = filepath.Abs(folder); err != nil {
		return p, err
	}
	p.path = filepath.Join(p.folder, "bin", "mars")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", p.path, "./cmd/mars")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("go build: %w\n%s", err, text)
	}
	content, err := os.ReadFile(p.path)
	if err != nil {
		return p, err
	}
	p.hash = hash(content)
	if p.commit, err = output(ctx, "git", "rev-parse", "--short", "HEAD"); err != nil {
		p.commit = "unknown"
	} else if changed, err := output(ctx, "git", "status", "--porcelain", "--", "*.go", "*.s", "go.mod", ":!*_test.go", ":!cmd/internal"); err != nil || changed != "" {
		p.commit += " with changes"
	}
	version, err := output(ctx, p.path, "version")
	p.kernels = machine.Kernels(version)
	return p, err
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	text, err := exec.CommandContext(ctx, name, args...).Output()
	return strings.TrimSpace(string(text)), err
}

// measure runs a study. What is done stays in a cache of this program's own, so that a
// study that was interrupted goes on where it was.
func (p program) measure(ctx context.Context, s study) (record, error) {
	runs, err := p.run(ctx, s, nil, p.keeps(s))
	return recordOf(part{p.origin(s), runs}), err
}

// keeps is the folder for what a study has done. mars run takes no cache that has files of
// others in it, so commands of a study's own have another.
func (p program) keeps(s study) string {
	if s.command != nil {
		return filepath.Join(p.folder, "outputs-"+p.hash)
	}
	return filepath.Join(p.folder, "cache-"+p.hash)
}

// origin says that runs were made by this program, here and now.
func (p program) origin(s study) origin {
	return origin{Study: s.name, Command: s.shown(), Content: s.content(), Commit: p.commit, Program: p.hash, Processor: machine.Processor(), Cores: runtime.NumCPU(),
		Kernels: p.kernels, Date: time.Now().Format(time.DateOnly)}
}

// run runs a study, or the sample of one, and returns what came of each run.
func (p program) run(ctx context.Context, s study, sample []string, cache string) ([]run, error) {
	dir, err := os.MkdirTemp(p.folder, "run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := p.makeBlobs(s); err != nil {
		return nil, err
	}
	out := filepath.Join(dir, s.name)
	kept := filepath.Join(cache, s.name)
	if s.command != nil && cache != "" {
		if runs, err := readEither(kept); err == nil {
			return runs, nil
		}
		if err := os.MkdirAll(cache, 0o777); err != nil {
			return nil, err
		}
	}
	file, err := s.place(dir)
	if err != nil {
		return nil, err
	}
	args := append([]string{p.path}, s.arguments(sample, out+".csv", cmp.Or(cache, filepath.Join(dir, "cache")), file)...)
	if s.command != nil {
		args = s.filled(sample, out)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // mars run stops its stages
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(p.path)+string(os.PathListSeparator)+os.Getenv("PATH"), "MARS_BLOBS="+filepath.Join(p.folder, "blobs"))
	var said bytes.Buffer
	if cmd.Stderr = &said; s.command != nil {
		cmd.Stdout = &said // go test fails there
	}
	if err := cmd.Run(); err != nil {
		return s.whatIsThere(out), fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	if s.command != nil && cache != "" {
		for _, ext := range []string{".csv", ".jsonl"} {
			if err := os.Rename(out+ext, kept+ext); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
		out = kept
	}
	return readEither(out)
}

// readEither reads JSON lines, or a table.
func readEither(path string) ([]run, error) {
	if _, err := os.Stat(path + ".jsonl"); err == nil {
		return readRuns(path + ".jsonl")
	}
	return readRuns(path + ".csv")
}

// filled is a command with the names of its files.
func (s study) filled(sample []string, out string) []string {
	args := s.command
	if sample != nil {
		args = sample
	}
	text := strings.ReplaceAll(strings.Join(args, "\x00"), "{out}", out)
	return strings.Split(strings.ReplaceAll(text, "$MARS_DATA", os.Getenv("MARS_DATA")), "\x00")
}

// arguments are those of mars.
func (s study) arguments(sample []string, out, cache, file string) []string {
	args := []string{"run", "-q", "--cache", cache, "--table", out}
	if s.init != "" {
		args = append(args, "--keep-going") // what is there counts, and the rest is for another day
	}
	for _, v := range slices.Concat(s.set, sample) {
		args = append(args, "--set", v)
	}
	return append(args, file)
}

func (p program) makeBlobs(s study) error {
	folder := filepath.Join(p.folder, "blobs")
	if !strings.Contains(s.file, "blobs") {
		return nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	return blobs(folder)
}

// A run is what came of one run: its place in the study, which is text, and its numbers.
type run map[string]any

// at is the text of a column.
func (r run) at(name string) string {
	switch v := r[name].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

func (r run) number(name string) (float64, bool) {
	v, ok := r[name].(float64)
	return v, ok
}

// readRuns reads a table of mars run, or JSON lines.
func readRuns(path string) ([]run, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if strings.HasSuffix(path, ".jsonl") {
		return readLines(file)
	}
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s has no rows: %w", filepath.Base(path), err)
	}
	var runs []run
	for _, row := range rows[1:] {
		r := run{}
		for j, name := range rows[0] {
			if v, err := strconv.ParseFloat(row[j], 64); err == nil {
				r[name] = v
			} else if row[j] != "" {
				r[name] = row[j]
			}
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func readLines(file io.Reader) (runs []run, err error) {
	for d := json.NewDecoder(file); ; {
		var nested map[string]any
		if err := d.Decode(&nested); errors.Is(err, io.EOF) {
			return runs, nil
		} else if err != nil {
			return nil, err
		}
		r := run{}
		r.flatten("", nested)
		runs = append(runs, r)
	}
}

// flatten joins names of nested objects by points. Truths and lists are numbers too.
func (r run) flatten(name string, value any) {
	below := func(key string, v any) {
		if name != "" {
			key = name + "." + key
		}
		r.flatten(key, v)
	}
	switch v := value.(type) {
	case map[string]any:
		for key, v := range v {
			below(key, v)
		}
	case []any:
		for i, v := range v {
			below(strconv.Itoa(i), v)
		}
	case bool:
		r[name] = map[bool]float64{true: 1}[v]
	case nil:
	default:
		r[name] = v
	}
}
