package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/pipeline"
)

// askLine is the command that draws rows to label for the question that a command has answered.
func askLine(cmd *cobra.Command, args []string) string {
	return nextLine(cmd, args, askCommand(), "-o", "ask.csv")
}

// nextLine is another command on the question that a command has answered: its own flags, as far as
// the other has them, with FILE for pipes, which are gone. It is "" where the rows came from standard
// input or a pipeline.
func nextLine(cmd *cobra.Command, args []string, next *cobra.Command, more ...string) string {
	files := append([]string{}, args...)
	words := []string{"mars", next.Name()}
	known := next.Flags()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		text := flagText(f)
		if known.Lookup(f.Name) == nil || !asksAlike(f.Name) || f.Name == "method" && known.Set(f.Name, text) != nil {
			return
		}
		if f.Name == "source" || f.Name == "target" {
			if text != "-" && isPipe(text) {
				text = "FILE"
			}
			files = append(files, text)
		}
		if f.Value.Type() == "bool" && text == "true" {
			words = append(words, "--"+f.Name)
			return
		}
		words = append(words, "--"+f.Name, text)
	})
	h := hostOf(cmd)
	if len(files) == 0 || h.streams.In != nil || h.streams.Out != nil || h.streams.Text != nil {
		return ""
	}
	for _, path := range files {
		if isPipe(path) {
			return ""
		}
	}
	return quoted(slices.Concat(words, args, more))
}

// asksAlike reports whether a flag means to another command what it means to who gave it, and to the
// rows that are drawn.
func asksAlike(name string) bool {
	switch roleOf(name) {
	case pipeline.RowsFile, pipeline.StateFile, pipeline.NoEffect, pipeline.Quiet, pipeline.Reserved, pipeline.PageFile, pipeline.Encoding, pipeline.Threads:
		return false
	}
	return name != "level" && name != "keep" && name != "truth"
}
