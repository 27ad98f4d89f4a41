//go:build !unix

package kernel

import "testing"

// fence allocates slices between margins. In the version for Unix a read or write
// outside the slice is a fault.
type fence[T any] struct {
	tb    testing.TB
	atEnd bool
}

func (f fence[T]) slice(n int) []T {
	const margin = 64
	return make([]T, n+2*margin)[margin : margin+n : margin+n]
}
