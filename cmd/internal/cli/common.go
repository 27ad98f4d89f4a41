package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/stages/label"
)

// common holds the flags that every stage has.
type common struct {
	name        string
	input       string
	output      string
	compression arrowio.Compression
	force       bool
	memory      bytesFlag
	maxClasses  int
	seed        uint64
	jobs        int
	quiet       bool
	cached      string
	target      string // the one of several that is answered for; "" for all
	ofSource    *unrepeated
	logFormat   string
	columns     arrowio.Columns
	labels      bool        // the output may be a table of labels
	kept        *label.Keep // columns that labels get beside their own; nil: none
	page        string      // HTML file of a page about the labels; "" for none
	summary     string      // JSON file of what is known of the labels; "" for none
}

// streamCommand turns a stage into a command that reads a stream (FILE or
// standard input) and writes one. prepare checks the options once flags are
// parsed and binds them to the stage.
func streamCommand(cmd *cobra.Command, columns []string, prepare func(*cobra.Command, *common) (stages.Func, error)) *cobra.Command {
	c := newCommon(cmd, cmd.Use, columns...)
	cmd.Use += " [flags] [FILE]"
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			c.input = args[0]
		}
		if err := c.check(); err != nil {
			return err
		}
		stage, err := prepare(cmd, c)
		if err != nil {
			return err
		}
		return c.filter(cmd, stage)
	}
	c.outputFlags(cmd.Flags())
	c.runFlags(cmd.Flags())
	return newCommand(cmd)
}

// newCommon registers the flags that name the columns a stage uses; name is
// what logs and provenance call it.
func newCommon(cmd *cobra.Command, name string, columns ...string) *common {
	c := &common{name: name, columns: arrowio.DefaultColumns()}
	c.columnFlags(cmd.Flags(), columns)
	return c
}

func (c *common) outputFlags(f *pflag.FlagSet) {
	f.StringVarP(&c.output, "output", "o", "", "write to this file instead of standard output (.arrow: Arrow file, .arrows: Arrow stream)")
	f.Var((*compressionFlag)(&c.compression), "compression", "compress the output's buffers: none, lz4, zstd, or with a level as in zstd:9")
	f.BoolVar(&c.force, "force", false, "write binary data even to a terminal")
}

// writesTables says in the help of --output that its name chooses among more than Arrow.
func writesTables(f *pflag.FlagSet, what string) {
	f.Lookup("output").Usage = what + ", as its name says: .csv, .tsv, .json, .jsonl, .parquet, .arrow; text as .csv.gz or .csv.zst too"
}

func (c *common) runFlags(f *pflag.FlagSet) {
	c.machineFlags(f)
	c.cacheFlag(f)
	c.logFlags(f)
}

// machineFlags are those of what a run may take, and of chance.
func (c *common) machineFlags(f *pflag.FlagSet) {
	c.memory = arrowio.DefaultSpoolMemory
	f.Var(&c.memory, "memory", "hold this much of a piped input in memory for a second pass, then spool to a temporary file")
	c.limitFlag(f)
	c.classesFlag(f)
	c.chanceFlags(f)
}

// chanceFlags are those of the seed, and of the threads.
func (c *common) chanceFlags(f *pflag.FlagSet) {
	if !withoutChance[c.name] {
		f.Uint64Var(&c.seed, "seed", 0, "seed of everything random")
	}
	f.IntVar(&c.jobs, "jobs", runtime.GOMAXPROCS(0), "number of threads (default: as many as processors)")
}

// withoutChance are the commands with nothing random in them.
var withoutChance = map[string]bool{"mars-match": true, "mars-predict": true}

func (c *common) limitFlag(f *pflag.FlagSet) {
	f.Var(new(bytesFlag), "memory-limit", "refuse inputs that together need more memory than this (default three quarters of the machine's)")
}

func (c *common) classesFlag(f *pflag.FlagSet) {
	f.IntVar(&c.maxClasses, "max-classes", stages.DefaultMaxClasses, "refuse labels of more classes than this")
}

func (c *common) logFlags(f *pflag.FlagSet) {
	f.BoolVarP(&c.quiet, "quiet", "q", false, "only warnings and errors on standard error, no progress")
	c.logFormat = "text"
	f.Var(oneOf{&c.logFormat, []string{"text", "json"}}, "log-format", "format of the log on standard error")
}

// columnFlags lets a user name the columns that a stage reads or writes.
func (c *common) columnFlags(f *pflag.FlagSet, columns []string) {
	for _, name := range columns {
		field := columnField(&c.columns, name)
		f.StringVar(field, strings.ReplaceAll(name, "_", "-"), *field, fmt.Sprintf("name of the %s column", name))
	}
}

func columnField(c *arrowio.Columns, name string) *string {
	fields := map[string]*string{
		"id": &c.ID, "domain": &c.Domain, "label": &c.Label, "truth": &c.Truth,
		"features": &c.Features, "embedding": &c.Embedding, "component": &c.Component,
		"matched": &c.Matched, "weight": &c.Weight, "prediction": &c.Prediction,
		"predicted_class": &c.PredictedClass, "probability": &c.Probability,
		"typicality": &c.Typicality, "unseen": &c.Unseen,
	}
	field, ok := fields[name]
	if !ok {
		panic("cli: no such column: " + name)
	}
	return field
}

// check validates the common flags.
func (c *common) check() error {
	switch {
	case c.maxClasses < 0 || c.maxClasses > math.MaxInt32:
		return usagef("--max-classes %d: want a number from 1 to %d", c.maxClasses, math.MaxInt32)
	case c.jobs < 0:
		return usagef("--jobs %d: want a positive number of threads", c.jobs)
	}
	return nil
}

// filter runs a stage from the input to the output. The output exists under
// its final name only if all went well.
func (c *common) filter(cmd *cobra.Command, stage stages.Func) error {
	if err := c.checkName(); err != nil {
		return err
	}
	if handled, err := c.hosted(cmd); handled {
		return err
	}
	if format, err := label.FormatOf(c.output); c.labels && err == nil && format.Name != label.Arrow {
		return c.filterToLabels(cmd, stage, format)
	}
	in, done, err := c.open(cmd, c.input)
	if err != nil {
		return err
	}
	defer done()
	return c.write(cmd, func(ctx context.Context, env stages.Env, out arrowio.Sink) error {
		return stage(ctx, env, in, out)
	})
}

// write runs a producer of rows into the output.
func (c *common) write(cmd *cobra.Command, produce func(context.Context, stages.Env, arrowio.Sink) error) error {
	if err := c.checkName(); err != nil {
		return err
	}
	if handled, err := c.hosted(cmd); handled {
		return err
	}
	out, err := c.create(cmd)
	if err != nil {
		return err
	}
	env, done := c.env(cmd)
	err = guarded(func() error { return produce(cmd.Context(), env, out) })
	done()
	if err == nil {
		err = cmd.Context().Err()
	}
	if err == nil {
		err = unchanged(cmd)
	}
	if err != nil {
		out.Fail(err)
		return err
	}
	return out.Close()
}

// guarded runs f. A panic, which is a mistake in this program, is an error like any
// other: the output is taken away and the next program of a pipeline told.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v: please report it, with the command\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// env is the stage's surroundings; done ends its progress bar.
func (c *common) env(cmd *cobra.Command) (env stages.Env, done func()) {
	algorithms.SetJobs(c.jobs)
	bar := &progress{w: cmd.ErrOrStderr(), enabled: !c.quiet && c.logFormat != "json" && redraws(cmd.ErrOrStderr())}
	if out, ok := bare(cmd.OutOrStdout()).(*standardOutput); ok {
		out.before = bar.stop
	}
	log := listen(cmd, newLogger(bar, c.logName(cmd), c.logFormat, c.quiet, c.ofSource))
	if c.target != "" {
		log = log.With("target", c.target)
	}
	return stages.Env{
		Columns:    c.columns,
		Memory:     int64(c.memory),
		MaxClasses: c.maxClasses,
		Seed:       c.seed,
		Jobs:       c.jobs,
		Log:        log,
		Progress:   reporter(cmd, bar.report),
		Step:       c.step(cmd),
	}, bar.finish
}

// logName is how the log's lines begin: as the command was called, as its errors do. A
// pipeline that runs this process tells errors from the log by that, so for it they differ.
func (c *common) logName(cmd *cobra.Command) string {
	if c.logFormat == "json" || hostOf(cmd).streams.Log != nil || runnersPipe() != nil {
		return c.name
	}
	return cmd.CommandPath()
}

// step is what provenance keeps of this run: only flags that were set and that
// change the result, so that the same work gives the same bytes.
func (c *common) step(cmd *cobra.Command) arrowio.Step {
	step := arrowio.Step{Stage: c.name, Version: Version(), Seed: c.seed, Options: map[string]string{}}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if role := roleOf(f.Name); role == pipeline.Effect || role == pipeline.Threads || role.Reads() {
			step.Options[f.Name] = flagText(f) // as it is written, so that it can be done again
			if role.Reads() && numbered(step.Options[f.Name]) {
				step.Options[f.Name] = "(pipe)"
			}
		}
	})
	if usesThreads[c.name] && c.jobs > 0 {
		step.Options["jobs"] = strconv.Itoa(c.jobs) // so that the work can be done again on any machine
	}
	return step
}

// numbered reports whether a path is that of an open pipe, which has a number alone for a name:
// nobody can find it again.
func numbered(path string) bool { return strings.HasPrefix(path, "/dev/fd/") && isPipe(path) }

// usesThreads are the commands whose result depends on the number of threads.
var usesThreads = map[string]bool{"mars-embed": true, "mars-train": true, "mars-label": true, "mars-proportions": true, "mars-ask": true}

func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// redraws reports whether w is a terminal on which a line can be drawn again.
func redraws(w io.Writer) bool { return isTerminal(w) && os.Getenv("TERM") != "dumb" }

// standardOutput is os.Stdout. What is written to it may be seen on the terminal on
// which a progress bar is drawn, so before is called first, to take that away.
type standardOutput struct {
	file   *os.File
	before func()
}

// Fd is its file descriptor.
func (s *standardOutput) Fd() uintptr { return s.file.Fd() }

func (s *standardOutput) Write(b []byte) (int, error) {
	if s.before != nil {
		s.before()
	}
	arrowio.StandardOutput() // which is written to
	return s.file.Write(b)
}

// newLogger logs to bar, so that lines and the progress bar do not mix.
func newLogger(bar *progress, name, format string, quiet bool, once *unrepeated) *slog.Logger {
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(safetext.NewWriter(bar), &slog.HandlerOptions{Level: level})).With("command", name)
	}
	return slog.New(&textHandler{w: bar, name: name, level: level, once: once})
}
