package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mars.dev/mars/arrowio"
)

// A Runner runs a graph.
type Runner struct {
	Graph     *Graph
	Cache     *Cache // nil: none
	Jobs      int    // chains that run at once
	Memory    int64  // bytes that these may take together; 0: no limit
	InProcess bool   // run stages in this process, not each in its own
	Verbose   bool   // pass on all that stages log, not only warnings
	KeepGoing bool   // after a failure, run what does not depend on it
	Program   string // the program whose subcommands the stages are
	Version   string // of it
	View      View
	Text      io.Writer    // takes the text of stages that goes to no file
	Rows      arrowio.Sink // takes the rows of a Single graph that go to no file
	Table     string       // file for the results of all runs; "" for none
	Plain     bool         // in CSV, no text is a formula of a spreadsheet
	// Results is given the numbers of all runs, if it is not nil.
	Results func(*Results) error

	store    *store
	beside   *beside // the table's; nil: none
	mu       sync.Mutex
	held     []*Lock         // on entries in use
	costs    map[*Node]Cost  // of the stages that have run
	failures map[*Node]error // of those that have failed, or that ran in a chain with one
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

// Run runs what is not there yet and delivers all outputs. When it returns an error,
// all stages have ended, and the cache has what was complete before.
func (r *Runner) Run(ctx context.Context) error {
	if err := r.checkThreads(); err != nil {
		return err
	}
	beside, err := r.Graph.File.readBeside()
	if err != nil {
		return err
	}
	r.store, r.beside = newStore(r.Cache, r.View.Warn), beside
	defer r.close()
	for {
		r.failures = map[*Node]error{}
		plan, err := newPlan(ctx, r.Graph, r.store)
		if err != nil {
			return err
		}
		r.View.Plan(plan.lists())
		again, err := r.execute(ctx, plan)
		if again {
			continue
		}
		return errors.Join(err, r.showResults(ctx, err))
	}
}

// checkThreads refuses different numbers of threads in one process, whose stages
// share them.
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

// noteCost notes what it took to make a node.
func (r *Runner) noteCost(n *Node, c Cost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.costs == nil {
		r.costs = map[*Node]Cost{}
	}
	r.costs[n] = c
}

// cost is what it took to make a node, now or when the cache got it.
func (r *Runner) cost(n *Node) (c Cost, known bool) {
	if c, known = r.costs[n]; known {
		return c, true
	}
	if e := r.store.lookup(n.Key); e != nil {
		return e.Cost, true
	}
	return c, false
}

// failureOf says why a run failed, "" if it did not. It is the first line of the
// failure of its first stage that has one, or that a stage which failed is before.
func (r *Runner) failureOf(run *Run) string {
	for _, n := range run.Nodes {
		if n == nil {
			continue
		}
		if err := r.failureBefore(n); err != nil {
			line, _, _ := strings.Cut(err.Error(), "\n")
			return line
		}
	}
	return ""
}

// failureBefore is the failure of a node, or of one that it reads from. A node that was
// complete when the others of its chain failed has none.
func (r *Runner) failureBefore(n *Node) error {
	if len(r.failures) == 0 || r.store.lookup(n.Key) != nil {
		return nil
	}
	if err := r.failures[n]; err != nil {
		return err
	}
	for _, b := range n.before() {
		if err := r.failureBefore(b); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the checkpoint of a training that is complete. Also a run that was
// killed at its very end may have left one.
func (r *Runner) forget(n *Node) {
	if cache := r.store.writable(); cache != nil && n.Stage.flag(Checkpoint) != "" {
		cache.dropCheckpoint(n.Key)
	}
}

// execute carries out a plan. It asks for another if the cache can no longer be
// written, and what it should have kept has to go elsewhere.
func (r *Runner) execute(ctx context.Context, p *plan) (again bool, err error) {
	for _, n := range r.Graph.Nodes {
		e := p.entries[n]
		if e == nil {
			continue
		}
		r.hold(n.Key)
		r.forget(n)
		if p.late[n] {
			if err := deliver(ctx, n, e); err != nil {
				return false, err
			}
		}
	}
	broken := r.store.writable() == nil
	err = r.schedule(ctx, p)
	var notKept errNotKept
	var output *FileError
	if errors.As(err, &notKept) || isFull(err) && !errors.As(err, &output) {
		r.store.giveUp(err)
	}
	if err != nil && !broken && r.Cache != nil && r.store.writable() == nil && ctx.Err() == nil {
		//lint:ignore lostnil it runs again without the cache, which has failed
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

// segments divides the nodes that run into chains. A chain ends at rows that several
// stages read, or none.
func segments(p *plan) []*segment {
	var all []*segment
	of := map[*Node]*segment{}
	for _, n := range p.graph.Nodes {
		if p.actions[n] != toMake {
			continue
		}
		s := of[n.Parent] // nil without a parent, or one that is there
		if s == nil || p.readers(n.Parent) > 1 || n.waitsForFiles(p) {
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
func (n *Node) waitsForFiles(p *plan) bool {
	return slices.ContainsFunc(n.Files, func(f FileInput) bool { return f.Maker != nil && p.actions[f.Maker] == toMake })
}

// schedule runs segments as they become ready, in the order of the file, as many at
// once as jobs and memory allow. It returns the first failure.
func (r *Runner) schedule(ctx context.Context, p *plan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := segments(p)
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
			for _, n := range done.segment.nodes {
				r.failures[n] = done.err
			}
			first = firstError(first, done.err)
			if !r.KeepGoing {
				cancel()
			}
		}
	}
}

// firstError is the first of two failures, unless that is only of being cancelled.
func firstError(first, next error) error {
	if first == nil || errors.Is(first, context.Canceled) && !errors.Is(next, context.Canceled) {
		return next
	}
	return first
}

func (s *segment) ready() bool {
	return s.state == waiting && !slices.ContainsFunc(s.after, func(a *segment) bool { return a.state != finished })
}

// The estimate of the memory that a chain needs.
const (
	baseMemory = 256 << 20 // bytes that the programs need themselves
	rowCopies  = 4         // copies of the rows that they hold at once
)

// memoryNeed estimates the memory of a segment, in bytes, from the rows and files
// that it reads, as far as they are there.
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
	return namesOf(files, func(f FileInput) string { return f.Path })
}

// runSegment makes what is missing of a segment once it has the locks. While it
// waited for them another run may have made some of it.
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

// missing are the stretches of nodes that are to be made: those that are wanted and
// not there. A node is wanted if it has outputs, or if the node that reads it is to be
// made.
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
	if e == nil || r.store.verified(ctx, e) == nil || deliver(ctx, n, e) != nil {
		return false
	}
	r.View.Log(n, "was made by another run")
	return true
}

// runStretch runs nodes whose input is there. If a training that was resumed fails,
// it runs them again, with the training from its beginning.
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

// checkpoints are the files that the trainings among nodes will go on from.
func (r *Runner) checkpoints(nodes []*Node) []string {
	var found []string
	for _, n := range nodes {
		if path, there := r.checkpointOf(n); there {
			found = append(found, path)
		}
	}
	return found
}

// checkpointOf is the file in which a training keeps its state, "" if it keeps none, and whether it is there.
func (r *Runner) checkpointOf(n *Node) (path string, there bool) {
	cache := r.store.writable()
	if cache == nil || n.Stage.flag(Checkpoint) == "" {
		return "", false
	}
	path = cache.Checkpoint(n.Key)
	_, err := os.Stat(path)
	return path, err == nil
}

func (r *Runner) launcher() launcher {
	if r.InProcess {
		return goroutines{}
	}
	return processes{r.Program}
}

// showResults prints and writes the results of the runs, if there was no failure or
// the others were to go on.
func (r *Runner) showResults(ctx context.Context, err error) error {
	if err != nil && !r.KeepGoing {
		//lint:ignore lostnil it is whoever asks that has the error
		return nil
	}
	table := r.Table != "" || r.Graph.File.Table != nil
	if table || r.Results != nil {
		t, err := r.results()
		if err == nil && r.Results != nil {
			err = r.Results(t)
		}
		if err == nil && table {
			err = r.writeTable(t)
		}
		if err != nil || table {
			return err
		}
	}
	switch {
	case r.Graph.Nodes[0].shown && r.Rows != nil:
		return r.showRows(ctx, r.Graph.Nodes[0])
	}
	return r.showText()
}

// showText prints the text that goes to no file, run by run.
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
