package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// grouped are the commands that have so many flags that they need headings.
var grouped = map[string]bool{"mars-label": true, "mars-proportions": true, "mars-predict": true, "mars-featurize": true, "mars-watch": true}

// A flagGroup is the flags of a command that are under one heading; the first has none.
type flagGroup struct {
	title string
	flags []*pflag.Flag
}

// flagsOf are the flags of a command as its help and its page of the manual list them.
func flagsOf(cmd *cobra.Command) []flagGroup {
	all := make([]flagGroup, len(meanings))
	for i, group := range meanings {
		all[i].title = group.heading
	}
	under := grouped["mars-"+strings.TrimPrefix(cmd.Name(), "mars-")]
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	add := func(f *pflag.Flag) {
		i := 0
		if under {
			i = meaningOf()[f.Name].heading
		}
		all[i].flags = append(all[i].flags, f)
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return slices.DeleteFunc(all, func(g flagGroup) bool { return len(g.flags) == 0 })
}

// flagHelp lists the flags of a command, in paragraphs that fit on a terminal.
func flagHelp(cmd *cobra.Command) string {
	var b strings.Builder
	for _, g := range flagsOf(cmd) {
		fmt.Fprintf(&b, "\n%s:\n", cmp.Or(g.title, "Flags"))
		for _, f := range g.flags {
			writeFlag(&b, f)
		}
	}
	return strings.TrimSpace(b.String())
}

// flagUsage is a flag as it is written ("  -o, --output string") and what it does.
func flagUsage(f *pflag.Flag) (name, does string) {
	alone := pflag.NewFlagSet("", pflag.ContinueOnError)
	alone.AddFlag(f)
	line := strings.TrimRight(alone.FlagUsages(), "\n") // "  -o, --output string   write to …"
	end := 6 + strings.Index(line[6:], "   ")
	name, does = line[:end], strings.TrimSpace(line[end:])
	if strings.Contains(f.Usage, "(default:") { // in words, as that of --jobs, which is another on each machine
		_, does = pflag.UnquoteUsage(f)
	}
	return name, does
}

// writeFlag writes a flag and what it does, which begins on a line of its own if the flag
// has many values.
func writeFlag(b *strings.Builder, f *pflag.Flag) {
	const indent, width = 26, 80
	name, does := flagUsage(f)
	if len(name) > indent-2 {
		fmt.Fprintf(b, "%s\n", name)
		name = ""
	}
	fmt.Fprintf(b, "%-*s", indent-1, name)
	column := indent - 1
	for _, word := range strings.Fields(does) {
		if n := len([]rune(word)) + 1; column+n > width {
			fmt.Fprintf(b, "\n%*s", indent-1, "")
			column = indent - 1 + n
		} else {
			column += n
		}
		b.WriteString(" " + word)
	}
	b.WriteString("\n")
}
