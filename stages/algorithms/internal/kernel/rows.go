package kernel

import "unsafe"

// Zip writes columns side by side to the beginnings of rows: dst[i*width+k] = columns[k][i].
func Zip(dst []float32, width int, columns [4][]float32) {
	n := len(columns[0])
	for _, c := range columns[1:] {
		checkLength("Zip: column", len(c), n)
	}
	if n == 0 {
		return
	}
	_ = dst[(n-1)*width+len(columns)-1]
	a, b, c, d := columns[0], columns[1], columns[2], columns[3]
	whole := n / active.block
	if whole > 0 {
		active.zip(&dst[0], width, &a[0], &b[0], &c[0], &d[0], whole)
	}
	if i := whole * active.block; i < n {
		zipGo(&dst[i*width], width, &a[i], &b[i], &c[i], &d[i], n-i)
	}
}

// Stream copies src to dst, which are of one length, and leaves the processor's caches to what is in them:
// it is for more than they hold.
func Stream(dst, src []float32) {
	checkLength("Stream", len(dst), len(src))
	const block, aligned = 64, 64
	if active.stream == nil || len(dst) < 2*block {
		copy(dst, src)
		return
	}
	head := int(-uintptr(unsafe.Pointer(&dst[0]))%aligned) / 4
	copy(dst[:head], src)
	blocks := (len(dst) - head) / block
	active.stream(&dst[head], &src[head], blocks)
	copy(dst[head+blocks*block:], src[head+blocks*block:])
}

func zipGo(dst *float32, width int, a, b, c, d *float32, rows int) {
	column := func(first *float32) []float32 { return unsafe.Slice(first, rows) }
	w, x, y, z := column(a), column(b), column(c), column(d)
	to := unsafe.Slice(dst, (rows-1)*width+4)
	for i := range w {
		row := to[i*width:][:4:4]
		row[0], row[1], row[2], row[3] = w[i], x[i], y[i], z[i]
	}
}
