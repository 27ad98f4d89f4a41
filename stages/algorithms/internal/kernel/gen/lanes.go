package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The loops of normalisation run over pixels of interleaved images. A pixel of eight
// images fills 32 bytes, so a larger register holds two pixels.
const pixelBytes = 32

// loadPixel sets register i to the pixel at p, once or twice.
func (l level) loadPixel(c *build.Context, p reg.GPVirtual, i int) {
	if l.bytes == 2*pixelBytes {
		c.VBROADCASTF32X8(operand.Mem{Base: p}, vector(l.bytes, i))
		return
	}
	c.VMOVUPS(operand.Mem{Base: p}, vector(l.bytes, i))
}

// byLane are constants that are set from the pixels of the same names.
func byLane(names ...string) []constant {
	all := parameters(names...)
	for i := range all {
		all[i].byLane = true
	}
	return all
}

// addPixels ends a loop: it adds the i-th accumulator to the pixel that the parameter
// names[i] points to.
func addPixels(names ...string) func(v *iteration) {
	return func(v *iteration) {
		for i, name := range names {
			v.u = 0
			total := v.sum(i)
			for v.u = 1; v.u < v.f.unrolls(v.l); v.u++ {
				v.VADDPS(v.sum(i), total, total)
			}
			v.u = 0
			v.addPixel(i, name)
		}
	}
}

// addPixel adds the i-th accumulator of the first vector to a pixel.
func (v *iteration) addPixel(i int, name string) {
	at := len(v.f.constants) + i
	low, scratch := vector(pixelBytes, at), vector(pixelBytes, len(v.f.constants)+v.f.sums)
	if v.l.bytes == 2*pixelBytes {
		v.VEXTRACTF32X8(operand.Imm(1), vector(v.l.bytes, at), scratch)
		v.VADDPS(scratch, low, low)
	}
	p := operand.Mem{Base: v.Load(v.Param(name), v.GP64()).(reg.GPVirtual)}
	v.VADDPS(p, low, low)
	v.VMOVUPS(low, p)
}

var pixelSums = &loop{
	name: "pixelSums", doc: "adds the pixels of x to sum.",
	signature: "func(x []%[1]s, sum *%[1]s)",
	elem:      float32s, slices: []string{"x"}, work: 1, sums: 1,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.VADDPS(v.r(0), v.sum(0), v.sum(0))
	},
	finish: addPixels("sum"),
}

// A tail of one pixel leaves the upper half of a register, which is 0 then, without
// weight: its mean is subtracted from nothing.
var pixelSquares = &loop{
	name: "pixelSquares", doc: "adds the squares of x - mean to sum, pixel by pixel.",
	signature: "func(x []%[1]s, mean, sum *%[1]s)",
	elem:      float32s, slices: []string{"x"},
	constants: byLane("mean"), work: 1, sums: 1,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.subtract("mean", v.r(0))
		v.VFMADD231PS(v.r(0), v.r(0), v.sum(0))
	},
	finish: addPixels("sum"),
}

// subtract subtracts a constant from x, but leaves the lanes past the end of a tail 0.
func (v *iteration) subtract(name string, x reg.VecPhysical) {
	if v.masked && v.l.masks {
		v.VSUBPS_Z(v.k(name), x, maskK, x)
		return
	}
	v.VSUBPS(v.k(name), x, x)
}

var normalise = &loop{
	name: "normalise", doc: "sets y = max((x - mean)*scale + offset, floor), pixel by pixel.",
	signature: "func(y, x []%[1]s, mean, scale, offset *%[1]s, floor %[1]s)",
	elem:      float32s, slices: []string{"y", "x"},
	constants: append(byLane("mean", "scale", "offset"), parameters("floor")...), work: 1,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.VSUBPS(v.k("mean"), v.r(0), v.r(0))
		v.VFMADD213PS(v.k("offset"), v.k("scale"), v.r(0))
		v.VMAXPS(v.r(0), v.k("floor"), v.r(0))
		v.store(v.r(0), "y")
	},
}

var normaliseSums = &loop{
	name: "normaliseSums", doc: "sets dy = 0 where y <= floor, and adds dy to sum and dy*(x - mean) to product, pixel by pixel.",
	signature: "func(dy, y, x []%[1]s, mean *%[1]s, floor %[1]s, sum, product *%[1]s)",
	elem:      float32s, slices: []string{"dy", "y", "x"},
	constants: append(byLane("mean"), parameters("floor")...), work: 3, sums: 2,
	body: func(v *iteration) {
		v.load("dy", v.r(0))
		v.load("y", v.r(1))
		v.load("x", v.r(2))
		v.keepWhere(notLessEqual, v.k("floor"), v.r(1), v.r(0), v.r(1))
		v.store(v.r(0), "dy")
		v.VADDPS(v.r(0), v.sum(0), v.sum(0))
		v.VSUBPS(v.k("mean"), v.r(2), v.r(2))
		v.VFMADD231PS(v.r(0), v.r(2), v.sum(1))
	},
	finish: addPixels("sum", "product"),
}

var normaliseBackward = &loop{
	name: "normaliseBackward", doc: "sets dx = dy*scale + (x - mean)*slope + offset, pixel by pixel.",
	signature: "func(dx, dy, x []%[1]s, mean, scale, slope, offset *%[1]s)",
	elem:      float32s, slices: []string{"dx", "dy", "x"},
	constants: byLane("mean", "scale", "slope", "offset"), work: 2,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.load("dy", v.r(1))
		v.VSUBPS(v.k("mean"), v.r(0), v.r(0))
		v.VFMADD213PS(v.k("offset"), v.k("slope"), v.r(0))
		v.VFMADD231PS(v.k("scale"), v.r(1), v.r(0))
		v.store(v.r(0), "dx")
	},
}
