package pipeline

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mars.dev/mars/arrowio/safetext"
)

// WriteShell prints a shell script that does what the pipeline does, without a
// cache. What several stages read goes through a temporary file.
func (g *Graph) WriteShell(w io.Writer) error {
	s := &script{printer: printer{w: w}, files: map[*Node]string{}}
	s.line("#!/usr/bin/env bash\nset -euo pipefail")
	if g.needsFolder() {
		s.line("work=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT")
	}
	for _, dir := range g.outputFolders() {
		s.line("mkdir -p -- %s", quote(dir))
	}
	for _, chain := range g.chains() {
		s.chain(chain)
	}
	return s.err
}

// outputFolders are the folders that outputs go to, other than the present one.
func (g *Graph) outputFolders() []string {
	var dirs []string
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			if dir := filepath.Dir(o.Path); dir != "." && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// script prints chains of nodes.
type script struct {
	printer
	files map[*Node]string // what other chains read of a node
}

// chains are the stretches of nodes that a pipe joins, in order.
func (g *Graph) chains() [][]*Node {
	var all [][]*Node
	at := map[*Node]int{}
	for _, n := range g.Nodes {
		if n.Parent == nil || n.Parent.isFile() {
			at[n] = len(all)
			all = append(all, nil)
		} else {
			at[n] = at[n.Parent]
		}
		all[at[n]] = append(all[at[n]], n)
	}
	return all
}

// isFile reports whether the node's rows go to a file, from which others read them.
func (n *Node) isFile() bool {
	return len(n.Children) != 1 || len(n.Children[0].Files) > 0 || n.rowsPath() != ""
}

// rowsPath is the first file that the node's rows or text go to, "" if there is none.
func (n *Node) rowsPath() string {
	for _, o := range n.Outputs {
		if o.of(n) == "" {
			return o.Path
		}
	}
	return ""
}

func (g *Graph) needsFolder() bool {
	for _, n := range g.Nodes {
		if len(n.Children) > 0 && n.isFile() && n.rowsPath() == "" {
			return true
		}
	}
	return false
}

func (s *script) chain(nodes []*Node) {
	var commands []string
	for i, n := range nodes {
		command := "mars " + n.Stage.Name
		for _, name := range n.Order {
			if flag := n.Stage.Flags[name]; flag.Role != RowsFile && !(flag.Role == Encoding && !n.isFile()) {
				command += " " + flag.shell(n.Flags[name])
			}
		}
		switch {
		case n.From != "":
			command += " " + quote(asArgument(n.From))
		case i == 0 && n.Parent != nil:
			command += " " + s.files[n.Parent]
		}
		commands = append(commands, command+s.output(n))
	}
	s.line("\n# %s\n%s", safetext.Escape(nodes[len(nodes)-1].Label()), strings.Join(commands, " |\n  "))
}

// output is the end of a command: where its rows or text go.
func (s *script) output(n *Node) string {
	path := quote(asArgument(n.rowsPath()))
	if n.rowsPath() == "" {
		if !n.Stage.Rows || !n.isFile() {
			return ""
		}
		if len(n.Children) == 0 {
			return " >/dev/null"
		}
		path = fmt.Sprintf(`"$work/%d.arrow"`, len(s.files))
	}
	s.files[n] = path
	if n.Stage.Rows {
		return " -o " + path
	}
	return " >" + path
}

// shell writes a flag as one or two words of a shell.
func (f Flag) shell(text string) string {
	if f.Bool {
		if text == "true" {
			return "--" + f.Name
		}
		return "--" + f.Name + "=" + text
	}
	return "--" + f.Name + " " + quote(text)
}

// asArgument writes a path so that a command does not take it for a flag, or for standard
// input.
func asArgument(path string) string {
	if strings.HasPrefix(path, "-") {
		return "./" + path
	}
	return path
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./,:=+@%-]+$`)

// quote makes one word of text for a shell.
func quote(text string) string {
	switch {
	case plainWord.MatchString(text):
		return text
	case safetext.Escape(text) != text:
		return quoteControl(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// quoteControl makes one word of text with characters that a terminal would obey.
func quoteControl(text string) string {
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '\'' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}
