//go:build unix

package kernel

import (
	"syscall"
	"testing"
	"unsafe"
)

// fence allocates slices that begin or end exactly at a page without access, so
// that a read or write outside the slice is a fault. The memory is freed when the
// test ends.
type fence[T any] struct {
	tb    testing.TB
	atEnd bool
}

func (f fence[T]) slice(n int) []T {
	f.tb.Helper()
	page := syscall.Getpagesize()
	var element T
	size := n * int(unsafe.Sizeof(element))
	inner := max(1, (size+page-1)/page) * page
	memory, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		f.tb.Fatal(err)
	}
	f.tb.Cleanup(func() { syscall.Munmap(memory) })
	for _, guard := range [][]byte{memory[:page], memory[page+inner:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			f.tb.Fatal(err)
		}
	}
	start := page
	if f.atEnd {
		start = page + inner - size
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&memory[start])), n)
}
