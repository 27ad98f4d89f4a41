package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitLines emits the loops over a rectangle of an image: copying it and
// adding it to another.
func emitLines(c *build.Context, l level) {
	emitRectangle(c, l, "copyLines", "sets dst[i*dstStep+j] = src[i*srcStep+j] for i < lines and j < cols.", false)
	emitRectangle(c, l, "addLines", "adds src[i*srcStep+j] to dst[i*dstStep+j] for i < lines and j < cols.", true)
}

// rectangle holds the registers of a loop over lines.
type rectangle struct {
	*build.Context
	dst, src, at reg.GPVirtual
	add          bool
}

func emitRectangle(c *build.Context, l level, name, doc string, add bool) {
	c.Function(name + l.name)
	c.SignatureExpr("func(dst *float32, dstStep int, src *float32, srcStep, cols, lines int)")
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s%s %s", name, l.name, doc))
	load := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dstStep, srcStep, cols, lines := load("dstStep"), load("srcStep"), load("cols"), load("lines")
	r := &rectangle{c, load("dst"), load("src"), c.GP64(), add}
	for _, x := range []reg.GPVirtual{dstStep, srcStep, cols} {
		c.SHLQ(operand.Imm(float32s.shift), x)
	}
	c.TESTQ(lines, lines)
	c.JZ(operand.LabelRef("done"))
	c.Label("line")
	r.line(l, cols)
	c.ADDQ(srcStep, r.src)
	c.ADDQ(dstStep, r.dst)
	c.DECQ(lines)
	c.JNZ(operand.LabelRef("line"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// line handles one line of so many bytes: whole vectors, and then, at most
// once each, vectors of half the size before. Lines are short and neighbours
// overlap in memory, where masked stores would stall the loads that follow.
func (r *rectangle) line(l level, bytes reg.GPVirtual) {
	left := r.GP64()
	r.XORQ(r.at, r.at)
	r.MOVQ(bytes, left)
	r.SUBQ(operand.U32(l.bytes), left)
	r.JL(operand.LabelRef("rest"))
	r.Label("vector")
	r.piece(l.bytes)
	r.SUBQ(operand.U32(l.bytes), left)
	r.JGE(operand.LabelRef("vector"))
	r.Label("rest") // the low bits of left are still those of the rest
	for size := l.bytes / 2; size >= float32s.bytes; size /= 2 {
		skip := fmt.Sprintf("skip%d", size)
		r.TESTQ(operand.U32(size), left)
		r.JZ(operand.LabelRef(skip))
		r.piece(size)
		r.Label(skip)
	}
}

// piece handles the next so many bytes of a line.
func (r *rectangle) piece(bytes int) {
	dst, src := operand.Mem{Base: r.dst, Index: r.at, Scale: 1}, operand.Mem{Base: r.src, Index: r.at, Scale: 1}
	value, old := vector(bytes, 0), vector(bytes, 1)
	move := func(from, to operand.Op) {
		switch bytes {
		case 8:
			r.VMOVSD(from, to)
		case 4:
			r.VMOVSS(from, to)
		default:
			r.VMOVUPS(from, to)
		}
	}
	move(src, value)
	if r.add {
		move(dst, old)
		r.VADDPS(old, value, value)
	}
	move(value, dst)
	r.ADDQ(operand.U32(bytes), r.at)
}
