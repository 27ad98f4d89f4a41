package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline"
)

// cachedFlag is --cached or --cached=DIR.
const cachedFlag = "cached"

func (c *common) cacheFlag(f *pflag.FlagSet) {
	f.StringVar(&c.cached, cachedFlag, "", "take the result from the cache of mars run (in $MARS_CACHE or the given folder) if it is there, else keep it there")
	f.Lookup(cachedFlag).NoOptDefVal = "default"
}

// cachedDir is the folder of the cache that a value of --cached means.
func cachedDir(value string) string {
	if value == "default" {
		return cacheDir("")
	}
	return cacheDir(value)
}

// hosted deals with a command that does not simply run: whose flags are only to
// be checked, or which is to use the cache.
func (c *common) hosted(cmd *cobra.Command) (handled bool, err error) {
	h := hostOf(cmd)
	switch {
	case h.checkOnly:
		return true, nil
	case c.cached == "" || h.streams.In != nil || h.streams.Out != nil || h.streams.Text != nil:
		return false, nil
	}
	warn := func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s\n", c.name, safetext.Escape(text)) }
	dir := cachedDir(c.cached)
	if dir == "" {
		warn(noCacheFolder)
		return false, nil
	}
	cache, err := openCache(dir, dir != pipeline.DefaultCacheDir(), warn)
	if cache == nil {
		return err != nil, err
	}
	return true, c.runCached(cmd, cache)
}

// runCached runs the command as a pipeline of its stage alone.
func (c *common) runCached(cmd *cobra.Command, cache *pipeline.Cache) error {
	stage := catalogue().Find(strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "mars-"), "mars "))
	rows := c.input
	flags, order := givenFlags(cmd, stage)
	instead := func(name string) bool { return flags[name] != "" }
	if stage.Reads && !slices.ContainsFunc(stage.Instead, instead) && (rows == "" || rows == "-") {
		spooled, remove, err := c.spool(cmd, cache)
		if err != nil {
			return err
		}
		defer remove()
		rows = spooled
	}
	graph, err := pipeline.Single(stage, flags, order, rows)
	if err != nil {
		return err
	}
	if err := graph.Keys(cmd.Context(), machine(c.jobs)); err != nil {
		return err
	}
	graph.Recognise(cache)
	return c.runGraph(cmd, graph, cache)
}

func (c *common) spool(cmd *cobra.Command, cache *pipeline.Cache) (path string, remove func(), err error) {
	in, done, err := c.open(cmd, "")
	if err != nil {
		return "", nil, err
	}
	defer done()
	return cache.Spool(cmd.Context(), in)
}

// givenFlags are the flags that were set and that a pipeline file could set.
func givenFlags(cmd *cobra.Command, stage *pipeline.Stage) (flags map[string]string, order []string) {
	flags = map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if stage.Flags[f.Name].Role.Settable() {
			flags[f.Name] = flagText(f)
			order = append(order, f.Name)
		}
	})
	return flags, order
}

func (c *common) runGraph(cmd *cobra.Command, graph *pipeline.Graph, cache *pipeline.Cache) error {
	var out arrowio.Sink
	if graph.Nodes[0].Stage.Rows && (c.output == "" || c.output == "-") {
		w, err := arrowio.Create("", arrowio.WriteOptions{Compression: c.compression, Force: c.force})
		if err != nil {
			return err
		}
		out = w
	}
	r := &pipeline.Runner{Graph: graph, Cache: cache, Jobs: 1, InProcess: true, Verbose: !c.quiet, Version: Version(),
		View: &aloneView{w: cmd.ErrOrStderr(), name: c.name, quiet: c.quiet}, Text: cmd.OutOrStdout(), Rows: out}
	err := r.Run(cmd.Context())
	if err != nil && out != nil {
		out.Fail(err)
	}
	return plainStageError(err)
}

// plainStageError takes the stage's label off: the command is the stage.
func plainStageError(err error) error {
	if stage, ok := err.(*pipeline.StageError); ok && stage.Err != nil {
		return stage.Err
	}
	return err
}

// aloneView is the View of a command that runs by itself: what the stage says
// goes out as it is.
type aloneView struct {
	w     io.Writer
	name  string
	quiet bool
}

func (v *aloneView) Plan(reuse, _ []*pipeline.Node) {
	if len(reuse) > 0 && !v.quiet {
		fmt.Fprintf(v.w, "%s: taken from the cache\n", v.name)
	}
}

func (v *aloneView) Start(*pipeline.Node) {}

func (v *aloneView) Progress(*pipeline.Node, string, int64, int64) {}

func (v *aloneView) Log(_ *pipeline.Node, line string) { fmt.Fprintln(v.w, safetext.Escape(line)) }

func (v *aloneView) Done(*pipeline.Node, int64, time.Duration, error) {}

func (v *aloneView) Warn(text string) {
	fmt.Fprintf(v.w, "%s: warning: %s\n", v.name, safetext.Escape(text))
}
