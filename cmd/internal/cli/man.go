package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// manPages are the pages of the manual by the names of their files, mars-label.1: one for
// each command, of what its help says.
func manPages() map[string][]byte {
	root := Mars()
	root.Version = Version()
	pages := map[string][]byte{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		pages[pageName(cmd)+".1"] = manPage(cmd)
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				add(sub)
			}
		}
	}
	add(root)
	return pages
}

// pageName is the name of a command's page: mars-featurize-toy.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manPage(cmd *cobra.Command) []byte {
	p := &page{}
	cmd.InitDefaultHelpFlag() // so that the synopsis says [flags]
	name := pageName(cmd)
	p.line(`.TH "%s" 1 "%s" "mars %s" "MARS"`, roff(strings.ToUpper(name)), day(Date()), roff(Version()))
	p.line(".nh\n.ad l") // no hyphens or spaces that are not in the text
	p.section("NAME")
	p.filled(name + " - " + cmd.Short)
	p.section("SYNOPSIS")
	p.synopsis(cmd)
	p.section("DESCRIPTION")
	p.paragraphs(cmp.Or(strings.TrimSpace(strings.TrimSuffix(cmd.Long, exitCodesHelp())), cmd.Short+"."))
	p.commands(cmd)
	p.options(cmd)
	if cmd.HasExample() {
		p.section("EXAMPLES")
		p.asIs(strings.Split(cmd.Example, "\n"))
	}
	p.section("EXIT STATUS")
	for _, s := range exitStatuses {
		p.item(bold(fmt.Sprint(s.code)), s.meaning)
	}
	p.surroundings(cmd)
	p.section("SEE ALSO")
	p.line("%s", strings.Join(related(cmd), ",\n"))
	return []byte(p.String())
}

// A page is text in roff's macros man(7).
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) section(title string) { p.line(".SH %s", title) }

// item is a paragraph of text that hangs under what it explains.
func (p *page) item(term, text string) {
	p.line(".TP\n%s", term)
	p.filled(text)
}

// filled writes text whose lines are broken anew.
func (p *page) filled(text string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if word = roff(word); line != "" && len(line)+len(word) > 78 {
			p.line("%s", line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	p.line("%s", line)
}

func (p *page) synopsis(cmd *cobra.Command) {
	var ways []string
	if cmd.Runnable() {
		ways = append(ways, cmd.UseLine())
		if program := "mars-" + cmd.Name(); slices.Contains(Programs(), program) && cmd.Parent() == cmd.Root() {
			ways = append(ways, strings.Replace(cmd.UseLine(), cmd.CommandPath(), program, 1))
		}
	}
	if cmd.HasAvailableSubCommands() {
		ways = append(ways, cmd.CommandPath()+" [command]")
	}
	for i, way := range ways {
		if i > 0 {
			p.line(".br")
		}
		words := strings.Fields(way)
		for k, word := range words {
			if words[k] = roff(word); k < strings.Count(cmd.CommandPath(), " ")+1 && !strings.HasPrefix(word, "[") || strings.HasPrefix(word, "-") {
				words[k] = bold(word)
			}
		}
		p.line("%s", strings.Join(words, " "))
	}
}

// paragraphs writes text in which empty lines divide paragraphs. Those with an indented
// line stay in their lines.
func (p *page) paragraphs(text string) {
	for i, part := range strings.Split(text, "\n\n") {
		lines := strings.Split(part, "\n")
		if i > 0 {
			p.line(".PP")
		}
		if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, " ") }) {
			p.asIs(lines)
		} else {
			p.filled(part)
		}
	}
}

// asIs writes lines that stay as they are.
func (p *page) asIs(lines []string) {
	p.line(".nf")
	for _, l := range lines {
		p.line("%s", roff(l))
	}
	p.line(".fi")
}

// commands lists the commands under cmd by their headings.
func (p *page) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.section("COMMANDS")
	for _, g := range append(cmd.Groups(), &cobra.Group{Title: "Other"}) {
		members := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(sub *cobra.Command) bool {
			return sub.GroupID != g.ID || !sub.IsAvailableCommand()
		})
		if len(cmd.Groups()) > 0 && len(members) > 0 {
			p.line(".SS \"%s\"", roff(strings.TrimSuffix(g.Title, ":")))
		}
		for _, sub := range members {
			p.item(reference(pageName(sub)), sub.Short)
		}
	}
}

func (p *page) options(cmd *cobra.Command) {
	p.section("OPTIONS")
	for _, g := range flagsOf(cmd) {
		if g.title != "" {
			p.line(".SS \"%s\"", roff(g.title))
		}
		for _, f := range g.flags {
			name, does := flagUsage(f)
			words := strings.Fields(name)
			for i, word := range words {
				if flag, ok := strings.CutSuffix(word, ","); ok && strings.HasPrefix(word, "-") {
					words[i] = bold(flag) + ","
				} else if strings.HasPrefix(word, "-") {
					words[i] = bold(word)
				} else {
					words[i] = `\fI` + strings.ReplaceAll(roff(word), "|", `|\:`) + `\fR` // lines may break there
				}
			}
			p.item(strings.Join(words, " "), does)
		}
	}
}

// surroundings are the variables and files that matter to cmd.
func (p *page) surroundings(cmd *cobra.Command) {
	has := func(name string) bool {
		return cmd.LocalFlags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil
	}
	p.section("ENVIRONMENT")
	for _, v := range environment {
		if v.flag == "" || has(v.flag) {
			p.item(bold(v.name), v.meaning)
		}
	}
	if has("cache") || has(cachedFlag) {
		p.section("FILES")
		p.item(`\fI~/.cache/mars\fR`, "the cache, where neither MARS_CACHE nor a flag names another folder; the system's folder for caches elsewhere than on Linux")
	}
}

// environment are the variables that commands look at: all, or those that have a flag.
var environment = []struct{ name, meaning, flag string }{
	{"MARS_KERNEL", "run these numerical loops, such as avx2, neon or generic, instead of the fastest that the processor has", ""},
	{"MARS_CACHE", "folder of the cache", cachedFlag},
	{"MARS_CACHE", "folder of the cache", "cache"},
	{"MARS_JOBS", "a flag of mars run, here --jobs, where the command line does not give it", "set"},
	{"MARS_TRAIN_LAMBDA", "a flag of a stage, here --lambda of mars train, where the command line does not give it", "set"},
	{"TMPDIR", "folder for temporary files, such as a piped input that is larger than --memory", "memory"},
	{"TERM", "dumb: no progress is drawn", "quiet"},
}

// related are the pages of the command above, of those below and of those beside a command.
func related(cmd *cobra.Command) []string {
	var pages []string
	add := func(cmd *cobra.Command) { pages = append(pages, reference(pageName(cmd))) }
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			add(sub)
		}
	}
	if above := cmd.Parent(); above != nil {
		add(above)
		for _, sub := range above.Commands() {
			if sub != cmd && sub.GroupID == cmd.GroupID && sub.IsAvailableCommand() {
				add(sub)
			}
		}
	}
	return pages
}

func reference(page string) string { return bold(page) + "(1)" }

func bold(text string) string { return `\fB` + roff(text) + `\fR` }

// escapes are the characters that roff takes for something else, or shows as another:
// a hyphen is to be copied as such.
var escapes = strings.NewReplacer(`\`, `\(rs`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

// roff is text as roff writes it. A dot that begins a line is no command.
func roff(text string) string {
	var b strings.Builder
	if strings.HasPrefix(text, ".") {
		b.WriteString(`\&`)
	}
	for _, r := range escapes.Replace(text) {
		if r < 128 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
