package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains is the number of independent multiply-adds in one iteration: more than
// two ports with a latency of four cycles can have in flight.
const chains = 12

// emitPeak emits a loop of multiply-adds that never leaves the registers.
func emitPeak(c *build.Context, l level) {
	c.Function("spin" + l.name)
	c.SignatureExpr("func(iterations int)")
	c.Doc("spin" + l.name + " runs iterations·12 multiply-adds of whole vectors.")
	iterations := c.Load(c.Param("iterations"), c.GP64()).(reg.GPVirtual)
	for i := range chains + 1 {
		l.zero(c, vector(l.bytes, i))
	}
	c.Label("loop")
	for i := range chains {
		c.VFMADD231PS(vector(l.bytes, chains), vector(l.bytes, chains), vector(l.bytes, i))
	}
	c.DECQ(iterations)
	c.JNZ(operand.LabelRef("loop"))
	c.VZEROUPPER()
	c.RET()
}
