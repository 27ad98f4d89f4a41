package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitZip emits the loop that makes rows of four columns.
func emitZip(c *build.Context, l level) {
	e, name := float32s, "zip"+l.name
	c.Function(name)
	c.SignatureExpr("func(dst *float32, width int, a, b, c, d *float32, blocks int)")
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s sets dst[i*width:][:4] = a[i], b[i], c[i], d[i] for i < %d·blocks.", name, e.lanes(l.bytes)))
	load := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, width, blocks := load("dst"), load("width"), load("blocks")
	columns := []reg.GPVirtual{load("a"), load("b"), load("c"), load("d")}
	c.SHLQ(operand.Imm(e.shift), width)
	c.TESTQ(blocks, blocks)
	c.JZ(operand.LabelRef("done"))
	c.Label("loop")
	for i, column := range columns {
		e.move(c, operand.Mem{Base: column}, vector(l.bytes, i))
		c.ADDQ(operand.Imm(uint64(l.bytes)), column)
	}
	storeTransposed(c, l, e, dst, width)
	c.DECQ(blocks)
	c.JNZ(operand.LabelRef("loop"))
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}

// streamed is how many bytes emitStream copies at a time.
const streamed = 256

// emitStream emits the copy that leaves the processor's caches to what is in them.
func emitStream(c *build.Context, l level) {
	name := "stream" + l.name
	c.Function(name)
	c.SignatureExpr("func(dst, src *float32, blocks int)")
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s sets dst[i] = src[i] for i < %d·blocks. dst is a multiple of %d.", name, streamed/4, l.bytes))
	load := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	dst, src, blocks := load("dst"), load("src"), load("blocks")
	c.TESTQ(blocks, blocks)
	c.JZ(operand.LabelRef("done"))
	c.Label("loop")
	for i := range streamed / l.bytes {
		c.VMOVUPS(operand.Mem{Base: src, Disp: i * l.bytes}, vector(l.bytes, i))
	}
	for i := range streamed / l.bytes {
		c.VMOVNTPS(vector(l.bytes, i), operand.Mem{Base: dst, Disp: i * l.bytes})
	}
	c.ADDQ(operand.U32(streamed), src)
	c.ADDQ(operand.U32(streamed), dst)
	c.DECQ(blocks)
	c.JNZ(operand.LabelRef("loop"))
	c.SFENCE()
	c.Label("done")
	c.VZEROUPPER()
	c.RET()
}
