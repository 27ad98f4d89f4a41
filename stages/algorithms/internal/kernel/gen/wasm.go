package main

import "math/bits"

// A module has the products of matrices for a browser, whose Go compiler knows no vectors: a module of
// WebAssembly of its own, which works in the memory of the program that imports its functions.
// emitModule returns it as bytes; https://webassembly.github.io/spec/core/binary/ says what they mean.
func emitModule() []byte {
	code := section(10, vector8(simdFloat32.function(), simdFloat64.function()))
	i32, f32, f64 := byte(0x7f), byte(0x7d), byte(0x7c)
	params := func(f byte) []byte {
		return []byte{0x60, 12, i32, i32, i32, f, i32, i32, i32, i32, i32, f, i32, i32, 0}
	}
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = append(m, section(1, vector8(params(f32), params(f64)))...)
	m = append(m, section(2, vector8(join(text("go"), text("mem"), []byte{2, 0, 0})))...)
	m = append(m, section(3, []byte{2, 0, 1})...)
	m = append(m, section(7, vector8(join(text("sgemm"), []byte{0, 0}), join(text("dgemm"), []byte{0, 1})))...)
	return append(m, code...)
}

// number is a type of element, with its instructions on one and on a vector of 16 bytes.
type number struct {
	kind                                   byte
	bytes                                  int
	load, store, add, mul, eq              []byte
	loadSplat, splat, vectorAdd, vectorMul []byte
	zero                                   []byte
}

var simdFloat32 = number{
	kind: 0x7d, bytes: 4, load: []byte{0x2a}, store: []byte{0x38}, add: []byte{0x92}, mul: []byte{0x94}, eq: []byte{0x5b},
	loadSplat: simd(9), splat: simd(19), vectorAdd: simd(228), vectorMul: simd(230), zero: []byte{0x43, 0, 0, 0, 0},
}

var simdFloat64 = number{
	kind: 0x7c, bytes: 8, load: []byte{0x2b}, store: []byte{0x39}, add: []byte{0xa0}, mul: []byte{0xa2}, eq: []byte{0x61},
	loadSplat: simd(10), splat: simd(20), vectorAdd: simd(240), vectorMul: simd(242), zero: []byte{0x44, 0, 0, 0, 0, 0, 0, 0, 0},
}

// simd is an instruction on vectors.
func simd(n int) []byte { return append([]byte{0xfd}, leb(n)...) }

// The parameters of a function, which are those of tileFunc with steps in bytes, and its local variables.
const (
	pRows = iota
	pCols
	pK
	pAlpha
	pA
	pRowStep
	pColStep
	pB
	pBStep
	pBeta
	pC
	pCStep
	lB    // the next columns of b
	lC    // the next columns of c
	lLeft // columns that are left
	lCount
	lAtB
	lAtC
	lAtA                          // simdRows of them
	lSums  = lAtA + simdRows      // scalars: sums of rows, then an element of a and of b
	lWides = lSums + simdRows + 2 // vectors: sums of rows, then of b, then of a
)

const (
	simdRows    = 4 // of a tile that is kept in registers
	simdVectors = 2 // in its rows
)

// function computes c = alpha·a·b + beta·c, rows and columns in groups of as many as registers hold.
// Every element is summed in the order of k.
func (f number) function() []byte {
	var rows []byte
	for _, r := range []int{simdRows, 1} {
		rows = join(rows, repeat(get(pRows), i32const(r), []byte{0x4f, 0x45, 0x0d, 1}, // br_if out, unless rows >= r
			set(lB, get(pB)), set(lC, get(pC)), set(lLeft, get(pCols)),
			f.columns(r, simdVectors), f.columns(r, 1), f.columns(r, 0),
			set(pA, get(pA), i32const(r), get(pRowStep), i32mul, i32add), set(pC, get(pC), i32const(r), get(pCStep), i32mul, i32add),
			set(pRows, get(pRows), i32const(r), i32sub)))
	}
	locals := []byte{3, byte(lSums - lB), 0x7f, byte(lWides - lSums), f.kind, simdRows*simdVectors + simdVectors + 1, 0x7b}
	return sized(join(locals, rows, []byte{0x0b}))
}

// columns computes r rows of c, as long as so many vectors are left, or single columns where vectors is 0.
func (f number) columns(r, vectors int) []byte {
	width := max(1, vectors*16/f.bytes)
	body := join(get(lLeft), i32const(width), []byte{0x4f, 0x45, 0x0d, 1})
	for i := range r {
		from := get(pA)
		if i > 0 {
			from = join(get(lAtA+i-1), get(pRowStep), i32add)
		}
		body = join(body, set(lAtA+i, from))
	}
	for i := range r * max(1, vectors) {
		if vectors > 0 {
			body = join(body, set(lWides+i, simd(12), make([]byte, 16)))
		} else {
			body = join(body, set(lSums+i, f.zero))
		}
	}
	step := f.step(r, vectors)
	body = join(body, set(lAtB, get(lB)), set(lCount, get(pK)),
		[]byte{0x03, 0x40}, step, set(lAtB, get(lAtB), get(pBStep), i32add),
		set(lCount, get(lCount), i32const(1), i32sub), get(lCount), []byte{0x0d, 0, 0x0b})
	body = join(body, set(lAtC, get(lC)), f.finish(r, vectors),
		set(lB, get(lB), i32const(width*f.bytes), i32add), set(lC, get(lC), i32const(width*f.bytes), i32add),
		set(lLeft, get(lLeft), i32const(width), i32sub))
	return repeat(body)
}

// step adds the outer product of a column of a and a row of b.
func (f number) step(r, vectors int) (code []byte) {
	wideB, wideA := lWides+simdRows*simdVectors, lWides+simdRows*simdVectors+simdVectors
	for j := range vectors {
		code = join(code, set(wideB+j, get(lAtB), vectorLoad, at(16*j)))
	}
	if vectors == 0 {
		code = set(lSums+simdRows+1, get(lAtB), f.load, at(0))
	}
	for i := range r {
		if vectors > 0 {
			code = join(code, set(wideA, get(lAtA+i), f.loadSplat, at(0)))
		}
		for j := range vectors {
			sum := lWides + i*vectors + j
			code = join(code, set(sum, get(sum), get(wideA), get(wideB+j), f.vectorMul, f.vectorAdd))
		}
		if vectors == 0 {
			code = join(code, set(lSums+i, get(lSums+i), get(lAtA+i), f.load, at(0), get(lSums+simdRows+1), f.mul, f.add))
		}
		code = join(code, set(lAtA+i, get(lAtA+i), get(pColStep), i32add))
	}
	return code
}

// finish scales the sums and writes them. c is read only if beta is not 0.
func (f number) finish(r, vectors int) []byte {
	load, store, add, mul, alpha, beta, sums := f.load, f.store, f.add, f.mul, get(pAlpha), get(pBeta), lSums
	if vectors > 0 {
		load, store, add, mul, sums = vectorLoad, vectorStore, f.vectorAdd, f.vectorMul, lWides
		alpha, beta = join(alpha, f.splat), join(beta, f.splat)
	}
	write := func(reads bool) (code []byte) {
		for i := range r {
			for j := range max(1, vectors) {
				value := join(get(sums+i*max(1, vectors)+j), alpha, mul)
				if reads {
					value = join(value, get(lAtC), load, at(16*j), beta, mul, add)
				}
				code = join(code, get(lAtC), value, store, at(16*j))
			}
			code = join(code, set(lAtC, get(lAtC), get(pCStep), i32add))
		}
		return code
	}
	return join(get(pBeta), f.zero, f.eq, []byte{0x04, 0x40}, write(false), []byte{0x05}, write(true), []byte{0x0b})
}

var (
	i32add, i32sub, i32mul  = []byte{0x6a}, []byte{0x6b}, []byte{0x6c}
	vectorLoad, vectorStore = simd(0), simd(11)
)

func get(local int) []byte { return append([]byte{0x20}, leb(local)...) }

func set(local int, value ...[]byte) []byte { return join(join(value...), []byte{0x21}, leb(local)) }

// i32const is a constant from 0 to 63.
func i32const(n int) []byte { return []byte{0x41, byte(n)} }

// at is the place of an element behind an address, which may be at any place.
func at(offset int) []byte { return join([]byte{0}, leb(offset)) }

// repeat runs until its code breaks out of level 1.
func repeat(code ...[]byte) []byte {
	return join([]byte{0x02, 0x40, 0x03, 0x40}, join(code...), []byte{0x0c, 0, 0x0b, 0x0b})
}

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func leb(n int) (b []byte) {
	for range (max(1, bits.Len(uint(n))) - 1) / 7 {
		b, n = append(b, byte(n)|0x80), n>>7
	}
	return append(b, byte(n))
}

func sized(b []byte) []byte { return join(leb(len(b)), b) }

func text(s string) []byte { return sized([]byte(s)) }

func section(id byte, b []byte) []byte { return join([]byte{id}, sized(b)) }

// vector8 is a list of up to 127 things.
func vector8(items ...[]byte) []byte { return join([]byte{byte(len(items))}, join(items...)) }
