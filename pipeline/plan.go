package pipeline

import "context"

// An action is what a run does about a node.
type action int

const (
	toSkip  action = iota // nobody needs it
	toReuse               // the cache has it
	toMake                // its stage runs
)

// A plan says what a run does about every node.
type plan struct {
	graph   *Graph
	actions map[*Node]action
	entries map[*Node]*Entry // of those that are reused
	late    map[*Node]bool   // those of which some output is not there, or not the same
}

// newPlan goes back from what is asked for to what is there. Entries that will be
// read are verified, which takes time if they are large: it returns ctx.Err() if ctx ends.
func newPlan(ctx context.Context, g *Graph, s *store) (*plan, error) {
	p := &plan{graph: g, actions: map[*Node]action{}, entries: map[*Node]*Entry{}, late: map[*Node]bool{}}
	for i := len(g.Nodes) - 1; i >= 0; i-- { // children before parents
		n := g.Nodes[i]
		if !p.needed(n) {
			continue
		}
		p.actions[n] = toMake
		if e := s.lookup(n.Key); e != nil {
			if e = s.verified(ctx, e, p.read(ctx, n, e)...); e != nil {
				p.actions[n], p.entries[n] = toReuse, e
				e.Touch()
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// needed reports whether a node's output is wanted, by the user or by a stage
// that runs.
func (p *plan) needed(n *Node) bool {
	return len(n.Outputs) > 0 || len(n.Children) == 0 || p.readers(n) > 0
}

// read are the files of a node's entry that this run will read.
func (p *plan) read(ctx context.Context, n *Node, e *Entry) []EntryFile {
	files := []EntryFile{}
	for _, f := range e.Files {
		late := stale(ctx, n, f)
		p.late[n] = p.late[n] || late
		if late || f.Flag == "" && (p.readers(n) > 0 || n.shown || !n.Stage.Rows) {
			files = append(files, f)
		}
	}
	return files
}

// readers counts the stages that run and read the node's rows.
func (p *plan) readers(n *Node) int {
	count := 0
	for _, c := range n.Children {
		if p.actions[c] == toMake {
			count++
		}
	}
	return count
}

// stale reports whether an output that is made from the entry's file is not there, or
// not the same.
func stale(ctx context.Context, n *Node, f EntryFile) bool {
	for _, o := range n.Outputs {
		if o.of(n) == f.Flag && !upToDate(ctx, n, o, f) {
			return true
		}
	}
	return false
}

// lists are the nodes that are reused, and those that run, in order.
func (p *plan) lists() (reuse, run []*Node) {
	for _, n := range p.graph.Nodes {
		switch p.actions[n] {
		case toReuse:
			reuse = append(reuse, n)
		case toMake:
			run = append(run, n)
		}
	}
	return reuse, run
}
