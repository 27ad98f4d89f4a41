package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// poolGroup is the number of windows that are pooled together: the numbers in
// 16 bytes, within which evens and odds part without crossing lanes.
const poolGroup = 4

// pool holds the registers of a loop over lines of 2×2 windows.
type pool struct {
	*build.Context
	pooled, argmax, upper, lower reg.GPVirtual
	numbers                      numbers
}

// emitPool emits 2×2 pooling, forward and backward.
func emitPool(c *build.Context, l level, n numbers) {
	emitPoolLines(c, l, n, "maxPool", "sets pooled and argmax to the largest numbers of 2×2 windows and their places.", (*pool).forward)
	emitPoolLines(c, l, n, "maxPoolBackward", "writes pooled to the places argmax of 2×2 windows of full and 0 to the others.", (*pool).backward)
}

func emitPoolLines(c *build.Context, l level, n numbers, name, doc string, group func(*pool)) {
	c.Function(name + l.name)
	c.SignatureExpr("func(pooled *float32, argmax *uint8, full *float32, width, groups, lines int)")
	c.Pragma("noescape")
	c.Doc(name+l.name+" "+doc,
		"It handles lines of 4·groups windows; lines of full are width long, and lines of pooled and argmax width/2.")
	load := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	p := &pool{c, load("pooled"), load("argmax"), load("full"), c.GP64(), n}
	width, groups, lines := load("width"), load("groups"), load("lines")
	left := c.GP64()
	c.LEAQ(operand.Mem{Base: p.upper, Index: width, Scale: 4}, p.lower)
	// The way from the last window of a line to the first of the next: half
	// and full are width/2 - 4·groups and twice width - 4·groups.
	half, full := c.GP64(), c.GP64()
	c.MOVQ(groups, left)
	c.SHLQ(operand.Imm(2), left)
	c.MOVQ(width, half)
	c.SHRQ(operand.Imm(1), half)
	c.SUBQ(left, half)
	c.MOVQ(width, full)
	c.SUBQ(left, full)
	c.ADDQ(full, full)
	c.Label("line")
	c.MOVQ(groups, left)
	c.Label("group")
	group(p)
	c.ADDQ(operand.Imm(4*poolGroup), p.pooled)
	c.ADDQ(operand.Imm(poolGroup), p.argmax)
	c.ADDQ(operand.Imm(8*poolGroup), p.upper)
	c.ADDQ(operand.Imm(8*poolGroup), p.lower)
	c.DECQ(left)
	c.JNZ(operand.LabelRef("group"))
	c.LEAQ(operand.Mem{Base: p.pooled, Index: half, Scale: 4}, p.pooled)
	c.ADDQ(half, p.argmax)
	c.LEAQ(operand.Mem{Base: p.upper, Index: full, Scale: 4}, p.upper)
	c.LEAQ(operand.Mem{Base: p.lower, Index: full, Scale: 4}, p.lower)
	c.DECQ(lines)
	c.JNZ(operand.LabelRef("line"))
	c.RET()
}

// forward pools four windows. A number replaces the best so far if it is
// larger or NaN, unless the best is NaN already.
func (p *pool) forward() {
	best, place, candidate, wins, ordered := xmm[0], xmm[1], xmm[2], xmm[3], xmm[4]
	first, second := xmm[5], xmm[6]
	const evens, odds, isOrdered = 0x88, 0xdd, 0x07
	for k, line := range []reg.GPVirtual{p.upper, p.upper, p.lower, p.lower} {
		if k%2 == 0 {
			p.VMOVUPS(operand.Mem{Base: line}, first)
			p.VMOVUPS(operand.Mem{Base: line, Disp: 16}, second)
		}
		if k == 0 {
			p.VSHUFPS(operand.Imm(evens), second, first, best)
			p.VXORPS(place, place, place)
			continue
		}
		p.VSHUFPS(operand.Imm([]uint64{evens, odds}[k%2]), second, first, candidate)
		p.VCMPPS(operand.Imm(notLessEqual), best, candidate, wins)
		p.VCMPPS(operand.Imm(isOrdered), best, best, ordered)
		p.VANDPS(ordered, wins, wins)
		p.VBLENDVPS(wins, candidate, best, best)
		p.VBLENDVPS(wins, p.numbers.whole(float32s, uint64(k)), place, place)
	}
	p.VMOVUPS(best, operand.Mem{Base: p.pooled})
	p.VPACKUSDW(place, place, place)
	p.VPACKUSWB(place, place, place)
	p.VMOVD(place, operand.Mem{Base: p.argmax})
}

// backward spreads four numbers over their windows.
func (p *pool) backward() {
	value, place, a, b, c := xmm[0], xmm[1], xmm[2], xmm[3], xmm[4]
	p.VMOVUPS(operand.Mem{Base: p.pooled}, value)
	p.VPMOVZXBD(operand.Mem{Base: p.argmax}, place)
	for k, line := range []reg.GPVirtual{p.upper, p.lower} {
		for i, part := range []reg.VecPhysical{a, b} {
			p.VPCMPEQD(p.numbers.whole(float32s, uint64(2*k+i)), place, part)
			p.VANDPS(value, part, part)
		}
		p.VUNPCKLPS(b, a, c)
		p.VMOVUPS(c, operand.Mem{Base: line})
		p.VUNPCKHPS(b, a, c)
		p.VMOVUPS(c, operand.Mem{Base: line, Disp: 16})
	}
}
