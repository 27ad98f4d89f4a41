//go:build unix

// Package brokenlines notes which broken lines would make a difference: a survey puts a call of it at each line of a copy of the tree.
// What it notes is in a file that all processes share, a byte a line, as programs end in many ways.
package brokenlines

import (
	"cmp"
	"fmt"
	"os"
	"syscall"
)

var lines = open(file)

func open(name string) []byte {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		panic(fmt.Errorf("this tree was made for a survey of broken lines: %w", err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	m, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return m
}

// Here notes that a line is reached.
func Here(line int) {
	if lines[line] == 0 { // a store each time would slow loops of all cores down
		lines[line] = 1
	}
}

// At notes that a value is reached.
func At[T any](line int, v T) T {
	Here(line)
	return v
}

// Err notes an error.
func Err(line int, err error) error {
	if err != nil {
		Here(line)
	}
	return err
}

// Less, AtMost, More and AtLeast compare, and note that two values are the same.

func Less[T cmp.Ordered](line int, a, b T) bool    { return same(line, a, b) < 0 }
func AtMost[T cmp.Ordered](line int, a, b T) bool  { return same(line, a, b) <= 0 }
func More[T cmp.Ordered](line int, a, b T) bool    { return same(line, a, b) > 0 }
func AtLeast[T cmp.Ordered](line int, a, b T) bool { return same(line, a, b) >= 0 }

func same[T cmp.Ordered](line int, a, b T) int {
	c := cmp.Compare(a, b)
	if c == 0 {
		Here(line)
	}
	return c
}
