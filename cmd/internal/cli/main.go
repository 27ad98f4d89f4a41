// Package cli builds the commands: flags, help, logs, progress and exit codes
// over the stages' packages. The mains in cmd/ hand their command to Main.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/stages/algorithms/adapt"
)

// Exit codes, the same for every command.
const (
	exitOK          = 0
	exitFailed      = 1   // bad input, or the work could not be done; no output is left
	exitUsage       = 2   // the command line is wrong
	exitDiverged    = 3   // training diverged; the last good model is kept
	exitAlert       = 4   // mars watch or mars check has an alarm, by --alert
	exitInterrupted = 130 // by a signal
	exitBrokenPipe  = 141 // whoever read the output stopped reading
)

// exitStatuses are what the help says of them; a line of it ends with each that ends one.
var exitStatuses = []struct {
	code    int
	meaning string
	ends    bool
}{
	{exitOK, "done", false},
	{exitFailed, "bad input or failure (no output file is left)", true},
	{exitUsage, "wrong use", false},
	{exitDiverged, "training diverged (the last good model, if any, is kept)", true},
	{exitAlert, "mars watch --alert has found drift, or mars check --alert too low an accuracy", false},
	{exitInterrupted, "interrupted", false},
	{exitBrokenPipe, "the reader of the output went away", false},
}

func exitCodesHelp() string {
	text := "Exit status:"
	for i, s := range exitStatuses {
		after := ";"
		if i == len(exitStatuses)-1 {
			after = "."
		}
		before := " "
		if i > 0 && exitStatuses[i-1].ends {
			before = "\n"
		}
		text += fmt.Sprintf("%s%d %s%s", before, s.code, s.meaning, after)
	}
	return text
}

// Main runs cmd on the program's arguments and exits.
func Main(cmd *cobra.Command) {
	ctx, giveBack := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	// A second Ctrl-C ends the process at once. A second SIGTERM does not: Ctrl-C
	// reaches all processes of a pipeline, and its runner then sends SIGTERM to the
	// stages, which are still cleaning up.
	context.AfterFunc(ctx, giveBack)
	outliveReader()
	code := run(ctx, cmd, os.Args[1:], os.Stderr)
	stop()
	reportPeak()
	os.Exit(code)
}

// run executes cmd and reports its error, once, on stderr.
func run(ctx context.Context, cmd *cobra.Command, args []string, stderr io.Writer) int {
	ctx, end := context.WithCancel(ctx)
	defer end()
	interruptStdin(ctx)
	cmd.SetArgs(args)
	cmd.SetErr(stderr)
	out := &standardOutput{file: os.Stdout}
	cmd.SetOut(safetext.NewWriter(out))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.Version = Version()
	cmd.SetVersionTemplate("{{.DisplayName}} " + thisBuild().String())
	ran := cmd
	asked, err := complete(cmd, args, os.Stdout)
	if err == nil {
		if err = cmp.Or(algorithms.CheckKernel(), pipeline.EndWithParent(end)); err != nil {
			err = usageError{err}
		}
	}
	if !asked && err == nil {
		err = guarded(func() (err error) {
			ran, err = cmd.ExecuteContextC(ctx)
			return err
		})
	}
	code := exitCode(ctx, err)
	switch code {
	case exitOK:
		if arrowio.StandardOutputIsWritten() && isClosed(os.Stdout) {
			fmt.Fprintf(stderr, "%s: warning: standard output is closed, or discarded, and what was written to it is lost\n", ran.CommandPath())
		}
	case exitBrokenPipe:
	case exitInterrupted:
		fmt.Fprintf(stderr, "%s: interrupted\n", ran.CommandPath())
	case exitUsage:
		fmt.Fprintf(stderr, "%s: %s\nRun '%s --help' for its flags and examples.\n", ran.CommandPath(), message(err), ran.CommandPath())
	default:
		fmt.Fprintf(stderr, "%s: %s\n", ran.CommandPath(), message(err))
	}
	return code
}

// maxMessage is the length of a message beyond which it is no help, in bytes: names in a
// file can be of any length.
const maxMessage = 1 << 14

// message is an error as text. Lines after the first are indented, so that no name in a
// file passes for a line of its own.
func message(err error) string {
	text := err.Error()
	if more := len(text) - maxMessage; more > 0 {
		text = fmt.Sprintf("%s… (%d bytes more)", strings.ToValidUTF8(text[:maxMessage], ""), more)
	}
	return strings.ReplaceAll(safetext.EscapeLines(text), "\n", "\n  ")
}

// rawOut is standard output for data, which are written as they are.
func rawOut(cmd *cobra.Command) io.Writer {
	out := cmd.OutOrStdout()
	if w, ok := out.(*safetext.Writer); ok && !isTerminal(w.Raw()) {
		return w.Raw()
	}
	return out
}

// bare is the writer under one that escapes control characters.
func bare(w io.Writer) io.Writer {
	if s, ok := w.(*safetext.Writer); ok {
		return s.Raw()
	}
	return w
}

func exitCode(ctx context.Context, err error) int {
	var usage usageError
	var diverged *adapt.DivergedError
	var option optionError
	var stage *pipeline.StageError
	var alert *alertError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, arrowio.ErrBrokenPipe), errors.Is(err, syscall.EPIPE):
		return exitBrokenPipe
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &option):
		return exitUsage
	case errors.As(err, &alert):
		return exitAlert
	case errors.As(err, &diverged):
		return exitDiverged
	case errors.As(err, &stage) && stage.Status == exitDiverged:
		return exitDiverged
	}
	return exitFailed
}

// optionError is an error of a package about an option's value, whatever the data.
type optionError interface {
	error
	IsOption()
}

// usageError is a mistake in the command line, not in the data.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// newCommand applies the conventions that all commands share.
func newCommand(cmd *cobra.Command) *cobra.Command {
	cmd.Long = strings.TrimSpace(cmd.Long + "\n\n" + exitCodesHelp())
	cobra.AddTemplateFunc("flagHelp", flagHelp)
	cmd.SetHelpTemplate(helpTemplate)
	cmd.SetUsageTemplate(usageTemplate)
	cmd.SetFlagErrorFunc(flagError)
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.DisableAutoGenTag = true
	cmd.Flags().SortFlags = false
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		limitMemory(cmd)
		if err := checkEmpty(cmd); err != nil {
			return err
		}
		return checkFiles(cmd, args)
	}
	cmd.PostRunE = func(cmd *cobra.Command, _ []string) error { return unchanged(cmd) }
	if validate := cmd.Args; validate != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := validate(cmd, args); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	return cmd
}

// helpTemplate opens with what the command does and examples that run.
const helpTemplate = `{{.Short}}

{{if .HasExample}}Examples:
{{.Example}}

{{end}}{{.Long}}

{{.UsageString}}`

const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]

{{$all := .Commands}}{{range $group := .Groups}}{{.Title}}{{range $all}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}

{{end}}{{if .Groups}}Other:{{else}}Commands:{{end}}{{range .Commands}}{{if and (eq .GroupID "") .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

{{flagHelp .}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} [command] --help" says more of a command.{{end}}
`
