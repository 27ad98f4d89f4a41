package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/tables"
)

// checkFiles refuses a command that would write over what it reads, or twice to the
// same file. The roles of its flags say what they name; its arguments are files that
// it reads. Of a command in a pipeline the pipeline has checked the files.
func checkFiles(cmd *cobra.Command, args []string) error {
	if h := hostOf(cmd); h.checkOnly || h.streams.Log != nil {
		return nil
	}
	var inputs, outputs []arrowio.FileUse
	for _, path := range args {
		inputs = append(inputs, uses("", path)...)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		path := f.Value.String()
		switch role := flagRoles[f.Name]; {
		case role.Reads():
			inputs = append(inputs, uses("--"+f.Name, path)...)
		case role.Writes(), reportFlags[f.Name]:
			outputs = append(outputs, arrowio.FileUse{Flag: "--" + f.Name, Path: path})
		case f.Name == cachedFlag:
			inputs = append(inputs, arrowio.FileUse{Flag: "--" + f.Name, Path: cachedDir(path)})
		}
	})
	if err := arrowio.CheckFiles(inputs, outputs); err != nil {
		return usageError{err}
	}
	stamp(cmd, inputs, len(args) == 0 || args[0] == "-")
	return nil
}

type stampsKey struct{}

// stateFlags name what the stage before in a pipe may save while this command waits for
// its rows: these files are read at once, when the rows come, and carry checksums.
var stateFlags = map[string]bool{"--model": true, "--load": true, "--init": true, "--after": true, "--sums": true}

// stamp notes what the inputs are like before they are read. piped says that rows come
// from standard input.
func stamp(cmd *cobra.Command, inputs []arrowio.FileUse, piped bool) {
	checks := []func() error{pipeline.StandardInput()}
	for _, in := range inputs {
		if in.Path != "" && in.Path != "-" && in.Flag != "--"+cachedFlag && !(piped && stateFlags[in.Flag]) {
			checks = append(checks, pipeline.NewStamp(in.Path).Check)
		}
	}
	cmd.SetContext(context.WithValue(cmd.Context(), stampsKey{}, checks))
}

// unchanged reports an input that has changed since the command began. What was made of
// it is of two files, or of one that nobody has any more.
func unchanged(cmd *cobra.Command) error {
	checks, _ := cmd.Context().Value(stampsKey{}).([]func() error)
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// reportFlags are the flags of commands that are no stages which name a file that is
// written.
var reportFlags = map[string]bool{"table": true, "pipeline": true, "augment-preview": true, "report": true, "summary": true, "metrics-file": true}

// uses are all files that are read when a path is given: it may name several, and that of
// the labels may lie beside it.
func uses(flag, path string) []arrowio.FileUse {
	var all []arrowio.FileUse
	for _, file := range tables.Files(path) {
		all = append(all, arrowio.FileUse{Flag: flag, Path: file})
	}
	return all
}

// A fileList is the value of a flag that names files. Given again it names more: it is a
// list with commas, as a list in a pipeline file is.
type fileList string

func (l *fileList) String() string { return string(*l) }
func (l *fileList) Type() string   { return "string" }

func (l *fileList) Set(path string) error {
	if *l != "" {
		path = string(*l) + "," + path
	}
	*l = fileList(path)
	return nil
}
