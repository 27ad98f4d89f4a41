package arrowio

import (
	"sync"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// pool has the memory that message bodies are read into. It gets a piece back when
// the last array that views it is released. It never holds more than its budget,
// and in the steady state of a pass-through it allocates nothing.
type pool struct {
	mem    memory.Allocator
	budget *Budget // has taken from it the capacity of all slabs, in use and idle

	mu     sync.Mutex
	idle   []*slab
	spare  *batch // the struct of a released batch, for the next one
	closed bool
}

// slab is one piece of memory of a pool. It is the allocator of the Arrow
// buffer made over it, so that the release of the buffer brings it back.
type slab struct {
	pool *pool
	data []byte // its length is its capacity
}

const (
	slabUnit     = 4 << 10  // capacities are multiples of this
	maxIdle      = 4        // idle slabs kept
	maxIdleBytes = 32 << 20 // of all idle slabs, if there is more than one
)

func newPool(mem memory.Allocator, budget *Budget) *pool {
	return &pool{mem: mem, budget: budget}
}

// get returns a slab of at least n bytes, an idle one if there is.
func (p *pool) get(n int) (*slab, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.takeIdle(n); s != nil {
		return s, nil
	}
	size := int64(n+slabUnit-1) / slabUnit * slabUnit
	err := p.budget.Take(size)
	for err != nil && len(p.idle) > 0 {
		p.dropIdle(0)
		err = p.budget.Take(size)
	}
	if err != nil {
		return nil, err
	}
	return &slab{p, p.mem.Allocate(int(size))}, nil
}

// reuse returns an idle slab of at least n bytes, nil if there is none.
func (p *pool) reuse(n int) *slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.takeIdle(n)
}

// takeIdle returns an idle slab that has room for n bytes and not much more.
func (p *pool) takeIdle(n int) *slab {
	for i, s := range p.idle {
		if len(s.data) >= n && len(s.data) <= 2*n+4*slabUnit {
			p.idle[i] = p.idle[len(p.idle)-1]
			p.idle = p.idle[:len(p.idle)-1]
			return s
		}
	}
	return nil
}

func (p *pool) put(s *slab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
	for len(p.idle) > maxIdle || len(p.idle) > 1 && p.idleBytes() > maxIdleBytes || p.closed && len(p.idle) > 0 {
		p.dropIdle(0) // the oldest
	}
}

func (p *pool) idleBytes() int {
	n := 0
	for _, s := range p.idle {
		n += len(s.data)
	}
	return n
}

func (p *pool) dropIdle(i int) {
	s := p.idle[i]
	p.idle = append(p.idle[:i], p.idle[i+1:]...)
	p.budget.Give(int64(len(s.data)))
	p.mem.Free(s.data)
}

// close frees what is idle now, and what is in use as soon as it comes back.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.spare = true, nil
	for len(p.idle) > 0 {
		p.dropIdle(0)
	}
}

// newBatch returns a batch with one reference. Its struct may have been used before.
func (p *pool) newBatch() *batch {
	p.mu.Lock()
	b := p.spare
	p.spare = nil
	p.mu.Unlock()
	if b == nil {
		b = &batch{pool: p}
	}
	b.refs.Store(1)
	return b
}

func (p *pool) putBatch(b *batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare = b
}

// Allocate is part of memory.Allocator; slabs do not grow.
func (s *slab) Allocate(int) []byte { panic("arrowio: a slab does not allocate") }

// Reallocate is part of memory.Allocator; slabs do not grow.
func (s *slab) Reallocate(int, []byte) []byte { panic("arrowio: a slab does not grow") }

// Free brings the slab back to its pool.
func (s *slab) Free([]byte) { s.pool.put(s) }
