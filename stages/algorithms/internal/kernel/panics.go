package kernel

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// A Panic is a panic of another goroutine, which was passed on to the goroutine that
// waits for it.
type Panic struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine that panicked, as runtime/debug.Stack returns it
}

// Error gives the value and the stack, which the runtime prints if nobody recovers.
func (p *Panic) Error() string {
	return fmt.Sprintf("%v\n\nin a goroutine of its own:\n%s", p.Value, p.Stack)
}

// Unwrap returns the value if it is an error, and nil otherwise.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Panics passes on the first panic of some goroutines to the one that waits for them.
// Its zero value is ready to use.
type Panics struct{ first atomic.Pointer[Panic] }

// Catch ends a panic of the calling goroutine and keeps it if it is the first. It works
// only as the deferred call itself: defer p.Catch().
func (p *Panics) Catch() {
	switch value := recover().(type) {
	case nil:
	case *Panic: // passed on already, by a goroutine that this one waited for
		p.first.CompareAndSwap(nil, value)
	default:
		p.first.CompareAndSwap(nil, &Panic{value, debug.Stack()})
	}
}

// Rethrow panics with the panic that was caught, and forgets it. Without one it does
// nothing. All goroutines must have finished.
func (p *Panics) Rethrow() {
	if caught := p.first.Load(); caught != nil {
		p.first.Store(nil)
		panic(caught)
	}
}
