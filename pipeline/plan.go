package pipeline

// An Action is what a run does about a node.
type Action int

// The actions.
const (
	Skip  Action = iota // nothing: nobody needs it
	Reuse               // the cache has it
	Make                // run the stage
)

// A Plan says what a run does about every node.
type Plan struct {
	graph   *Graph
	actions map[*Node]Action
	entries map[*Node]*Entry
	late    map[*Node]bool // some output is not there as it should be
}

// Action of a node.
func (p *Plan) Action(n *Node) Action { return p.actions[n] }

// newPlan goes from what is asked for back to what is there. Entries that will
// be read are verified.
func newPlan(g *Graph, s *store) *Plan {
	p := &Plan{graph: g, actions: map[*Node]Action{}, entries: map[*Node]*Entry{}, late: map[*Node]bool{}}
	for i := len(g.Nodes) - 1; i >= 0; i-- { // children before parents
		n := g.Nodes[i]
		if !p.needed(n) {
			continue
		}
		p.actions[n] = Make
		if e := s.lookup(n.Key); e != nil {
			if e = s.verified(e, p.read(n, e)...); e != nil {
				p.actions[n], p.entries[n] = Reuse, e
				e.Touch()
			}
		}
	}
	return p
}

// needed reports whether a node's output is wanted, by the user or by a stage
// that runs.
func (p *Plan) needed(n *Node) bool {
	return len(n.Outputs) > 0 || len(n.Children) == 0 || p.readers(n) > 0
}

// read are the files of a node's entry that this run will read.
func (p *Plan) read(n *Node, e *Entry) []EntryFile {
	files := []EntryFile{}
	for _, f := range e.Files {
		late := stale(n, f)
		p.late[n] = p.late[n] || late
		if late || f.Flag == "" && (p.readers(n) > 0 || n.shown || !n.Stage.Rows) {
			files = append(files, f)
		}
	}
	return files
}

// readers counts the stages that run and read the node's rows.
func (p *Plan) readers(n *Node) int {
	count := 0
	for _, c := range n.Children {
		if p.actions[c] == Make {
			count++
		}
	}
	return count
}

// stale reports whether an output that the file becomes is not there as it should be.
func stale(n *Node, f EntryFile) bool {
	for _, o := range n.Outputs {
		if o.of(n) == f.Flag && !upToDate(n, o, f) {
			return true
		}
	}
	return false
}

// lists are the nodes that are reused, and those that run, in order.
func (p *Plan) lists() (reuse, run []*Node) {
	for _, n := range p.graph.Nodes {
		switch p.actions[n] {
		case Reuse:
			reuse = append(reuse, n)
		case Make:
			run = append(run, n)
		}
	}
	return reuse, run
}
