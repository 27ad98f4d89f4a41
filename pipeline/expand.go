package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mars.dev/mars/arrowio/safetext"
)

// A Graph is a file expanded by its matrix.
type Graph struct {
	File  *File
	Nodes []*Node // parents before children
	Runs  []*Run  // in the order of the matrix, the first axis slowest
}

// A Run is one combination of the matrix's values.
type Run struct {
	Values map[string]string // by axis
	Nodes  []*Node           // one for each stage of the file; nil for those that the run does not have
}

// A Node is a stage with its options bound, shared by all runs in which it is
// the same.
type Node struct {
	Stage    *Stage
	Name     string   // of the stage in the file
	Values   []string // of the matrix, on which it depends: "seed=1"
	Flags    map[string]string
	Order    []string          // of Flags, as in the file
	Options  map[string]string // flags that change the result, as the command understands them
	Parent   *Node             // whose rows it reads; nil if it reads none, or those of From
	From     string            // file whose rows it reads, "" if none
	Files    []FileInput
	Outputs  []Output
	Children []*Node // that read its rows

	Dependencies Dependencies
	Key          string

	shown     bool // its rows go to the runner's Rows
	resumable bool // it can keep a checkpoint
	stamps    []Stamp
	place     place           // in the file
	variables map[string]bool // axes that it, or a node before it, uses
	file      *File
}

// A FileInput is a file that a node reads, its rows apart.
type FileInput struct {
	Flag, Path string
	Maker      *Node  // that writes it; nil if none does
	MakerFlag  string // by which it does
}

// An Output is a file that a node is to make.
type Output struct{ Flag, Path string }

// Label is what messages call the node.
func (n *Node) Label() string {
	return safetext.Escape(strings.Join(append([]string{n.Name}, n.Values...), " "))
}

func (n *Node) fail(key string, err error) error {
	err = n.file.fail(n.place, key, err)
	if len(n.Values) > 0 {
		err = fmt.Errorf("%w (%s)", err, n.Label())
	}
	return err
}

// Expand makes the runs of a file. Every node's flags are checked by their
// command, so a wrong value is found before anything runs. It returns ctx.Err()
// if ctx ends, because a matrix can have very many runs.
func (f *File) Expand(ctx context.Context) (*Graph, error) {
	g := &Graph{File: f}
	known := map[signature]*Node{}
	points, err := f.points(ctx)
	if err != nil {
		return nil, err
	}
	if len(points) == 0 {
		return nil, f.failAxis("", errors.New("leaves no combination: what its values say under only excludes them all"))
	}
	for _, p := range points {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run := &Run{Values: p.names, Nodes: make([]*Node, len(f.Stages))}
		for i, s := range f.Stages {
			if !s.When.holds(p.names) {
				continue
			}
			n, err := f.bind(i, run, p)
			if err != nil {
				return nil, err
			}
			run.Nodes[i] = g.share(n, known)
		}
		g.Runs = append(g.Runs, run)
	}
	if err := g.checkUse(); err != nil {
		return nil, err
	}
	if err := g.link(ctx); err != nil {
		return nil, err
	}
	return g, g.sort()
}

// share adds a node to the graph, unless it is known: then it is the known one.
func (g *Graph) share(n *Node, known map[signature]*Node) *Node {
	like := n.signature()
	if same := known[like]; same != nil {
		same.want(n.Outputs)
		return same
	}
	known[like] = n
	g.Nodes = append(g.Nodes, n)
	return n
}

// checkUse refuses an axis of several values that no stage uses, as all its runs would
// be the same, and one that --set adds, as its name is misspelt.
func (g *Graph) checkUse() error {
	for _, axis := range g.File.Axes {
		used := slices.ContainsFunc(g.Nodes, func(n *Node) bool { return n.variables[axis.Name] }) ||
			slices.ContainsFunc(g.File.Stages, func(s FileStage) bool { return s.When[axis.Name] != nil })
		switch {
		case !used && axis.added:
			_, err := findAxis(axis.Name, slices.DeleteFunc(slices.Clone(g.File.Axes), func(a Axis) bool { return a.added }))
			return fmt.Errorf("--set matrix.%s: no stage uses {%[1]s}, and %w", axis.Name, err)
		case !used && len(axis.Values) > 1:
			return g.File.failAxis(axis.Name, fmt.Errorf("no stage uses it: write {%s} where its values belong", axis.Name))
		}
	}
	return nil
}

// bind makes the node of stage i in a run.
func (f *File) bind(i int, run *Run, p point) (*Node, error) {
	s := &f.Stages[i]
	n := &Node{Stage: s.Stage, Name: s.Name, Flags: map[string]string{}, place: s.place, file: f, variables: map[string]bool{}}
	if err := f.join(n, i, run); err != nil {
		return nil, err
	}
	var err error
	if n.From, _, err = f.substitutePath(n, s.From, p); err != nil {
		return nil, n.fail("from", err)
	}
	for _, name := range s.Order {
		substitute := f.substitute
		if s.Stage.Flags[name].Role.namesFile() {
			substitute = f.substitutePath
		}
		text, ok, err := substitute(n, s.Flags[name].Text, p)
		if err != nil {
			return nil, n.fail(name, err)
		}
		if ok {
			n.Flags[name] = text
			n.Order = append(n.Order, name)
		}
	}
	for _, axis := range f.Axes {
		if n.variables[axis.Name] {
			n.Values = append(n.Values, axis.Name+"="+p.names[axis.Name])
		}
	}
	if err := n.check(); err != nil {
		return nil, err
	}
	return n, n.checkWants()
}

// checkWants refuses a stage whose rows lack what it reads, because the stage that they
// come from was not asked to write it.
func (n *Node) checkWants() error {
	first := n
	for first.Parent != nil {
		first = first.Parent
	}
	if n.Stage.Unless != "" && n.Flags[n.Stage.Unless] == "true" {
		return nil
	}
	wants := n.Stage.Wants
	if f := first.Stage.Flags[wants]; first == n || !f.Bool || first.Flags[wants] == "true" {
		return nil
	}
	return n.fail("run", fmt.Errorf("%s needs what %s writes with %s = true: set that in line %d, or leave %[1]s out",
		n.Stage.Name, first.Stage.Name, wants, n.file.lines.of(first.place, "")))
}

// join finds the node whose rows n, of stage i, reads.
func (f *File) join(n *Node, i int, run *Run) error {
	if !f.Stages[i].reads() || f.Stages[i].From != "" {
		return nil
	}
	parent := f.parent(i, run)
	if parent < 0 {
		n.Values = f.valuesBefore(i, run)
		return n.fail("run", fmt.Errorf("%s reads rows, and there is no stage before it: name a file with from, or begin with featurize", n.Stage.Name))
	}
	n.Parent = run.Nodes[parent]
	if !n.Parent.Stage.Rows {
		return n.fail("run", fmt.Errorf("%s puts out no rows for %s to read: say which stage it follows with after", n.Parent.Name, n.Stage.Name))
	}
	maps.Copy(n.variables, n.Parent.variables)
	for _, s := range f.Stages[parent:i] { // which of them the run has decides what n reads
		for axis := range s.When {
			n.variables[axis] = true
		}
	}
	return nil
}

// valuesBefore are the values that decide which stages a run has before stage i.
func (f *File) valuesBefore(i int, run *Run) []string {
	var values []string
	for _, axis := range f.Axes {
		if slices.ContainsFunc(f.Stages[:i], func(s FileStage) bool { return s.When[axis.Name] != nil }) {
			values = append(values, axis.Name+"="+run.Values[axis.Name])
		}
	}
	return values
}

// parent is the index of the stage whose rows stage i reads in a run, -1 if there is
// none: the one that it names, or the one above. A stage that the run does not have
// leaves its place to the one that it would have read.
func (f *File) parent(i int, run *Run) int {
	s := &f.Stages[i]
	if s.After == "" {
		for i--; i >= 0 && run.Nodes[i] == nil; i-- {
		}
		return i
	}
	named := -1
	for j := i - 1; j >= 0; j-- {
		if f.Stages[j].Name != s.After {
			continue
		}
		if run.Nodes[j] != nil {
			return j
		}
		named = max(named, j)
	}
	return f.parent(named, run)
}

var variable = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// substitute puts the point's values in the place of {name}. It reports false if
// the point has no value of that name, but others have one: the flag is then left
// out.
func (f *File) substitute(n *Node, text string, p point) (result string, ok bool, err error) {
	ok = true
	result = variable.ReplaceAllStringFunc(text, func(match string) string {
		name := match[1 : len(match)-1]
		value, there := p.variables[name]
		if there {
			n.variables[p.axis[name]] = true
		} else if axis := f.axisOf(name); axis != "" {
			n.variables[axis], ok = true, false
		} else {
			err = fmt.Errorf("the matrix has no value {%s}: %s", name, f.variablesHint(name))
		}
		return value
	})
	return result, ok, err
}

// substitutePath substitutes in a path, and then puts the values of environment
// variables into it.
func (f *File) substitutePath(n *Node, text string, p point) (result string, ok bool, err error) {
	if result, ok, err = f.substitute(n, text, p); ok && err == nil {
		result, err = f.path(result)
	}
	return result, ok, err
}

// check has the command check the node's flags, and sorts them by their roles.
func (n *Node) check() error {
	if strings.Contains(n.From, "\x00") {
		return n.fail("from", errNUL)
	}
	for _, name := range n.Order { // one at a time, to know the key of a mistake
		if err := n.Stage.Flags[name].check(n.Flags[name]); err != nil {
			return n.fail(name, err)
		}
	}
	set, err := n.Stage.Check(n.arguments(n.Order))
	if err != nil {
		key := n.keyIn(err)
		if text, ok := strings.CutPrefix(err.Error(), "--"+key+": "); ok { // the place says it
			err = errors.New(text)
		}
		return n.fail(key, err)
	}
	n.Options = map[string]string{}
	for name, value := range set {
		switch n.Stage.Flags[name].Role {
		case Effect, Seed, Threads:
			n.Options[name] = value
		case InputFile, LoadFile:
			n.Options[name] = value
			n.Files = append(n.Files, FileInput{Flag: name, Path: value})
		case RowsFile:
			n.Outputs = append(n.Outputs, Output{name, filepath.Clean(value)})
		case StateFile, MetricsFile:
			n.Options[name] = filepath.Base(value)
			n.Outputs = append(n.Outputs, Output{name, filepath.Clean(value)})
		}
	}
	slices.SortFunc(n.Files, func(a, b FileInput) int { return strings.Compare(a.Flag, b.Flag) })
	slices.SortFunc(n.Outputs, func(a, b Output) int { return strings.Compare(a.Flag, b.Flag) })
	n.resumable = n.keepsCheckpoint()
	return nil
}

// keepsCheckpoint reports whether the command takes a checkpoint with the node's
// flags: not all that it does takes one. A training that writes the figures of
// every epoch keeps none, since they would lack those before it went on.
func (n *Node) keepsCheckpoint() bool {
	flag := n.Stage.flag(Checkpoint)
	if flag == "" || n.sets(MetricsFile) {
		return false
	}
	_, err := n.Stage.Check(append(n.arguments(n.Order), "--"+flag+"=checkpoint"))
	return err == nil
}

// keyIn is the flag that a message of the command names, "" if none.
func (n *Node) keyIn(err error) string {
	for _, name := range n.Order {
		if strings.Contains(err.Error(), "--"+name) {
			return name
		}
	}
	return ""
}

// errNUL refuses what cannot be an argument of a program.
var errNUL = errors.New("has a NUL character in it: leave it out")

// check refuses a value that the flag cannot have in a pipeline file.
func (f Flag) check(text string) error {
	if strings.Contains(text, "\x00") {
		return errNUL
	}
	if f.Role.namesFile() && (text == "" || text == "-") {
		return errors.New("names no file: write its path")
	}
	return nil
}

// sets reports whether a flag in the role is given.
func (n *Node) sets(role Role) bool {
	return slices.ContainsFunc(n.Order, func(name string) bool { return n.Stage.Flags[name].Role == role })
}

// arguments are the command line of some of the node's flags.
func (n *Node) arguments(names []string) []string {
	var args []string
	for _, name := range names {
		args = append(args, "--"+name+"="+n.Flags[name])
	}
	return args
}

// A signature is equal for nodes that are the same. Parents are the same if they
// are one node: they are shared already.
type signature struct {
	parent *Node
	text   string
}

func (n *Node) signature() signature {
	text, err := json.Marshal([]any{n.Stage.Name, n.Name, n.Options, n.From})
	if err != nil {
		panic("pipeline: " + err.Error())
	}
	return signature{n.Parent, string(text)}
}

// want adds the outputs that another run asks of the same node.
func (n *Node) want(outputs []Output) {
	for _, o := range outputs {
		if !slices.Contains(n.Outputs, o) {
			n.Outputs = append(n.Outputs, o)
		}
	}
}

// link finds the nodes that write the files that others read, and the children of
// every node.
func (g *Graph) link(ctx context.Context) error {
	makers := map[string]FileInput{}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			if other := makers[o.Path].Maker; other != nil {
				return n.fail(o.Flag, fmt.Errorf("%s is written by %s as well: put a value of the matrix into its name, as in {%s}", o.Path, other.Label(), g.differing(n, other)))
			}
			makers[o.Path] = FileInput{Maker: n, MakerFlag: o.Flag}
		}
	}
	for _, n := range g.Nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := n.checkOverwrites(); err != nil {
			return err
		}
		for i, in := range n.Files {
			if m := makers[filepath.Clean(in.Path)]; m.Maker != nil && m.Maker != n {
				n.Files[i].Maker, n.Files[i].MakerFlag = m.Maker, m.MakerFlag
			}
		}
		if m := makers[filepath.Clean(n.From)]; n.From != "" && m.Maker != nil && m.Maker != n && m.Maker.Stage.flag(RowsFile) == m.MakerFlag {
			n.Parent, n.From = m.Maker, ""
		}
		if n.Parent != nil {
			n.Parent.Children = append(n.Parent.Children, n)
		}
	}
	return nil
}

// checkOverwrites refuses an output that is one of the node's inputs.
func (n *Node) checkOverwrites() error {
	inputs := append(paths(n.Files), n.From)
	for _, o := range n.Outputs {
		if slices.ContainsFunc(inputs, func(path string) bool { return path != "" && filepath.Clean(path) == o.Path }) {
			return n.fail(o.Flag, fmt.Errorf("%s is input and output at once: write to another file", o.Path))
		}
	}
	return nil
}

// differing is an axis in which two nodes differ.
func (g *Graph) differing(a, b *Node) string {
	for _, axis := range g.File.Axes {
		for _, v := range a.Values {
			if strings.HasPrefix(v, axis.Name+"=") && !slices.Contains(b.Values, v) {
				return axis.Name
			}
		}
	}
	return "seed"
}

// sort puts every node after all nodes that it reads from.
func (g *Graph) sort() error {
	const visiting, done = 1, 2
	state := map[*Node]int{}
	var sorted []*Node
	var visit func(n *Node) error
	visit = func(n *Node) error {
		switch state[n] {
		case visiting:
			return n.fail("", errors.New("reads, directly or not, what it writes itself: give one of the files another name"))
		case done:
			return nil
		}
		state[n] = visiting
		for _, before := range n.before() {
			if err := visit(before); err != nil {
				return err
			}
		}
		state[n] = done
		sorted = append(sorted, n)
		return nil
	}
	for _, n := range g.Nodes {
		if err := visit(n); err != nil {
			return err
		}
	}
	g.Nodes = sorted
	return nil
}

// before are the nodes that n reads from.
func (n *Node) before() []*Node {
	var nodes []*Node
	if n.Parent != nil {
		nodes = append(nodes, n.Parent)
	}
	for _, in := range n.Files {
		if in.Maker != nil {
			nodes = append(nodes, in.Maker)
		}
	}
	return nodes
}
