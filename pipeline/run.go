package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"mars/arrowio"
)

// A Runner runs a graph.
type Runner struct {
	Graph     *Graph
	Cache     *Cache // nil: none
	Jobs      int    // chains at once
	Memory    int64  // bytes that chains at once may take together; 0: no limit
	InProcess bool
	Verbose   bool   // pass on all that stages say, not only warnings
	KeepGoing bool   // after a failure, run what does not depend on it
	Program   string // the program whose subcommands the stages are
	Version   string // of it
	View      View
	Text      io.Writer    // where the text of stages goes that the file sends nowhere
	Rows      arrowio.Sink // where the rows of a Single graph go that names no file
	Table     string       // CSV file for what the runs' results are; "" for none

	store *store
	held  []*Lock
	mu    sync.Mutex
}

// A View is told what goes on. Its methods are called from any goroutine.
type View interface {
	Plan(reuse, run []*Node)
	Start(n *Node)
	Progress(n *Node, what string, done, total int64)
	Log(n *Node, line string)
	Done(n *Node, rows int64, took time.Duration, err error)
	Warn(text string)
}

// Run runs what is not there yet and delivers all outputs. On an error all
// other stages have ended, and what was complete before stays.
func (r *Runner) Run(ctx context.Context) error {
	if err := r.checkThreads(); err != nil {
		return err
	}
	r.store = newStore(r.Cache, r.View.Warn)
	defer r.close()
	for {
		plan := newPlan(r.Graph, r.store)
		r.View.Plan(plan.lists())
		again, err := r.execute(ctx, plan)
		if again {
			continue
		}
		return errors.Join(err, r.showResults(ctx, err))
	}
}

// checkThreads refuses what one process cannot do: its stages share their threads.
func (r *Runner) checkThreads() error {
	for _, n := range r.Graph.Nodes {
		first := r.Graph.Nodes[0]
		if r.InProcess && n.Stage.flag(Threads) != "" && n.Dependencies.Threads != first.Dependencies.Threads {
			return n.fail(n.Stage.flag(Threads), fmt.Errorf("stages in one process share their threads, and %s has %d: give all the same, or leave --in-process out", first.Label(), first.Dependencies.Threads))
		}
	}
	return nil
}

func (r *Runner) close() {
	for _, l := range r.held {
		l.Release()
	}
	r.store.close()
}

// hold keeps an entry from being pruned until the run ends.
func (r *Runner) hold(key string) {
	if r.Cache == nil || r.Cache.ReadOnly != nil {
		return
	}
	l := r.Cache.Hold(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, l)
}

// forget removes the checkpoint of a training that is complete: a run that was
// killed at its very end may have left it.
func (r *Runner) forget(n *Node) {
	if cache := r.store.writable(); cache != nil && n.Stage.flag(Checkpoint) != "" {
		cache.dropCheckpoint(n.Key)
	}
}

// execute carries a plan out. It asks to plan again where the cache broke down
// in between and what it should have kept has to go elsewhere.
func (r *Runner) execute(ctx context.Context, plan *Plan) (again bool, err error) {
	for _, n := range r.Graph.Nodes {
		e := plan.entries[n]
		if e == nil {
			continue
		}
		r.hold(n.Key)
		r.forget(n)
		if plan.late[n] {
			if err := deliver(ctx, n, e); err != nil {
				return false, err
			}
		}
	}
	broken := r.store.writable() == nil
	err = r.schedule(ctx, plan)
	var notKept errNotKept
	var output *FileError
	if errors.As(err, &notKept) || isFull(err) && !errors.As(err, &output) {
		r.store.giveUp(err)
	}
	if err != nil && !broken && r.Cache != nil && r.store.writable() == nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// A segment is a chain of the plan, with the segments it waits for.
type segment struct {
	nodes  []*Node
	after  []*segment
	state  segmentState
	memory int64 // bytes that it is taken to need
}

type segmentState int

const (
	waiting segmentState = iota
	running
	finished
	failed
)

// segments divides the nodes that run into chains. A chain ends where several
// stages, or none, read the rows.
func segments(plan *Plan) []*segment {
	var all []*segment
	of := map[*Node]*segment{}
	for _, n := range plan.graph.Nodes {
		if plan.actions[n] != Make {
			continue
		}
		s := of[n.Parent] // nil without a parent, or one that is there
		if s == nil || plan.readers(n.Parent) > 1 || n.waitsForFiles(plan) {
			s = &segment{}
			all = append(all, s)
		}
		s.nodes = append(s.nodes, n)
		of[n] = s
		for _, b := range n.before() {
			if earlier := of[b]; earlier != nil && earlier != s && !slices.Contains(s.after, earlier) {
				s.after = append(s.after, earlier)
			}
		}
	}
	return all
}

// waitsForFiles reports whether n reads a file that is still to be made.
func (n *Node) waitsForFiles(plan *Plan) bool {
	return slices.ContainsFunc(n.Files, func(f FileInput) bool { return f.Maker != nil && plan.actions[f.Maker] == Make })
}

// schedule runs segments as they become ready, in the order of the file, as
// many at once as jobs and memory allow.
func (r *Runner) schedule(ctx context.Context, plan *Plan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := segments(plan)
	type result struct {
		segment *segment
		err     error
	}
	results := make(chan result)
	atWork, memory := 0, int64(0)
	var first error
	for {
		for _, s := range all {
			if first != nil && !r.KeepGoing || atWork >= max(1, r.Jobs) {
				break
			}
			if !s.ready() {
				continue
			}
			s.memory = r.memoryNeed(s)
			if atWork > 0 && r.Memory > 0 && memory+s.memory > r.Memory {
				continue
			}
			s.state = running
			atWork, memory = atWork+1, memory+s.memory
			go func() { results <- result{s, r.runSegment(ctx, s)} }()
		}
		if atWork == 0 {
			return first
		}
		done := <-results
		atWork, memory = atWork-1, memory-done.segment.memory
		done.segment.state = finished
		if done.err != nil {
			done.segment.state = failed
			first = firstError(first, done.err)
			if !r.KeepGoing {
				cancel()
			}
		}
	}
}

// firstError keeps the first failure, but for one of being cancelled.
func firstError(first, next error) error {
	if first == nil || errors.Is(first, context.Canceled) && !errors.Is(next, context.Canceled) {
		return next
	}
	return first
}

func (s *segment) ready() bool {
	return s.state == waiting && !slices.ContainsFunc(s.after, func(a *segment) bool { return a.state != finished })
}

// Memory that a chain is taken to need: what the programs need themselves, and
// some copies of the rows that they hold at once.
const (
	baseMemory = 256 << 20
	rowCopies  = 4
)

// memoryNeed estimates the memory of a segment from the rows or files it reads,
// as far as they are there.
func (r *Runner) memoryNeed(s *segment) int64 {
	head, size := s.nodes[0], int64(0)
	if head.Parent != nil {
		if info, err := os.Stat(filepath.Join(r.rowsDir(), head.Parent.Key, RowsName)); err == nil {
			size = info.Size()
		}
	}
	for _, path := range append([]string{head.From}, paths(head.Files)...) {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	return baseMemory + rowCopies*size
}

func (r *Runner) rowsDir() string {
	if r.Cache == nil {
		return ""
	}
	return filepath.Join(r.Cache.Dir, entriesDir)
}

func paths(files []FileInput) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	return all
}

// runSegment makes what is still missing of a segment once it has the locks: in
// the meantime another run may have made it.
func (r *Runner) runSegment(ctx context.Context, s *segment) error {
	if cache := r.store.writable(); cache != nil {
		for _, n := range s.nodes {
			l, err := cache.Lock(ctx, n.Key, func() { r.View.Log(n, "waits for another run that makes it") })
			if err != nil && ctx.Err() == nil {
				r.store.giveUp(err)
				break
			}
			if err != nil {
				return err
			}
			defer l.Release()
		}
	}
	for _, nodes := range r.missing(ctx, s.nodes) {
		if err := r.runStretch(ctx, nodes); err != nil {
			return err
		}
	}
	for _, n := range s.nodes {
		r.hold(n.Key)
	}
	return nil
}

// missing are the stretches of nodes that are to be made: what is wanted and not
// there. A node is wanted if the file names outputs of it, or what reads it is to be made.
func (r *Runner) missing(ctx context.Context, nodes []*Node) [][]*Node {
	var stretches [][]*Node
	wanted, joined := true, false
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		missing := (wanted || len(n.Outputs) > 0) && !r.there(ctx, n)
		switch {
		case missing && joined:
			stretches[0] = append([]*Node{n}, stretches[0]...)
		case missing:
			stretches = append([][]*Node{{n}}, stretches...)
		}
		wanted, joined = missing, missing
	}
	return stretches
}

// there reports whether another run has made the node in the meantime.
func (r *Runner) there(ctx context.Context, n *Node) bool {
	e := r.store.lookup(n.Key)
	if e == nil || r.store.verified(e) == nil || deliver(ctx, n, e) != nil {
		return false
	}
	r.View.Log(n, "was made by another run")
	return true
}

// runStretch runs nodes whose input is there. A training that fails after it was
// resumed is tried again from its beginning.
func (r *Runner) runStretch(ctx context.Context, nodes []*Node) error {
	rows := ""
	if parent := nodes[0].Parent; parent != nil {
		e := r.store.lookup(parent.Key)
		if e == nil {
			return fmt.Errorf("%s: the rows of %s have gone from the cache: run again", nodes[0].Label(), parent.Label())
		}
		f, _ := e.File("")
		rows = e.Path(f)
	}
	resumed := r.checkpoints(nodes)
	err := r.runChain(ctx, nodes, rows)
	var stage *StageError
	if len(resumed) == 0 || ctx.Err() != nil || !errors.As(err, &stage) || stage.Status != 1 {
		return err
	}
	r.View.Warn(fmt.Sprintf("%v: starting over, without its checkpoint", err))
	for _, path := range resumed {
		os.Remove(path)
	}
	return r.runChain(ctx, nodes, rows)
}

// checkpoints are those that nodes will go on from.
func (r *Runner) checkpoints(nodes []*Node) []string {
	var found []string
	cache := r.store.writable()
	for _, n := range nodes {
		if cache == nil || n.Stage.flag(Checkpoint) == "" {
			continue
		}
		if _, err := os.Stat(cache.Checkpoint(n.Key)); err == nil {
			found = append(found, cache.Checkpoint(n.Key))
		}
	}
	return found
}

func (r *Runner) launcher() launcher {
	if r.InProcess {
		return goroutines{}
	}
	return processes{r.Program}
}

// showResults prints and writes what the runs came to, if all went well or
// others were to go on.
func (r *Runner) showResults(ctx context.Context, err error) error {
	switch {
	case err != nil && !r.KeepGoing:
		return nil
	case r.Table != "":
		return r.writeTable()
	case r.Graph.Nodes[0].shown && r.Rows != nil:
		return r.showRows(ctx, r.Graph.Nodes[0])
	}
	return r.showText()
}

// showText prints what text stages put out that the file sends to no file, run by run.
func (r *Runner) showText() error {
	for _, n := range r.Graph.Nodes {
		if n.Stage.Rows || len(n.Outputs) > 0 || r.Text == nil {
			continue
		}
		e := r.store.lookup(n.Key)
		if e == nil {
			continue
		}
		f, _ := e.File("")
		text, err := os.ReadFile(e.Path(f))
		if err != nil {
			return err
		}
		if len(n.Values) > 0 {
			fmt.Fprintf(r.Text, "== %s\n", n.Label())
		}
		if _, err := r.Text.Write(text); err != nil {
			return err
		}
	}
	return nil
}
