package arrowio

import (
	"fmt"
	"sync/atomic"
)

// A Budget is the memory that readers may hold together. Readers take from it
// before they allocate, so that no input can make them hold more. A nil Budget
// limits nothing. It may be used by several goroutines.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a budget of limit bytes; 0 means DefaultMemory.
func NewBudget(limit int64) *Budget {
	if limit == 0 {
		limit = DefaultMemory
	}
	return &Budget{limit: limit}
}

// Take takes n bytes. It takes nothing and fails with a *LimitError if that is more
// than is left.
func (b *Budget) Take(n int64) error {
	if b == nil {
		return nil
	}
	used := b.used.Add(n)
	if n < 0 || used < 0 || used > b.limit {
		b.used.Add(-n)
		return &LimitError{Need: used, Limit: b.limit}
	}
	return nil
}

// Give gives back n bytes that were taken.
func (b *Budget) Give(n int64) {
	if b != nil {
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
	return fmt.Sprintf("needs %s of memory, the limit is %s", amount(e.Need), amount(e.Limit))
}

// amount writes a number of bytes for a message.
func amount(n int64) string {
	if n < 8<<20 {
		return fmt.Sprintf("%d KB", (n+1023)>>10)
	}
	return fmt.Sprintf("%d MB", (n+1<<20-1)>>20)
}
