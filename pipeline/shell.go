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
		s.line("mkdir -p -- %s", Quote(dir))
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
	return len(n.Children) != 1 || len(n.Children[0].Files) > 0 || slices.ContainsFunc(n.Outputs, func(o Output) bool { return o.of(n) == "" })
}

// rowsPath is the first file that the node's rows or text go to, and that nodes after it
// can read. It is "" if there is none.
func (n *Node) rowsPath() string {
	for _, o := range n.Outputs {
		if o.of(n) == "" && (len(n.Children) == 0 || n.Stage.Write == nil || n.Stage.Write(o.Path) == nil) {
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

// chain prints the commands of a chain. A second file of the same is a copy of the first;
// rows in another layout are made by the same commands again.
func (s *script) chain(nodes []*Node) {
	last := nodes[len(nodes)-1]
	rows := last.rowsPath()
	s.line("\n# %s\n%s", safetext.Escape(last.Label()), s.commands(nodes, s.output(last, rows)))
	for _, n := range nodes {
		made := map[string]string{"": rows} // by flag
		for _, o := range n.Outputs {
			first, ok := made[o.of(n)]
			switch {
			case o.Path == first:
			case o.of(n) == "" && layout(o.Path) != layout(first):
				s.line("%s", s.commands(nodes, s.output(last, o.Path)))
			case ok:
				s.line("cp -- %s %s", Quote(first), Quote(o.Path))
			default:
				made[o.Flag] = o.Path
			}
		}
	}
	if len(last.Children) > 0 {
		s.files[last] = s.target(rows)
	}
}

// layout is the part of a file's name that says how its rows are written.
func layout(path string) string {
	ext := filepath.Ext(path)
	if ext == ".gz" || ext == ".zst" {
		return filepath.Ext(strings.TrimSuffix(path, ext)) + ext
	}
	return ext
}

// commands are the commands of a chain, the last of which ends with output.
func (s *script) commands(nodes []*Node, output string) string {
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
			command += " " + Quote(asArgument(n.From))
		case i == 0 && n.Parent != nil:
			command += " " + s.files[n.Parent]
		}
		commands = append(commands, command)
	}
	return strings.Join(commands, " |\n  ") + output
}

// output is the end of a chain's last command, n: where its rows or text go, "" of path
// being no file of the user's.
func (s *script) output(n *Node, path string) string {
	switch {
	case path == "" && !n.Stage.Rows:
		return ""
	case path == "" && len(n.Children) == 0:
		return " >/dev/null"
	case n.Stage.Rows:
		return " -o " + s.target(path)
	}
	return " >" + s.target(path)
}

// target is the word for the file path, or for a temporary one if that is "".
func (s *script) target(path string) string {
	if path == "" {
		return fmt.Sprintf(`"$work/%d.arrow"`, len(s.files))
	}
	return Quote(asArgument(path))
}

// shell writes a flag as one or two words of a shell.
func (f Flag) shell(text string) string {
	if f.Bool {
		if text == "true" {
			return "--" + f.Name
		}
		return "--" + f.Name + "=" + text
	}
	return "--" + f.Name + " " + Quote(text)
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

// Quote makes one word of text for a shell.
func Quote(text string) string {
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
