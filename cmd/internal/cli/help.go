package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are headings of a command's help, with the flags that are under them: those
// that few need. The others come first.
var flagGroups = []struct{ title, flags string }{
	{"Tables", "source-labels target-labels label-from-file missing-labels domain-column source-domain target-domain file-column classes"},
	{"What columns become", "categorical max-categories missing missing-indicator hash-features explain"},
	{"How files are written", "separator decimal thousands comment skip-lines no-header encoding compensate"},
	{"Images", "image-column bad-images shape raw grey resize source-resize target-resize crop pad source-pad target-pad source-binarise target-binarise source-photographs target-photographs colour augment-preview augment"},
	{"Which rows are drawn", "source-proportions target-proportions source-fractions target-fractions source-rows target-rows max-source-rows max-target-rows disjoint"},
	{"How it is done", "method log1p arcsinh standardize scale classifier decision unknown epochs level bootstrap seed"},
	{"Output", "report format spreadsheet compression force log-format cached"},
	{"Columns of a stream", "domain features embedding prediction predicted-class probability typicality"},
	{"Memory and threads", "memory memory-limit max-classes jobs"},
}

// grouped are the commands that have so many flags that they need headings.
var grouped = map[string]bool{"mars-label": true, "mars-proportions": true, "mars-predict": true, "mars-featurize": true, "mars-watch": true}

// A flagGroup is the flags of a command that are under one heading; the first has none.
type flagGroup struct {
	title string
	flags []*pflag.Flag
}

// flagsOf are the flags of a command as its help and its page of the manual list them.
func flagsOf(cmd *cobra.Command) []flagGroup {
	all := []flagGroup{{}}
	heading := map[string]int{}
	if grouped["mars-"+strings.TrimPrefix(cmd.Name(), "mars-")] {
		for _, g := range flagGroups {
			for _, name := range strings.Fields(g.flags) {
				heading[name] = len(all)
			}
			all = append(all, flagGroup{title: g.title})
		}
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	add := func(f *pflag.Flag) {
		g := &all[heading[f.Name]]
		g.flags = append(g.flags, f)
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
