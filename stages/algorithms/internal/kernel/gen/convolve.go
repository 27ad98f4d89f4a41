package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitConvolutions emits the convolution of interleaved images and the gradient of
// its weights.
func emitConvolutions(c *build.Context, l level) {
	for vectors := 1; vectors <= maxColumns; vectors++ {
		(&convolution{Context: c, level: l, vectors: vectors}).emit()
	}
	emitCorrelation(c, l)
}

// maxColumns is the largest number of vectors in a row of a convolution's tile: eight
// rows of three fill 24 of 32 registers, and four rows 12 of 16.
const maxColumns = 3

// convolution is a tile of a convolution: sums of weights times vectors of the
// image, for up to eight channels.
type convolution struct {
	*build.Context
	level   level
	vectors int

	taps, left, weight, offset reg.GPVirtual
	w                          reg.GPVirtual
	x                          [maxColumns]reg.GPVirtual
	y, yRow, yStep             reg.GPVirtual
}

func (t *convolution) emit() {
	name := fmt.Sprintf("convolve%d%s", t.vectors, t.level.name)
	t.Function(name)
	t.SignatureExpr("func(rows int, taps *int32, count int, w, x *float32, xStep int, y *float32, yRow, yStep int)")
	t.Pragma("noescape")
	t.Doc(fmt.Sprintf("%s sets row r < rows of vector v < %d of y to the sum over the taps (a, b) of w[a+r] times vector v of x+b.", name, t.vectors),
		"rows is 8, 4 or 1; vectors lie xStep and yStep apart, rows of y yRow.")
	load := func(name string) reg.GPVirtual { return t.Load(t.Param(name), t.GP64()).(reg.GPVirtual) }
	rows, xStep := load("rows"), load("xStep")
	t.w, t.y, t.yRow, t.yStep = load("w"), load("y"), load("yRow"), load("yStep")
	t.x[0] = load("x")
	for _, step := range []reg.GPVirtual{xStep, t.yRow, t.yStep} {
		t.SHLQ(operand.Imm(float32s.shift), step)
	}
	for v := 1; v < t.vectors; v++ {
		t.x[v] = t.GP64()
		t.LEAQ(operand.Mem{Base: t.x[v-1], Index: xStep, Scale: 1}, t.x[v])
	}
	t.taps, t.left, t.weight, t.offset = t.GP64(), t.GP64(), t.GP64(), t.GP64()
	heights := []int{4, 1}
	if t.level.masks {
		heights = []int{8, 4, 1}
	}
	for _, h := range heights[1:] {
		t.CMPQ(rows, operand.Imm(uint64(h)))
		t.JEQ(operand.LabelRef(fmt.Sprintf("rows%d", h)))
	}
	for _, h := range heights {
		t.Label(fmt.Sprintf("rows%d", h))
		t.tile(h)
		t.VZEROUPPER()
		t.RET()
	}
}

func (t *convolution) accumulator(r, v int) reg.VecPhysical {
	return vector(t.level.bytes, r*t.vectors+v)
}

// tile computes and writes a tile of the given number of rows.
func (t *convolution) tile(rows int) {
	loop := fmt.Sprintf("taps%d", rows)
	t.Load(t.Param("taps"), t.taps)
	t.Load(t.Param("count"), t.left)
	for i := range rows * t.vectors {
		t.level.zero(t.Context, vector(t.level.bytes, i))
	}
	t.Label(loop)
	t.tap(rows)
	t.DECQ(t.left)
	t.JNZ(operand.LabelRef(loop))
	for r := range rows {
		t.MOVQ(t.y, t.offset)
		for v := range t.vectors {
			t.VMOVUPS(t.accumulator(r, v), operand.Mem{Base: t.offset})
			if v < t.vectors-1 {
				t.ADDQ(t.yStep, t.offset)
			}
		}
		t.ADDQ(t.yRow, t.y)
	}
}

// tap adds the products of one element of the kernel.
func (t *convolution) tap(rows int) {
	t.MOVLQSX(operand.Mem{Base: t.taps}, t.weight)
	t.MOVLQSX(operand.Mem{Base: t.taps, Disp: 4}, t.offset)
	t.ADDQ(operand.Imm(8), t.taps)
	x := func(v int) reg.VecPhysical { return vector(t.level.bytes, t.level.registers*3/4+v) }
	for v := range t.vectors {
		t.VMOVUPS(operand.Mem{Base: t.x[v], Index: t.offset, Scale: 4}, x(v))
	}
	scratch := vector(t.level.bytes, t.level.registers-1)
	for r := range rows {
		weight := operand.Mem{Base: t.w, Index: t.weight, Scale: 4, Disp: 4 * r}
		if t.level.masks && t.vectors == 1 {
			t.VFMADD231PS_BCST(weight, x(0), t.accumulator(r, 0))
			continue
		}
		t.VBROADCASTSS(weight, scratch)
		for v := range t.vectors {
			t.VFMADD231PS(scratch, x(v), t.accumulator(r, v))
		}
	}
}

// correlation is a tile of the gradients of a convolution's weights, which are sums
// of products of lines. Each is a register of partial sums until the end.
type correlation struct {
	*build.Context
	level level
	rows  int
	dy    [4]reg.GPVirtual
	x     [correlationTaps]reg.GPVirtual
	at    reg.GPVirtual // in the line
}

// correlationTaps is the number of weights in a row of a tile.
const correlationTaps = 4

// emitCorrelation emits the tile with as many rows as the registers hold.
func emitCorrelation(c *build.Context, l level) {
	t := &correlation{Context: c, level: l, rows: l.registers / 8}
	name := "correlate" + l.name
	c.Function(name)
	c.SignatureExpr("func(dst *float32, dstStep int, dy *float32, dyRow, dyLine, dyGroup int, x *float32, offsets *int32, xLine, xGroup int, cols, lines, groups int)")
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s adds to dst[i*dstStep+j], i < %d, j < %d, the products of dy[i*dyRow+…] and x[offsets[j]+…]", name, t.rows, correlationTaps),
		fmt.Sprintf("over cols numbers, a multiple of %d, of each of the lines of each of the groups.", l.bytes/4),
		"dyLine and xLine lead from line to line, dyGroup and xGroup from the end of a group's lines to the next group.")
	t.start()
	lines := c.GP64()
	c.Label("group")
	c.Load(c.Param("lines"), lines)
	c.Label("line")
	c.XORQ(t.at, t.at)
	c.Label("vector")
	t.vector()
	c.ADDQ(operand.U32(l.bytes), t.at)
	c.CMPQ(t.at, address(c, "cols"))
	c.JLT(operand.LabelRef("vector"))
	t.advance("dyLine", "xLine")
	c.DECQ(lines)
	c.JNZ(operand.LabelRef("line"))
	t.advance("dyGroup", "xGroup")
	c.DECQ(address(c, "groups"))
	c.JNZ(operand.LabelRef("group"))
	t.finish()
}

// start sets the pointers, clears the sums, and changes the steps among the
// parameters from elements to bytes.
func (t *correlation) start() {
	for _, name := range []string{"dstStep", "dyRow", "dyLine", "dyGroup", "xLine", "xGroup", "cols"} {
		t.SHLQ(operand.Imm(2), address(t.Context, name))
	}
	for i := range t.rows {
		t.dy[i] = t.GP64()
		if i == 0 {
			t.Load(t.Param("dy"), t.dy[0])
			continue
		}
		t.MOVQ(t.dy[i-1], t.dy[i])
		t.ADDQ(address(t.Context, "dyRow"), t.dy[i])
	}
	x, offsets, offset := t.GP64(), t.GP64(), t.GP64()
	t.Load(t.Param("x"), x)
	t.Load(t.Param("offsets"), offsets)
	for j := range t.x {
		t.x[j] = t.GP64()
		t.MOVLQSX(operand.Mem{Base: offsets, Disp: 4 * j}, offset)
		t.LEAQ(operand.Mem{Base: x, Index: offset, Scale: 4}, t.x[j])
	}
	for i := range t.rows * correlationTaps {
		t.level.zero(t.Context, vector(t.level.bytes, i))
	}
	t.at = t.GP64()
}

func (t *correlation) sum(i, j int) reg.VecPhysical {
	return vector(t.level.bytes, i*correlationTaps+j)
}

// vector adds the products of one vector of every line.
func (t *correlation) vector() {
	first := t.rows * correlationTaps
	for j, x := range t.x {
		t.VMOVUPS(operand.Mem{Base: x, Index: t.at, Scale: 1}, vector(t.level.bytes, first+j))
	}
	dy := vector(t.level.bytes, first+correlationTaps)
	for i := range t.rows {
		t.VMOVUPS(operand.Mem{Base: t.dy[i], Index: t.at, Scale: 1}, dy)
		for j := range t.x {
			t.VFMADD231PS(dy, vector(t.level.bytes, first+j), t.sum(i, j))
		}
	}
}

// advance moves every pointer by the steps of these names.
func (t *correlation) advance(dyStep, xStep string) {
	step := t.GP64()
	t.MOVQ(address(t.Context, dyStep), step)
	for i := range t.rows {
		t.ADDQ(step, t.dy[i])
	}
	t.MOVQ(address(t.Context, xStep), step)
	for _, x := range t.x {
		t.ADDQ(step, x)
	}
}

// finish sums the lanes of each register and adds the sums to dst. Adding neighbours
// twice turns four registers into one, whose two halves are added last.
func (t *correlation) finish() {
	dst := t.GP64()
	t.Load(t.Param("dst"), dst)
	for i := range t.rows {
		var four [correlationTaps]reg.VecPhysical
		for j := range four {
			four[j] = vector(32, i*correlationTaps+j)
			if t.level.bytes == 64 {
				upper := vector(32, 16)
				t.VEXTRACTF32X8(operand.Imm(1), t.sum(i, j), upper)
				t.VADDPS(upper, four[j], four[j])
			}
		}
		t.VHADDPS(four[1], four[0], four[0])
		t.VHADDPS(four[3], four[2], four[2])
		t.VHADDPS(four[2], four[0], four[0])
		low, high := vector(16, i*correlationTaps), vector(16, i*correlationTaps+1)
		t.VEXTRACTF128(operand.Imm(1), four[0], high)
		t.VADDPS(high, low, low)
		t.VADDPS(operand.Mem{Base: dst}, low, low)
		t.VMOVUPS(low, operand.Mem{Base: dst})
		t.ADDQ(address(t.Context, "dstStep"), dst)
	}
	t.VZEROUPPER()
	t.RET()
}

// emitMaxPool emits 2×2 pooling of interleaved images, with the bias and the
// ReLU that go with it, forward and backward: every vector is one pixel of eight images.
// With masks it takes half of the instructions forward; backward it writes, and is no faster.
func emitMaxPool(c *build.Context, l level, n numbers) {
	emitMaxPoolLoop(c, l, n, "maxPool", "func(y *float32, argmax *uint8, upper, lower *float32, pixels int, bias, floor float32)",
		"sets y to max(bias + largest of 2×2 pixels, floor), and argmax to the index 0…3 of the largest.", (*maxPool).forward)
	if l.masks {
		return
	}
	emitMaxPoolLoop(c, l, n, "maxPoolBackward", "func(y *float32, argmax *uint8, upper, lower *float32, pixels int, dy *float32, floor float32, sums *float32)",
		"sets upper and lower to the gradient of maxPool's input: dy at argmax where y > floor, else 0. It adds that dy to sums.", (*maxPool).backward)
}

// maxPool holds the registers of a loop over pooled pixels.
type maxPool struct {
	*build.Context
	y, argmax, upper, lower, dy reg.GPVirtual
	bias, floor, sums           reg.VecPhysical
	numbers                     numbers
	masks                       bool
}

func emitMaxPoolLoop(c *build.Context, l level, n numbers, name, signature, doc string, pixel func(*maxPool)) {
	c.Function(name + l.name)
	c.SignatureExpr(signature)
	c.Pragma("noescape")
	c.Doc(name + l.name + " " + doc)
	load := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	first := 13
	if l.neon {
		first -= 2 // which leaves two for what is in memory
	}
	p := &maxPool{c, load("y"), load("argmax"), load("upper"), load("lower"), nil, ymm[first], ymm[first+1], ymm[first+2], n, l.masks}
	left := load("pixels")
	c.VBROADCASTSS(address(c, "floor"), p.floor)
	backward := name == "maxPoolBackward"
	var sums reg.GPVirtual
	if backward {
		p.dy, sums = load("dy"), load("sums")
		c.VMOVUPS(operand.Mem{Base: sums}, p.sums)
	} else {
		c.VBROADCASTSS(address(c, "bias"), p.bias)
	}
	c.Label("pixel")
	pixel(p)
	c.ADDQ(operand.Imm(32), p.y)
	c.ADDQ(operand.Imm(8), p.argmax)
	c.ADDQ(operand.Imm(64), p.upper)
	c.ADDQ(operand.Imm(64), p.lower)
	if backward {
		c.ADDQ(operand.Imm(32), p.dy)
	}
	c.DECQ(left)
	c.JNZ(operand.LabelRef("pixel"))
	if backward {
		c.VMOVUPS(p.sums, operand.Mem{Base: sums})
	}
	c.VZEROUPPER()
	c.RET()
}

// corner is one of the four pixels of a window.
func (p *maxPool) corner(k int) operand.Mem {
	line := p.upper
	if k > 1 {
		line = p.lower
	}
	return operand.Mem{Base: line, Disp: 32 * (k % 2)}
}

// forward pools one window. A number replaces the best so far if it is larger or NaN,
// unless the best is NaN already.
func (p *maxPool) forward() {
	best, index, candidate, wins, ordered := ymm[0], ymm[1], ymm[2], ymm[3], ymm[4]
	p.VMOVUPS(p.corner(0), best)
	p.VXORPS(index, index, index)
	for k := 1; k < 4; k++ {
		p.VMOVUPS(p.corner(k), candidate)
		if p.masks {
			p.VCMPPS(operand.Imm(notLessEqual), best, candidate, reg.K1)
			p.VCMPPS(operand.Imm(isOrdered), best, best, reg.K1, reg.K2)
			p.VMOVAPS(candidate, reg.K2, best)
			p.VMOVDQA32(p.numbers.whole(float32s, uint64(k)), reg.K2, index)
			continue
		}
		p.VCMPPS(operand.Imm(notLessEqual), best, candidate, wins)
		p.VCMPPS(operand.Imm(isOrdered), best, best, ordered)
		p.VANDPS(ordered, wins, wins)
		p.VBLENDVPS(wins, candidate, best, best)
		p.VBLENDVPS(wins, p.numbers.whole(float32s, uint64(k)), index, index)
	}
	p.VADDPS(p.bias, best, best)
	p.VMAXPS(best, p.floor, best) // the first operand here if one is NaN
	p.VMOVUPS(best, operand.Mem{Base: p.y})
	p.VEXTRACTI128(operand.Imm(1), index, xmm[2])
	p.VPACKUSDW(xmm[2], xmm[1], xmm[1])
	p.VPACKUSWB(xmm[1], xmm[1], xmm[1])
	p.VMOVQ(xmm[1], operand.Mem{Base: p.argmax})
}

// backward spreads one pixel over its window.
func (p *maxPool) backward() {
	value, index, y, part := ymm[0], ymm[1], ymm[2], ymm[3]
	p.VMOVUPS(operand.Mem{Base: p.y}, y)
	p.VCMPPS(operand.Imm(notLessEqual), p.floor, y, y)
	p.VANDPS(operand.Mem{Base: p.dy}, y, value)
	p.VADDPS(value, p.sums, p.sums)
	p.VPMOVZXBD(operand.Mem{Base: p.argmax}, index)
	for k := range 4 {
		p.VPCMPEQD(p.numbers.whole(float32s, uint64(k)), index, part)
		p.VANDPS(value, part, part)
		p.VMOVUPS(part, p.corner(k))
	}
}
