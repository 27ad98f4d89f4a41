//go:build !unix

package kernel

import "testing"

// fence hands out slices between margins; see the version for Unix, where a
// step into the margins is a fault.
type fence[T any] struct {
	tb    testing.TB
	atEnd bool
}

func (f fence[T]) slice(n int) []T {
	const margin = 64
	return make([]T, n+2*margin)[margin : margin+n : margin+n]
}
