package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The help of a command names each of its flags once, those that most need first, in
// lines that fit on a terminal.
func TestHelpListsEachFlagOnce(t *testing.T) {
	var all []string
	for _, command := range []func() *cobra.Command{labelCommand, proportionsCommand, Predict, Featurize, Train} {
		cmd := mount(command())
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.Help() //nolint:errcheck // it prints
		_, help, _ := strings.Cut(out.String(), "\nFlags:\n")
		for line := range strings.SplitSeq(help, "\n") {
			if n := utf8.RuneCountInString(line); n > 80 && strings.HasPrefix(line, "         ") {
				t.Errorf("%s: a line of %d characters: %s", cmd.Name(), n, line)
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			all = append(all, f.Name)
			n := 0
			for line := range strings.SplitSeq(help, "\n") {
				if fields := strings.Fields(line); len(fields) > 0 && strings.HasPrefix(line, "  ") && line[6] == '-' && slices.ContainsFunc(fields[:min(2, len(fields))], func(w string) bool { return w == "--"+f.Name }) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s --help has --%s %d times", cmd.Name(), f.Name, n)
			}
		})
	}
	for name, m := range meaningOf() {
		if m.heading > 0 && !slices.Contains(all, name) {
			t.Errorf("%s: there is no flag --%s", meanings[m.heading].heading, name)
		}
	}
	label := flagHelp(mount(labelCommand()))
	first, _, _ := strings.Cut(label, "\n\n")
	for _, name := range []string{"source", "target", "label", "id", "columns", "assume", "save", "output"} {
		if !strings.Contains(first, "--"+name+" ") {
			t.Errorf("mars label --help does not begin with --%s:\n%s", name, first)
		}
	}
	if n := strings.Count(first, "  --"); n > 16 {
		t.Errorf("mars label --help begins with %d flags", n)
	}
}
