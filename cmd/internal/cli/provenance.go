package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/write"
)

// provenanceCommand says how a file came to be, and makes it again.
func provenanceCommand() *cobra.Command {
	var cache, file string
	var asJSON, verify, quiet bool
	cmd := &cobra.Command{
		Use:   "provenance [flags] FILE",
		Short: "Say how a stream, a model or a result came to be, and make it again",
		Long: `Prints the stages behind a file, with versions, seeds, options and hashes. Streams and
models say themselves where they come from; of results (what mars-eval prints) and states
the cache knows, as long as it has them.`,
		Example: `  mars provenance labelled.arrow
  mars provenance model.safetensors --pipeline again.toml
  mars provenance --verify labelled.arrow`,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&cache, "cache", "", "folder of the cache (default: $MARS_CACHE, or the user's cache folder)")
	f.StringVar(&file, "pipeline", "", "write the pipeline file that makes FILE again (- for standard output)")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.BoolVar(&verify, "verify", false, "make FILE again, from its inputs and without the cache, and compare")
	f.BoolVarP(&quiet, "quiet", "q", false, "with --verify, only warnings and errors on standard error")
	cmd.MarkFlagsMutuallyExclusive("pipeline", "json", "verify")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known, err := pipeline.FindCache(cacheDir(cache))
		if err != nil {
			return err
		}
		h, err := pipeline.Trace(cmd.Context(), args[0], known, catalogue())
		switch {
		case err != nil:
			return err
		case verify:
			return verifyHistory(cmd, h, quiet)
		case file != "":
			return writeHistory(cmd, h, file)
		case asJSON:
			return write.Object(cmd.OutOrStdout(), h)
		}
		return h.WriteText(cmd.OutOrStdout())
	}
	return newCommand(cmd)
}

func writeHistory(cmd *cobra.Command, h *pipeline.History, path string) error {
	folder := "."
	if path != "-" {
		folder = filepath.Dir(path)
	}
	var text bytes.Buffer
	if err := h.WritePipeline(&text, catalogue(), pipeline.Place{Dir: h.NewFolder(folder)}); err != nil {
		return err
	}
	if path == "-" {
		_, err := cmd.OutOrStdout().Write(text.Bytes())
		return err
	}
	return atomicfile.WriteFile(path, text.Bytes())
}

// verifyHistory runs the history again in a folder of its own and compares.
func verifyHistory(cmd *cobra.Command, h *pipeline.History, quiet bool) error {
	made := pipeline.Place{Dir: h.NewFolder("."), Scratch: true}
	var text bytes.Buffer
	if err := h.WritePipeline(&text, catalogue(), made); err != nil {
		return err
	}
	m := machine(runtime.GOMAXPROCS(0))
	if err := h.CheckInputs(cmd.Context(), m); err != nil {
		return err
	}
	old, err := filepath.Abs(h.File)
	if err != nil {
		return err
	}
	dir, remove, err := h.Workshop(cmd.Context(), m)
	if err != nil {
		return err
	}
	defer remove()
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if err := makeAgain(cmd, text.String(), m, quiet); err != nil {
		return err
	}
	note, err := pipeline.Same(cmd.Context(), old, h.Made(made))
	if err != nil {
		return err
	}
	if note == "" {
		note = "the same, byte for byte"
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s was made again: %s\n", h.File, note)
	return err
}

func makeAgain(cmd *cobra.Command, text string, m *pipeline.Machine, quiet bool) error {
	file, err := pipeline.Parse("provenance", text, catalogue())
	if err != nil {
		return err
	}
	graph, err := file.Expand(cmd.Context())
	if err != nil {
		return err
	}
	if err := graph.CheckFiles(cmd.Context(), nil, nil, tables.Files); err != nil {
		return err
	}
	if err := graph.Keys(cmd.Context(), m); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	r := &pipeline.Runner{Graph: graph, Jobs: 1, Program: program, Version: Version(), View: (&runFlags{quiet: quiet}).view(cmd)}
	return r.Run(cmd.Context())
}
