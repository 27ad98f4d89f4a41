package adapt

import (
	"runtime"
	"sync/atomic"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// A pool is the goroutines that split the work of a step. They live as long as
// training does, and giving them work allocates nothing.
//
// A step has phases of some tens of microseconds. Waking a parked thread takes about as
// long, so a goroutine that waits first spins for about that time and parks then.
type pool struct {
	size    int
	work    func(worker int) // of this round; nil stops the workers
	round   atomic.Uint32
	busy    atomic.Int32 // workers that have not finished this round, the first left out
	waiters []waiter     // one for each worker; the first worker is the caller of run
	spins   int          // checks before a waiter parks
	panics  kernel.Panics
}

// newPool starts size−1 goroutines: the caller of run is the first worker.
func newPool(size int) *pool {
	spins := 1 << 15
	if size > runtime.GOMAXPROCS(0) { // a worker that spins would keep another from working
		spins = 0
	}
	return startPool(size, spins)
}

func startPool(size, spins int) *pool {
	p := &pool{size: size, spins: spins, waiters: make([]waiter, size)}
	for worker := range p.waiters {
		p.waiters[worker].signal = make(chan struct{}, 1)
	}
	for worker := 1; worker < size; worker++ {
		go p.serve(worker)
	}
	return p
}

// serve does a worker's share of round after round.
func (p *pool) serve(worker int) {
	for round := uint32(1); ; round++ {
		p.waiters[worker].wait(p.spins, func() bool { return p.round.Load() == round })
		work := p.work
		if work == nil {
			return
		}
		p.do(work, worker)
		if p.busy.Add(-1) == 0 {
			p.waiters[0].wake()
		}
	}
}

func (p *pool) do(work func(worker int), worker int) {
	defer p.panics.Catch()
	work(worker)
}

// run calls f once for each worker, at the same time, and returns when all are done. A
// panic in f reaches the caller then: unchanged from the first worker, as a *kernel.Panic
// from another. The pool can be used again afterwards.
func (p *pool) run(f func(worker int)) {
	p.begin(f)
	defer p.end()
	f(0)
}

// end waits until the other workers have finished the round.
func (p *pool) end() {
	p.waiters[0].wait(p.spins, func() bool { return p.busy.Load() == 0 })
	p.panics.Rethrow()
}

// begin starts a round of all workers but the first.
func (p *pool) begin(f func(worker int)) {
	p.work = f
	p.busy.Store(int32(p.size - 1))
	p.round.Add(1)
	for worker := 1; worker < p.size; worker++ {
		p.waiters[worker].wake()
	}
}

// part returns the worker's contiguous part of n elements.
func (p *pool) part(n, worker int) (lo, hi int) {
	return n * worker / p.size, n * (worker + 1) / p.size
}

// stop ends the goroutines. The pool must not be used afterwards.
func (p *pool) stop() { p.begin(nil) }

// A waiter waits until a condition holds: it spins first and parks then.
type waiter struct {
	parked atomic.Bool
	signal chan struct{}
}

// wait returns once ready reports true. Whoever makes it true calls wake afterwards.
func (w *waiter) wait(spins int, ready func() bool) {
	for !spin(spins, ready) {
		w.parked.Store(true)
		// If the condition holds by now, whoever resets the flag decides: the waiter, which
		// returns, or wake, which sends a signal.
		if ready() && w.parked.CompareAndSwap(true, false) {
			return
		}
		<-w.signal // for this condition or, late, for the one before: so check again
	}
}

// spin checks the condition up to spins+1 times.
func spin(spins int, ready func() bool) bool {
	for range spins {
		if ready() {
			return true
		}
	}
	return ready()
}

// wake sends a signal to the waiter if it is parked.
func (w *waiter) wake() {
	if w.parked.CompareAndSwap(true, false) {
		w.signal <- struct{}{}
	}
}
