package cli

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/cluster"
	"mars.dev/mars/stages/embed"
	"mars.dev/mars/stages/eval"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/match"
	"mars.dev/mars/stages/predict"
	"mars.dev/mars/stages/proportions"
	"mars.dev/mars/stages/reweight"
	"mars.dev/mars/stages/train"
)

// stageCommands make the commands of the stages, anew each time: a command is
// good for one run.
func stageCommands() []func() *cobra.Command {
	return []func() *cobra.Command{Featurize, Embed, Cluster, Match, Reweight, Train, Predict, Eval}
}

// algorithmVersions are the versions of what the stages compute.
var algorithmVersions = map[string]int{
	"featurize": featurize.Version, "embed": embed.Version, "cluster": cluster.Version, "match": match.Version,
	"reweight": reweight.Version, "train": train.Version, "predict": predict.Version, "eval": eval.Version,
	"label": label.Version, "proportions": proportions.Version,
}

// catalogue describes all stages to the package pipeline.
func catalogue() pipeline.Catalogue {
	var all pipeline.Catalogue
	for _, command := range stageCommands() {
		cmd := command()
		name := strings.TrimPrefix(cmd.Name(), "mars-")
		s := describe(cmd, command, name)
		switch name {
		case "train", "predict":
			s.Write = writeLabelsOf
		case "eval":
			s.Rows = false
		}
		all = append(all, s)
		for _, sub := range cmd.Commands() {
			all = append(all, describe(sub, command, name+" "+sub.Name(), sub.Name()))
		}
	}
	eval := all.Find("eval")
	eval.Wants, eval.Unless = "truth", "scores"
	return append(all, proportionsStage(), labelStage())
}

// proportionsStage makes a stage of mars proportions that puts out what it prints.
func proportionsStage() *pipeline.Stage {
	s := questionStage(proportionsCommand, "embed", "reweight")
	s.Rows = false
	for _, name := range append([]string{"compression"}, everyRowFlags...) {
		delete(s.Flags, name)
	}
	return s
}

// labelStage makes a stage of mars label that puts out rows, and writes them as the
// name of a file asks for.
func labelStage() *pipeline.Stage {
	s := questionStage(labelCommand, "embed", "train")
	s.Write = func(path string) pipeline.WriteRows { return writeTable(path, nil) }
	return s
}

// writeLabelsOf is what a stage that labels rows writes to a file by its name: what mars
// label does, if that is no Arrow file.
func writeLabelsOf(path string) pipeline.WriteRows {
	return writeTable(path, func(rows arrowio.Stream) (arrowio.Stream, error) {
		return label.New(stages.Env{Columns: arrowio.DefaultColumns()}, rows, label.Options{})
	})
}

// writeTable writes rows, or what is made of them, as the name of a file asks for; nil for
// an Arrow file.
func writeTable(path string, made func(arrowio.Stream) (arrowio.Stream, error)) pipeline.WriteRows {
	format, err := label.FormatOf(path)
	if err != nil || format.Name == label.Arrow { // the command has refused other names
		return nil
	}
	return func(ctx context.Context, w io.Writer, rows arrowio.Stream) (err error) {
		if made != nil {
			if rows, err = made(rows); err != nil {
				return err
			}
		}
		return label.Write(ctx, w, format, rows)
	}
}

// questionStage makes a stage of a command that runs other stages, beside featurize,
// inside it. What it computes changes when what they compute does.
func questionStage(command func() *cobra.Command, runs ...string) *pipeline.Stage {
	cmd := command()
	s := describe(cmd, command, cmd.Name())
	s.Reads, s.Instead = true, []string{"source", "target"}
	for _, name := range append(runs, "featurize") {
		s.Algorithm += max(1, algorithmVersions[name])
	}
	return s
}

// describe makes the stage of a command, which is under names (the words of a
// subcommand) in what command makes.
func describe(cmd *cobra.Command, command func() *cobra.Command, name string, names ...string) *pipeline.Stage {
	s := &pipeline.Stage{Name: name, Algorithm: max(1, algorithmVersions[name]), Flags: map[string]pipeline.Flag{},
		Reads: strings.Contains(cmd.Use, "[FILE]"), Rows: cmd.Flags().Lookup("output") != nil}
	if s.Reads && cmd.Flags().Lookup("target") != nil {
		s.Instead = []string{"target"}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		s.Flags[f.Name] = pipeline.Flag{Name: f.Name, Default: f.DefValue, Usage: f.Usage, Bool: f.Value.Type() == "bool", Role: roleOf(f.Name)}
	})
	s.Flags["output"] = pipeline.Flag{Name: "output", Usage: "file that the output goes to", Role: pipeline.RowsFile}
	s.Status = func(err error) int { return exitCode(context.Background(), err) }
	s.Check = func(args []string) (map[string]string, error) { return checkFlags(command(), names, args, s.Rows) }
	s.Run = func(ctx context.Context, args []string, streams pipeline.Streams) error {
		cmd := command()
		if streams.Text != nil {
			cmd.SetOut(safetext.NewWriter(streams.Text))
		}
		_, err := execute(withHost(ctx, &host{streams: streams}), cmd, append(names, args...), streams.Log)
		return err
	}
	return s
}

// checkFlags has a command check its arguments and gives the flags that are set.
// A command of text has no flag --output; the pipeline has it for all.
func checkFlags(cmd *cobra.Command, names, args []string, rows bool) (map[string]string, error) {
	set, kept := map[string]string{}, append([]string(nil), names...)
	for _, arg := range args {
		if path, ok := strings.CutPrefix(arg, "--output="); ok && !rows {
			set["output"] = path
		} else {
			kept = append(kept, arg)
		}
	}
	ran, err := execute(withHost(context.Background(), &host{checkOnly: true}), cmd, kept, &bytes.Buffer{})
	ran.Flags().Visit(func(f *pflag.Flag) { set[f.Name] = flagText(f) })
	return set, err
}

// flagText is the value of a flag as it is written.
func flagText(f *pflag.Flag) string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return f.Value.String()
}

// execute runs a command that does not report its own errors.
func execute(ctx context.Context, cmd *cobra.Command, args []string, log interface{ Write([]byte) (int, error) }) (*cobra.Command, error) {
	if args == nil {
		args = []string{}
	}
	cmd.SetArgs(args)
	cmd.SetErr(log)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContextC(ctx)
}
