package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/show/report"
	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/tables"
)

// runFlags are the flags of mars run.
type runFlags struct {
	cache                                       string
	jobs, threads                               int
	memory                                      bytesFlag
	table, example, page                        string
	text                                        string // of the pipeline file
	set                                         []string
	noCache, inProcess, keepGoing, spreadsheet  bool
	quiet, verbose, explain, shell, printConfig bool
}

// runCommand runs a pipeline file.
func runCommand() *cobra.Command {
	var o runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] FILE.toml",
		Short: "Run a whole pipeline, or many variants of one, from a file",
		Long: `Runs the stages of a pipeline file, each as a process of its own joined to the next by a
pipe. A table [matrix] of values makes a run of each of their combinations; what the runs
have in common is run once. What stages put out is kept in a cache, so that nothing is
computed twice: a second run runs no stage, a changed option those that it concerns, and a
run that was killed goes on where it was. Paths are relative to the file's folder. A table
[table] says what to make of the numbers of the runs.

A flag of mars run beats the environment (MARS_CACHE, MARS_JOBS, …; MARS_TRAIN_LAMBDA for a
stage's flag), which beats the file, which beats the default: see --print-config.`,
		Example: `  mars run --init toy > toy.toml
  mars run toy.toml
  mars run --explain toy.toml
  mars run --init paper-office31 > paper-office31.toml
  mars run --set train.lambda=0.5 --set matrix.seed=0,1 toy.toml
  mars run --table toy.md --set table.show=accuracy,train.seconds toy.toml`,
		Args: cobra.MaximumNArgs(1),
	}
	o.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.example != "" {
			return writeExample(cmd, o.example)
		}
		if len(args) == 0 {
			return usagef("name the pipeline file; mars run --init toy writes an example")
		}
		return o.run(cmd, args[0])
	}
	newCommand(cmd)
	cmd.PostRunE = nil // the pipeline file was read at the beginning, and may be edited since
	return cmd
}

func (o *runFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.cache, "cache", "", "folder of the cache (default: $MARS_CACHE, the file's, or the user's cache folder)")
	f.BoolVar(&o.noCache, "no-cache", false, "neither use nor fill a cache")
	f.IntVarP(&o.jobs, "jobs", "j", 0, "chains of stages at once (default: as many as the processors have room for)")
	f.Var(&o.memory, "memory", "start no chain that would take the memory of all beyond this (default: three quarters of what is free)")
	f.IntVar(&o.threads, "threads", 0, "threads of each stage (default: all processors); results depend on it")
	f.BoolVar(&o.inProcess, "in-process", false, "run all stages in this process, joined by channels: the same bytes")
	f.StringVar(&o.table, "table", "", "write the numbers of the runs to this file: a row for each run (.csv), or their means (.md: Markdown, .txt: text)")
	f.StringVar(&o.page, "report", "", "make a page to look at of all runs, in this HTML file: their numbers, methods compared, and what makes them again")
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "in a table that is CSV, put ' before text that a spreadsheet would take for a formula")
	f.StringArrayVar(&o.set, "set", nil, "set a stage's flag (train.lambda=0.5), values of the matrix (matrix.seed=0,1) or a key of the table (table.columns=method)")
	f.BoolVarP(&o.keepGoing, "keep-going", "k", false, "after a failure, run what does not depend on it")
	f.BoolVar(&o.explain, "explain", false, "say for each stage whether it would run, and why, and run nothing")
	f.BoolVar(&o.shell, "shell", false, "print the shell lines that do the same, and run nothing")
	f.BoolVar(&o.printConfig, "print-config", false, "print all that holds and where it comes from, and run nothing")
	f.StringVar(&o.example, "init", "", "print a commented example: "+strings.Join(pipeline.ExampleNames(), ", "))
	f.BoolVarP(&o.quiet, "quiet", "q", false, "only warnings and errors on standard error")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "pass on all that the stages say")
	cmd.MarkFlagsMutuallyExclusive("explain", "shell", "print-config", "init")
	cmd.MarkFlagsMutuallyExclusive("cache", "no-cache")
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
}

func writeExample(cmd *cobra.Command, name string) error {
	text, err := pipeline.Example(name)
	if err != nil {
		return usagef("--init %w", err)
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}

func (o *runFlags) run(cmd *cobra.Command, path string) error {
	file, err := o.load(cmd, path)
	if err != nil {
		return err
	}
	if o.printConfig {
		return file.WriteConfig(cmd.OutOrStdout())
	}
	s, err := readSettings(file)
	if err != nil {
		return err
	}
	graph, err := file.Expand(cmd.Context())
	if err != nil {
		return usageError{err}
	}
	if err := o.checkFiles(cmd.Context(), graph, s, filepath.Base(path)); err != nil {
		return err
	}
	if o.shell {
		return graph.WriteShell(cmd.OutOrStdout())
	}
	return o.execute(cmd, graph, s)
}

// load reads the pipeline file and settles what holds. It makes the file's
// folder the present one; paths in flags are still those of the folder before.
func (o *runFlags) load(cmd *cobra.Command, path string) (*pipeline.File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := checkPage(o.page); err != nil {
		return nil, err
	}
	for _, flag := range []*string{&o.cache, &o.table, &o.page} {
		if *flag == "" {
			continue
		}
		if *flag, err = filepath.Abs(*flag); err != nil {
			return nil, err
		}
	}
	o.text = string(text)
	if err := os.Chdir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	file, err := pipeline.Parse(path, string(text), catalogue())
	if err == nil {
		err = file.Settle(o.given(cmd), o.set, os.Getenv, defaultSettings())
	}
	if err != nil {
		return nil, usageError{err}
	}
	return file, nil
}

// given are the settings that flags set.
func (o *runFlags) given(cmd *cobra.Command) map[string]string {
	set := map[string]string{}
	for _, name := range pipeline.SettingNames {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			set[name] = f.Value.String()
		}
	}
	if o.noCache {
		set["cache"] = noCache
	}
	return set
}

// noCache is the setting of the cache that means none.
const noCache = "none"

func defaultSettings() map[string]string {
	return map[string]string{"cache": pipeline.DefaultCacheDir(), "jobs": "0", "threads": "0", "memory": "", "in-process": "false"}
}

// settings are those of a file once they are settled.
type settings struct {
	cache         string // its folder; "" for none
	cacheNamed    bool   // the user has named it, or said that there be none
	jobs, threads int
	memory        bytesFlag
	inProcess     bool
	table         string
}

func readSettings(file *pipeline.File) (settings, error) {
	s := settings{cacheNamed: file.Settings["cache"].Origin != pipeline.DefaultOrigin}
	parsers := map[string]func(string) error{
		"jobs":       parseCount(&s.jobs),
		"threads":    parseCount(&s.threads),
		"memory":     s.memory.Set,
		"in-process": parseBool(&s.inProcess),
		"table":      func(text string) error { s.table = text; return nil },
		"cache":      s.readCache,
	}
	for _, name := range pipeline.SettingNames {
		v := file.Settings[name]
		if v.Text == "" {
			continue
		}
		if err := parsers[name](v.Text); err != nil {
			return s, usagef("%s (%s): %w", name, v.Origin, err)
		}
	}
	s.complete(file)
	return s, nil
}

func parseCount(n *int) func(string) error {
	return func(text string) (err error) {
		if *n, err = strconv.Atoi(text); err != nil || *n < 0 {
			return fmt.Errorf("%q is no whole number from 0 on", text)
		}
		return nil
	}
}

func parseBool(b *bool) func(string) error {
	return func(text string) (err error) {
		if *b, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		return nil
	}
}

// open opens the cache; nil if there is none.
func (s *settings) open(warn func(string)) (*pipeline.Cache, error) {
	switch {
	case s.cache != "":
		return openCache(s.cache, s.cacheNamed, warn)
	case !s.cacheNamed:
		warn(noCacheFolder)
	}
	return nil, nil
}

func (s *settings) readCache(dir string) error {
	if dir != noCache {
		s.cache = dir
	}
	return nil
}

// complete fills in what depends on the machine.
func (s *settings) complete(file *pipeline.File) {
	if s.threads == 0 {
		s.threads = runtime.GOMAXPROCS(0)
	} else {
		file.SetThreads(s.threads)
	}
	if s.jobs == 0 {
		s.jobs = max(1, runtime.GOMAXPROCS(0)/s.threads)
	}
	if s.memory == 0 {
		s.memory = bytesFlag(pipeline.FreeMemory() / 4 * 3)
	}
}

// checkFiles refuses a pipeline that would write over what it reads, or into its cache.
func (o *runFlags) checkFiles(ctx context.Context, graph *pipeline.Graph, s settings, path string) error {
	inputs := []arrowio.FileUse{{Path: path}}
	inputs = append(inputs, arrowio.FileUse{Flag: "cache", Path: s.cache})
	if err := graph.CheckFiles(ctx, inputs, []arrowio.FileUse{{Flag: "table", Path: s.table}, {Flag: "report", Path: o.page}}, tables.Files); err != nil {
		return usageError{err}
	}
	return nil
}

func (o *runFlags) execute(cmd *cobra.Command, graph *pipeline.Graph, s settings) error {
	if err := graph.Keys(cmd.Context(), machine(s.threads)); err != nil {
		return err
	}
	if o.explain {
		return explain(cmd, graph, s)
	}
	view := o.view(cmd)
	cache, err := s.open(view.Warn)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	r := &pipeline.Runner{Graph: graph, Cache: cache, Jobs: s.jobs, Memory: int64(s.memory), InProcess: s.inProcess,
		Verbose: o.verbose, KeepGoing: o.keepGoing, Program: program, Version: Version(), View: view, Text: cmd.OutOrStdout(), Table: s.table, Plain: o.spreadsheet}
	if o.page != "" {
		r.Results = func(results *pipeline.Results) error { return o.writePage(cmd, results) }
	}
	return r.Run(cmd.Context())
}

// writePage writes the page of all runs.
func (o *runFlags) writePage(cmd *cobra.Command, results *pipeline.Results) error {
	parts, err := report.Study(results)
	if err != nil {
		return fmt.Errorf("--report %s: %w", o.page, err)
	}
	name := filepath.Base(cmd.Flags().Arg(0))
	page := newPage(cmd, strings.TrimSuffix(name, filepath.Ext(name)))
	page.Parts, page.Sources = parts, []report.Source{{Name: name, Text: o.text}}
	return writePage(o.page, page)
}

// explain says what would run. It makes no cache.
func explain(cmd *cobra.Command, graph *pipeline.Graph, s settings) error {
	var cache *pipeline.Cache
	if s.cache != "" {
		var err error
		if cache, err = pipeline.FindCache(s.cache); err != nil {
			return usagef("cache: %w", err)
		}
	}
	return pipeline.Explain(cmd.Context(), cmd.OutOrStdout(), graph, cache)
}

// machine is this machine, as far as results depend on it.
func machine(threads int) *pipeline.Machine {
	return &pipeline.Machine{Kernels: algorithms.KernelLevel(), Threads: threads, Beside: tables.Files}
}

func (o *runFlags) view(cmd *cobra.Command) pipeline.View {
	w := cmd.ErrOrStderr()
	if !o.quiet && redraws(w) {
		return &pipeline.Live{W: w, Width: func() int {
			width, _, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil {
				return 80
			}
			return width
		}}
	}
	return &pipeline.Lines{W: w, Quiet: o.quiet}
}
