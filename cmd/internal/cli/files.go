package cli

import (
	"context"
	"strings"

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
		inputs = append(inputs, uses(cmd.Context(), "", path)...)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		path := f.Value.String()
		switch role := roleOf(f.Name); {
		case role.Reads():
			inputs = append(inputs, uses(cmd.Context(), "--"+f.Name, path)...)
		case role.Writes():
			outputs = append(outputs, arrowio.FileUse{Flag: "--" + f.Name, Path: path})
		case f.Name == cachedFlag:
			inputs = append(inputs, arrowio.FileUse{Flag: "--" + f.Name, Path: cachedDir(path)})
		}
	})
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := arrowio.CheckFiles(inputs, outputs); err != nil {
		return usageError{err}
	}
	stamp(cmd, inputs, len(args) == 0 || args[0] == "-")
	return nil
}

// checkEmpty refuses a flag with nothing in it, which a script gives whose variable is empty: it would be taken for
// none, as if the flag had not been given.
func checkEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, several := f.Value.(pflag.SliceValue)
		if several && len(list.GetSlice()) == 0 || !several && f.Value.String() == "" {
			err = usagef("--%s is empty: name something, or leave it out", f.Name)
		}
	})
	return err
}

type stampsKey struct{}

// stamp notes what the inputs are like before they are read. piped says that rows come
// from standard input: then what was learnt is read with them, and carries checksums.
func stamp(cmd *cobra.Command, inputs []arrowio.FileUse, piped bool) {
	checks := []func() error{pipeline.StandardInput()}
	for _, in := range inputs {
		name := strings.TrimPrefix(in.Flag, "--")
		if in.Path != "" && in.Path != "-" && name != cachedFlag && !(piped && meaningOf()[name].learnt) {
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

// uses are all files that are read when a path is given: it may name several, and that of
// the labels may lie beside it.
func uses(ctx context.Context, flag, path string) []arrowio.FileUse {
	var all []arrowio.FileUse
	for _, file := range tables.Files(ctx, path) {
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
