package arrowio

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// A Budget is the memory that readers may hold together. Readers take from it
// before they allocate, so that no input can make them hold more. What is taken from a
// budget is taken from the one that it is part of too: in the end from that of the process,
// which gets it back when nobody holds the budget any more. A nil Budget limits nothing. It
// may be used by several goroutines.
type Budget struct {
	limit int64
	used  *atomic.Int64
	of    *Budget
}

// process is the budget that all others are part of.
var process = Budget{limit: DefaultMemory(), used: new(atomic.Int64)}

// SetMemoryLimit limits what all budgets of the process hold together; 0: to DefaultMemory.
// It is to be called before they are made.
func SetMemoryLimit(limit int64) {
	if limit == 0 {
		limit = DefaultMemory()
	}
	process.limit = limit
}

// NewBudget returns a budget of limit bytes; 0 means as many as the process may have.
func NewBudget(limit int64) *Budget {
	if limit == 0 {
		limit = process.limit
	}
	b := &Budget{limit, new(atomic.Int64), &process}
	runtime.AddCleanup(b, func(used *atomic.Int64) { process.used.Add(-used.Load()) }, b.used)
	return b
}

// Part returns a budget that is part of b, for what is held until Close.
func (b *Budget) Part() *Budget {
	if b == nil {
		return nil
	}
	return &Budget{b.limit, new(atomic.Int64), b}
}

// Close gives back all that is taken.
func (b *Budget) Close() { b.Give(b.Used()) }

// Take takes n bytes. It takes nothing and fails with a *LimitError if that is more
// than is left.
func (b *Budget) Take(n int64) error {
	if b == nil {
		return nil
	}
	err := b.take(n)
	for try := 0; err != nil && b.Used()+n <= b.limit && try < 3; try++ { // what nobody holds comes back soon
		runtime.GC()
		time.Sleep(time.Millisecond)
		err = b.take(n)
	}
	if err == nil {
		garbage.collect(n)
	}
	return err
}

// garbage is what nobody holds any more and is still in memory. The runtime collects it beside the
// reading, and too late where the machine has other work.
var garbage collector

type collector struct {
	mutex  sync.Mutex
	unseen atomic.Int64 // bytes that were taken since the heap was looked at
	left   int64        // bytes of the heap after the last collection
}

// collect waits until garbage has gone, if n bytes that were taken have no room beside it. It looks
// whenever a 64th of the limit has been taken.
func (g *collector) collect(n int64) {
	part := process.limit / 64
	if n = g.unseen.Add(n); n < part {
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.unseen.Store(0)
	if heap := heapSize(); heap+n > process.limit && heap+n > g.left+part {
		runtime.GC()
		g.left = heapSize()
	}
}

func (b *Budget) take(n int64) (err error) {
	used := b.used.Add(n)
	switch {
	case n < 0 || used < 0 || used > b.limit:
		err = &LimitError{Need: used, Limit: b.limit}
	case b.of != nil:
		err = b.of.take(n)
	}
	if err != nil {
		b.used.Add(-n)
	}
	return err
}

// heapSize is the memory of all objects, of those too that are garbage.
func heapSize() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// Give gives back n bytes that were taken.
func (b *Budget) Give(n int64) {
	for ; b != nil; b = b.of {
		b.used.Add(-n)
	}
}

// Used is how many bytes are taken.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Limit is how many bytes can be taken in all.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 1 << 62
	}
	return b.limit
}

// A LimitError says that a reader would need more memory than it may hold.
type LimitError struct{ Need, Limit int64 }

func (e *LimitError) Error() string {
	unit, name := int64(1<<20), "MB"
	if e.Need < 8<<20 {
		unit, name = 1<<10, "KB"
	}
	// Rounded so that what is needed is more than the limit, as it is.
	return fmt.Sprintf("needs %d %s of memory, the limit is %d %s", (e.Need+unit-1)/unit, name, e.Limit/unit, name)
}
