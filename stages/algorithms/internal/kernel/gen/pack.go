package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitTranspose emits the packing loop that transposes a group of rows, as many
// as 16 bytes have elements.
func emitTranspose(c *build.Context, l level, e element) {
	group := e.lanes(16)
	name := e.prefix + "transpose" + l.name
	c.Function(name)
	c.SignatureExpr(fmt.Sprintf("func(dst *%[1]s, dstStep int, src *%[1]s, srcStep, blocks int)", e.name))
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s sets dst[p*dstStep+i] = src[i*srcStep+p] for i < %d and p < %d·blocks.", name, group, e.lanes(l.bytes)))
	load := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, dstStep, src, srcStep, blocks := load("dst"), load("dstStep"), load("src"), load("srcStep"), load("blocks")
	c.SHLQ(operand.Imm(e.shift), dstStep)
	c.SHLQ(operand.Imm(e.shift), srcStep)
	src3 := c.GP64()
	c.LEAQ(operand.Mem{Base: srcStep, Index: srcStep, Scale: 2}, src3)
	c.TESTQ(blocks, blocks)
	c.JZ(operand.LabelRef("done"))
	c.Label("loop")
	for i := range group {
		mem := operand.Mem{Base: src}
		switch i {
		case 1, 2:
			mem.Index, mem.Scale = srcStep, uint8(i)
		case 3:
			mem.Index, mem.Scale = src3, 1
		}
		e.move(c, mem, vector(l.bytes, i))
	}
	c.ADDQ(operand.Imm(uint64(l.bytes)), src)
	storeTransposed(c, l, e, dst, dstStep)
	c.DECQ(blocks)
	c.JNZ(operand.LabelRef("loop"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// storeTransposed transposes the first registers, as many as 16 bytes have elements, and writes each
// column where the last one was written and a step behind it.
func storeTransposed(c *build.Context, l level, e element, dst, step reg.GPVirtual) {
	columns := transposeLanes(c, l, e)
	for lane := range l.bytes / 16 {
		for _, column := range columns {
			storeLane(c, l, column, lane, operand.Mem{Base: dst})
			c.ADDQ(step, dst)
		}
	}
}

// transposeLanes transposes the small matrix in each 16-byte lane of the first
// registers, and returns the registers of its columns.
func transposeLanes(c *build.Context, l level, e element) []int {
	v := func(i int) reg.VecPhysical { return vector(l.bytes, i) }
	if e.bytes == 8 {
		c.VUNPCKLPD(v(1), v(0), v(4))
		c.VUNPCKHPD(v(1), v(0), v(5))
		return []int{4, 5}
	}
	c.VUNPCKLPS(v(1), v(0), v(4))
	c.VUNPCKHPS(v(1), v(0), v(5))
	c.VUNPCKLPS(v(3), v(2), v(6))
	c.VUNPCKHPS(v(3), v(2), v(7))
	c.VUNPCKLPD(v(6), v(4), v(8))
	c.VUNPCKHPD(v(6), v(4), v(9))
	c.VUNPCKLPD(v(7), v(5), v(10))
	c.VUNPCKHPD(v(7), v(5), v(11))
	return []int{8, 9, 10, 11}
}

// storeLane writes one 16-byte lane of register i.
func storeLane(c *build.Context, l level, i, lane int, to operand.Mem) {
	switch {
	case lane == 0:
		c.VMOVUPS(vector(16, i), to)
	case l.masks:
		c.VEXTRACTF32X4(operand.Imm(uint64(lane)), vector(l.bytes, i), to)
	default:
		c.VEXTRACTF128(operand.Imm(uint64(lane)), vector(l.bytes, i), to)
	}
}

// emitCopy emits the packing loop for rows that are contiguous already. It goes
// along each row, over all panels, which is the order in memory. It stores whole
// vectors, because masked stores are slow on AMD without AVX-512.
func emitCopy(c *build.Context, l level, e element) {
	name := e.prefix + "copy" + l.name
	c.Function(name)
	c.SignatureExpr(fmt.Sprintf("func(dst *%[1]s, dstStep, distance int, src *%[1]s, srcStep, width int, cols, k, panels int)", e.name))
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s sets dst[q*distance+p*dstStep+i] = src[p*srcStep+q*width+i] for i < cols <= %d, p < k and q < panels; k, panels > 0.", name, e.lanes(l.bytes)),
		"It writes whole vectors: what follows the cols elements of dst, up to a vector's length, is overwritten.")
	load := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	cols, width, distance := load("cols"), load("width"), load("distance")
	p := &copying{
		Context: c, mask: tailMask{l, e, l.bytes}, dst: load("dst"), src: load("src"),
		dstStep: load("dstStep"), srcStep: load("srcStep"), width: width, distance: distance, k: load("k"),
	}
	for _, step := range []reg.GPVirtual{p.dstStep, p.srcStep, width, distance} {
		c.SHLQ(operand.Imm(e.shift), step)
	}
	c.CMPQ(cols, operand.U32(e.lanes(l.bytes)))
	c.JEQ(operand.LabelRef("whole"))
	p.mask.set(c, cols)
	p.rows("part", p.mask.load)
	c.Label("whole")
	p.rows("full", func(c *build.Context, mem operand.Mem, to reg.VecPhysical) { e.move(c, mem, to) })
}

// copying holds the registers of emitCopy.
type copying struct {
	*build.Context
	mask                                           tailMask
	dst, src, dstStep, srcStep, width, distance, k reg.GPVirtual
}

// rows copies row after row, and returns.
func (p *copying) rows(label string, load func(*build.Context, operand.Mem, reg.VecPhysical)) {
	value := vector(p.mask.bytes, 0)
	to, from, left := p.GP64(), p.GP64(), p.GP64()
	p.Label(label + "Row")
	p.MOVQ(p.dst, to)
	p.MOVQ(p.src, from)
	p.Load(p.Param("panels"), left)
	p.Label(label + "Panel")
	load(p.Context, operand.Mem{Base: from}, value)
	p.mask.elem.move(p.Context, value, operand.Mem{Base: to})
	p.ADDQ(p.width, from)
	p.ADDQ(p.distance, to)
	p.DECQ(left)
	p.JNZ(operand.LabelRef(label + "Panel"))
	p.ADDQ(p.srcStep, p.src)
	p.ADDQ(p.dstStep, p.dst)
	p.DECQ(p.k)
	p.JNZ(operand.LabelRef(label + "Row"))
	p.VZEROUPPER()
	p.RET()
}
