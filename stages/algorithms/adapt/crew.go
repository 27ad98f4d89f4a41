package adapt

import (
	"runtime"
	"sync/atomic"
)

// A crew is the goroutines that split the work of a step. They live as long as
// training does and handing them work allocates nothing.
//
// A step has phases of some tens of microseconds, and to wake a parked thread takes as
// long: who waits looks out for about that time before parking.
type crew struct {
	size    int
	work    func(member int) // of this round; nil dismisses
	round   atomic.Uint32
	unended atomic.Int32 // members still at work in this round
	members []waiter     // the first is the caller of run
	looks   int          // of a waiter before it parks
}

// newCrew starts size−1 goroutines: the caller of run is the first member.
func newCrew(size int) *crew {
	looks := 1 << 15
	if size > runtime.GOMAXPROCS(0) { // who looks out would keep others from working
		looks = 0
	}
	return startCrew(size, looks)
}

func startCrew(size, looks int) *crew {
	c := &crew{size: size, looks: looks, members: make([]waiter, size)}
	for member := range c.members {
		c.members[member].wake = make(chan struct{}, 1)
	}
	for member := 1; member < size; member++ {
		go c.serve(member)
	}
	return c
}

func (c *crew) serve(member int) {
	for round := uint32(1); ; round++ {
		c.members[member].wait(c.looks, func() bool { return c.round.Load() == round })
		work := c.work
		if work == nil {
			return
		}
		work(member)
		if c.unended.Add(-1) == 0 {
			c.members[0].call()
		}
	}
}

// run calls f once for each member, at the same time, and returns when all are done.
func (c *crew) run(f func(member int)) {
	c.begin(f)
	f(0)
	c.members[0].wait(c.looks, func() bool { return c.unended.Load() == 0 })
}

// begin starts a round of all members but the first.
func (c *crew) begin(f func(member int)) {
	c.work = f
	c.unended.Store(int32(c.size - 1))
	c.round.Add(1)
	for member := 1; member < c.size; member++ {
		c.members[member].call()
	}
}

// share returns the member's contiguous part of n elements.
func (c *crew) share(n, member int) (lo, hi int) {
	return n * member / c.size, n * (member + 1) / c.size
}

func (c *crew) dismiss() { c.begin(nil) }

// A waiter waits for what others bring about: first by looking out, then parked.
type waiter struct {
	parked atomic.Bool
	wake   chan struct{}
}

// wait returns once come reports true. What makes it true is followed by a call.
func (w *waiter) wait(looks int, come func() bool) {
	for !lookOut(looks, come) {
		w.parked.Store(true)
		// Whoever takes the flag back decides: the waiter, if it has come meanwhile, or
		// the caller, who then wakes it.
		if come() && w.parked.CompareAndSwap(true, false) {
			return
		}
		<-w.wake // for this or, late, for what was seen to come the last time
	}
}

func lookOut(looks int, come func() bool) bool {
	for range looks {
		if come() {
			return true
		}
	}
	return come()
}

// call wakes the waiter if it is parked.
func (w *waiter) call() {
	if w.parked.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}
