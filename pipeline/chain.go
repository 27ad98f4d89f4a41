package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A chain runs nodes joined by pipes: each reads the rows of the one before.
type chain struct {
	*Runner
	ctx    context.Context
	cancel context.CancelFunc
	links  []*link

	mu    sync.Mutex
	first error // what broke the chain
}

// A link is a node of a chain at work.
type link struct {
	node    *Node
	last    bool         // nothing in the chain reads its rows
	pending *EntryWriter // nil if its output is not kept
	job     job
	before  *link
	next    *link
	lost    error // why the cache did not take its output; nil if it did
	start   time.Time
	ended   time.Time     // of its output
	told    chan struct{} // closed when the view knows that it has ended
}

// errNotKept is a failure to keep output that has to be kept.
type errNotKept struct{ error }

func (e errNotKept) Unwrap() error { return e.error }

// runChain runs nodes that each read the rows of the one before; the first reads
// the file rows, if that is not "".
func (r *Runner) runChain(ctx context.Context, nodes []*Node, rows string) error {
	c := &chain{Runner: r}
	c.ctx, c.cancel = context.WithCancel(ctx)
	defer c.cancel()
	for i, n := range nodes {
		l := &link{node: n, last: i == len(nodes)-1, start: time.Now(), told: make(chan struct{})}
		if i > 0 {
			l.before, c.links[i-1].next = c.links[i-1], l
		}
		c.links = append(c.links, l)
	}
	var work sync.WaitGroup
	for i, l := range c.links {
		if err := c.start(l, i > 0, rows); err != nil {
			c.fail(err)
			c.abandon(i)
			c.View.Done(l.node, 0, 0, err)
			break
		}
	}
	for _, l := range c.links {
		if l.job != nil {
			work.Go(func() {
				rows, err := c.pump(l)
				c.finish(l, rows, err)
			})
		}
	}
	work.Wait()
	return c.first
}

// abandon gives up link n, which could not be started, and what was to flow into it.
func (c *chain) abandon(n int) {
	if n > 0 && c.links[n].job == nil {
		c.links[n-1].next = nil
	}
	if p := c.links[n].pending; p != nil {
		p.Abandon()
	}
}

// fail notes the first failure and ends all stages of the chain.
func (c *chain) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		c.first = err
	}
	c.cancel()
}

func (c *chain) start(l *link, stream bool, rows string) (err error) {
	if err := c.begin(l); err != nil {
		return errNotKept{err}
	}
	t := task{node: l.node, stream: stream, log: func(line string) { c.View.Log(l.node, line) },
		progress: func(what string, done, total int64) { c.View.Progress(l.node, what, done, total) }}
	if !stream {
		t.file = rows
	}
	if t.args, err = c.arguments(l); err != nil {
		return errNotKept{err}
	}
	c.View.Start(l.node)
	l.job, err = c.launcher().start(c.ctx, t)
	return err
}

// begin starts the cache's entry, if the output is to be kept.
func (c *chain) begin(l *link) (err error) {
	cache := c.store.writable()
	if cache == nil {
		if !l.mustKeep() {
			return nil
		}
		if cache, err = c.store.temporary(); err != nil {
			return err
		}
	}
	l.pending, err = cache.Begin(l.node.Key)
	return err
}

// mustKeep reports whether the output has to be a file: it is asked for, or stages
// outside the chain read it.
func (l *link) mustKeep() bool {
	return len(l.node.Outputs) > 0 || l.node.shown || !l.node.Stage.Rows || l.last && len(l.node.Children) > 0
}

// arguments are the command line of a link: its own flags, with files that the
// stage writes in the entry, and what the runner adds.
func (c *chain) arguments(l *link) ([]string, error) {
	n := l.node
	var args []string
	for _, name := range n.Order {
		value := n.Flags[name]
		switch role := n.Stage.Flags[name].Role; {
		case role == RowsFile || role == Encoding:
			continue
		case role.isWritten():
			var err error
			if value, err = l.pending.StatePath(name, value); err != nil {
				return nil, err
			}
		}
		args = append(args, "--"+name+"="+value)
	}
	args = append(args, c.checkpoint(l)...)
	if quiet := n.Stage.flag(Quiet); !c.Verbose && quiet != "" {
		args = append(args, "--"+quiet)
	}
	if n.From != "" {
		args = append(args, asArgument(n.From))
	}
	return args, nil
}

// checkpoint has a training keep its state in the cache, and go on from what it
// kept when it was killed.
func (c *chain) checkpoint(l *link) []string {
	path, there := c.checkpointOf(l.node)
	if !l.node.resumable || path == "" {
		return nil
	}
	args := []string{"--" + l.node.Stage.flag(Checkpoint) + "=" + path}
	if there {
		args = append(args, "--"+l.node.Stage.flag(Resume))
		c.View.Log(l.node, "goes on from its last checkpoint")
	}
	return args
}

// pump passes the output of the link's job on to the next job and into the cache,
// and waits for the job to end. It returns the number of rows.
func (c *chain) pump(l *link) (rows int64, err error) {
	if !l.node.Stage.Rows {
		err = l.pending.Text(l.job.text())
		if err != nil {
			err = errNotKept{err}
		}
		return 0, errors.Join(l.job.wait(), err)
	}
	t := &tee{lost: func(err error) { l.lost = err }, progress: func(rows int64) { c.View.Progress(l.node, "rows", rows, 0) }}
	if l.next != nil {
		t.next = l.next.job.in()
	}
	if l.pending != nil {
		if t.kept, err = l.pending.Rows(); err != nil {
			l.lost, t.kept = err, nil
		}
	}
	src, err := l.job.rows()
	if err == nil {
		err = t.copy(src)
	}
	if ended := l.job.wait(); ended != nil {
		err = ended // which says why the output broke off
	}
	if err != nil {
		c.noteFailure(l, err) // before the next stage fails because of it
	}
	c.noteEnd(l)
	t.end(err)
	return t.rows, err
}

// noteFailure records the failure of a link. The first that is recorded is the
// chain's; the others are of stages that were ended because of it.
func (c *chain) noteFailure(l *link, err error) {
	var stage *StageError
	if !errors.As(err, &stage) {
		err = fmt.Errorf("%s: %w", l.node.Label(), err)
	}
	c.fail(err)
}

// finish keeps and delivers the output of a link that has ended, or reports its
// failure.
func (c *chain) finish(l *link, rows int64, err error) {
	cost := Cost{Seconds: c.took(l).Seconds(), Peak: l.job.peak()}
	if err == nil {
		c.noteCost(l.node, cost)
		err = c.keep(l, rows, cost)
	}
	if err != nil {
		if l.pending != nil {
			c.rescue(l, err)
			l.pending.Abandon()
		}
		c.noteFailure(l, err)
	}
	took := c.took(l)
	if l.before != nil {
		<-l.before.told // the stages are reported in their order
	}
	c.View.Done(l.node, rows, took, err)
	close(l.told)
}

// noteEnd notes that all of a link's output is there.
func (c *chain) noteEnd(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.ended = time.Now()
}

// took is how long the stage has been at work since all of its input was there.
// Before that most stages only wait.
func (c *chain) took(l *link) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.before != nil && !l.before.ended.IsZero() {
		return time.Since(l.before.ended)
	}
	return time.Since(l.start)
}

// keep commits the link's entry and delivers its outputs.
func (c *chain) keep(l *link, rows int64, cost Cost) error {
	if err := l.node.unchanged(); err != nil || l.pending == nil {
		return err
	}
	entry, err := (*Entry)(nil), l.lost
	if err == nil {
		entry, err = l.pending.Commit(l.node, c.Version, rows, cost)
	}
	if err != nil {
		l.pending.Abandon()
		c.store.giveUp(err)
		if l.mustKeep() {
			return errNotKept{err}
		}
		return nil
	}
	c.forget(l.node)
	return deliver(c.ctx, l.node, entry)
}

// statusDiverged is the exit status of a training that has diverged and has kept
// its last good model.
const statusDiverged = 3

// rescue delivers the last good model of a training that has diverged.
func (c *chain) rescue(l *link, err error) {
	var stage *StageError
	if !errors.As(err, &stage) || stage.Status != statusDiverged {
		return
	}
	for _, o := range l.node.Outputs {
		if l.node.Stage.Flags[o.Flag].Role != StateFile {
			continue
		}
		if kept, err := l.pending.StatePath(o.Flag, o.Path); err == nil {
			copyFile(context.WithoutCancel(c.ctx), kept, o.Path) //nolint:errcheck // the failure is being reported
		}
	}
}
