//go:build !amd64 || noasm

package main

func peakFlops(bits int) int { return 1 }

func spin(turns int) {}
