package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are headings of a command's help, with the flags that are under them: those
// that few need. The others come first.
var flagGroups = []struct{ title, flags string }{
	{"Tables", "source-labels target-labels domain-column source-domain target-domain separator decimal encoding classes file-column compensate"},
	{"Images", "shape raw resize source-resize target-resize pad source-pad target-pad source-binarise target-binarise source-photographs target-photographs colour augment-preview augment"},
	{"Which rows are drawn", "source-proportions target-proportions source-rows target-rows max-source-rows max-target-rows disjoint"},
	{"How it is done", "method log1p arcsinh standardize scale classifier decision unknown epochs level bootstrap seed"},
	{"Output", "format spreadsheet compression force log-format cached"},
	{"Columns of a stream", "domain features embedding prediction predicted-class probability typicality"},
	{"Memory and threads", "memory memory-limit max-classes jobs"},
}

// grouped are the commands that have so many flags that they need headings.
var grouped = map[string]bool{"mars-label": true, "mars-proportions": true, "mars-predict": true, "mars-featurize": true}

// flagHelp lists the flags of a command, in paragraphs that fit on a terminal.
func flagHelp(cmd *cobra.Command) string {
	heading := map[string]string{}
	if grouped["mars-"+strings.TrimPrefix(cmd.Name(), "mars-")] {
		for _, g := range flagGroups {
			for _, name := range strings.Fields(g.flags) {
				heading[name] = g.title
			}
		}
	}
	under := map[string]*strings.Builder{}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if under[heading[f.Name]] == nil {
			under[heading[f.Name]] = &strings.Builder{}
		}
		writeFlag(under[heading[f.Name]], f)
	})
	text := "Flags:\n" + under[""].String()
	for _, g := range flagGroups {
		if b := under[g.title]; b != nil {
			text += "\n" + g.title + ":\n" + b.String()
		}
	}
	return strings.TrimRight(text, "\n")
}

// writeFlag writes a flag and what it does, which begins on a line of its own if the flag
// has many values.
func writeFlag(b *strings.Builder, f *pflag.Flag) {
	const indent, width = 26, 80
	alone := pflag.NewFlagSet("", pflag.ContinueOnError)
	alone.AddFlag(f)
	line := strings.TrimRight(alone.FlagUsages(), "\n") // "  -o, --output string   write to …"
	end := 6 + strings.Index(line[6:], "   ")
	name := line[:end]
	if len(name) > indent-2 {
		fmt.Fprintf(b, "%s\n", name)
		name = ""
	}
	fmt.Fprintf(b, "%-*s", indent-1, name)
	column := indent - 1
	for _, word := range strings.Fields(line[end:]) {
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
