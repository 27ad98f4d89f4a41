package adapt

// A crew is the goroutines that split the work of a step. They live as long as
// training does and park between steps, so that handing them work allocates nothing.
type crew struct {
	work []chan func(member int)
	done chan struct{}
}

// newCrew starts size−1 goroutines: the caller of run is the first member.
func newCrew(size int) *crew {
	c := &crew{work: make([]chan func(int), size), done: make(chan struct{}, size)}
	for member := 1; member < size; member++ {
		c.work[member] = make(chan func(int), 1)
		go c.serve(member)
	}
	return c
}

func (c *crew) serve(member int) {
	for f := range c.work[member] {
		f(member)
		c.done <- struct{}{}
	}
}

// run calls f once for each member, at the same time, and returns when all are done.
func (c *crew) run(f func(member int)) {
	for _, work := range c.work[1:] {
		work <- f
	}
	f(0)
	for range c.work[1:] {
		<-c.done
	}
}

// share returns the member's contiguous part of n elements.
func (c *crew) share(n, member int) (lo, hi int) {
	return n * member / len(c.work), n * (member + 1) / len(c.work)
}

func (c *crew) dismiss() {
	for _, work := range c.work[1:] {
		close(work)
	}
}
