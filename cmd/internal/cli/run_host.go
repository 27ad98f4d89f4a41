package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/label"
)

// A host is who runs a stage's command inside this process: a pipeline, which
// gives it streams in the place of files, or only wants its flags checked.
type host struct {
	checkOnly bool
	streams   pipeline.Streams
}

type hostKey struct{}

func withHost(ctx context.Context, h *host) context.Context {
	return context.WithValue(ctx, hostKey{}, h)
}

// hostOf is the command's host; the zero one if a user runs it.
func hostOf(cmd *cobra.Command) *host {
	if h, ok := cmd.Context().Value(hostKey{}).(*host); ok {
		return h
	}
	return &host{}
}

// input opens the rows of a command: the host's, or those of a file or standard
// input. close is to be called when they have been read.
func (c *common) open(cmd *cobra.Command, path string) (in arrowio.Stream, close func(), err error) {
	if h := hostOf(cmd); h.streams.In != nil && path == "" {
		return h.streams.In, func() {}, nil
	}
	r, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}
	return r, func() { r.Close() }, nil
}

// create opens the output of a command in the same way.
func (c *common) create(cmd *cobra.Command) (arrowio.Sink, error) {
	if h := hostOf(cmd); h.streams.Out != nil && c.output == "" {
		return h.streams.Out, nil
	}
	return arrowio.Create(c.output, arrowio.WriteOptions{Compression: c.compression, Force: c.force})
}

// checkName refuses an output whose name promises what is not written.
func (c *common) checkName() error {
	switch format, err := label.FormatOf(c.output); {
	case err != nil:
		return usagef("--output %w", err)
	case format.Name != label.Arrow && !c.labels:
		return usagef("--output %s: this command writes Arrow: name it .arrow or .arrows, and make a table of it with mars inspect --csv", c.output)
	}
	return nil
}

// reporter is where progress goes: to the host, to the pipeline that runs this
// process, or to the bar.
func reporter(cmd *cobra.Command, bar func(what string, done, total int64)) func(what string, done, total int64) {
	if h := hostOf(cmd); h.streams.Progress != nil {
		return h.streams.Progress
	}
	if w := runnersPipe(); w != nil {
		return func(what string, done, total int64) {
			fmt.Fprintf(w, "%s %d %d\n", strings.ReplaceAll(what, " ", "-"), done, total)
		}
	}
	return bar
}

// runnersPipe is the pipe that the pipeline that started this process reads
// progress from; nil if there is none.
var runnersPipe = sync.OnceValue(func() *os.File {
	fd, err := strconv.Atoi(os.Getenv(pipeline.ProgressVariable))
	if err != nil || fd < 3 {
		return nil
	}
	return os.NewFile(uintptr(fd), "progress")
})

// reportPeak tells the pipeline that started this process how much memory it has
// held.
func reportPeak() {
	if w := runnersPipe(); w != nil {
		fmt.Fprintf(w, "%s %d 0\n", pipeline.PeakReport, pipeline.PeakMemory())
	}
}

// keepInputs adds the files that are featurized, and their hashes, to the step
// that provenance keeps. Of one that cannot be read featurize will say more.
func keepInputs(ctx context.Context, env *stages.Env, o featurize.Options) {
	sums := map[string]string{}
	for flag, path := range map[string]string{"source": o.Source.Path, "target": o.Target.Path} {
		if isPipe(path) { // of which nothing would be left to read
			continue
		}
		sum, known := sums[path]
		if !known {
			var err error
			if sum, err = machine(0).Hash(ctx, path); err != nil {
				continue
			}
			sums[path] = sum
		}
		if env.Step.State == nil {
			env.Step.State = map[string]string{}
		}
		env.Step.State[flag+"="+filepath.Base(path)] = sum
	}
}
