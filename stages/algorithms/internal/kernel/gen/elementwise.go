package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// loop is a function that runs over slices of one length, vector by vector.
// Its registers are the constants and then, for every vector of an unrolled
// iteration, `sums` accumulators and `work` others. (Register maskV is the tail
// mask where there are no mask registers.)
type loop struct {
	name      string
	doc       string
	signature string // with %[1]s for the element type
	elem      element
	slices    []string // the first one gives the length
	constants []constant
	work      int
	sums      int // accumulators of every vector, zero before the loop
	numbers   numbers
	body      func(v *iteration)
	finish    func(v *iteration)
}

// constant is a register that is set before the loop: from the parameter param
// or, if that is empty, to a value. With byLane the parameter points to a pixel of
// interleaved images, which the register holds once or twice.
type constant struct {
	name, param string
	value       float64
	byLane      bool
}

// iteration emits the body of the loop for one vector of one iteration.
type iteration struct {
	*build.Context
	l      level
	f      *loop
	ptrs   map[string]reg.GPVirtual
	u      int  // which vector of the iteration
	masked bool // whether it is the tail, of less than a vector
}

// maxUnroll bounds the vectors of one iteration.
const maxUnroll = 4

// unrolls is the number of vectors of an iteration for which there are registers.
func (f *loop) unrolls(l level) int {
	free := l.registers - len(f.constants)
	if !l.masks {
		free -= l.registers - maskV
	}
	return max(1, min(maxUnroll, free/(f.work+f.sums)))
}

func (f *loop) constantIndex(name string) int {
	for i, k := range f.constants {
		if k.name == name {
			return i
		}
	}
	panic("no constant " + name)
}

// k is the register of a constant.
func (v *iteration) k(name string) reg.VecPhysical {
	return vector(v.l.bytes, v.f.constantIndex(name))
}

// real is an operand that holds x in every lane.
func (v *iteration) real(x float64) operand.Mem { return v.f.numbers.real(v.f.elem, x) }

// whole is an operand that holds the integer x in every lane.
func (v *iteration) whole(x uint64) operand.Mem { return v.f.numbers.whole(v.f.elem, x) }

// r is the i-th work register of the vector.
func (v *iteration) r(i int) reg.VecPhysical {
	return vector(v.l.bytes, len(v.f.constants)+v.u*(v.f.work+v.f.sums)+v.f.sums+i)
}

// sum is the i-th accumulator of the vector.
func (v *iteration) sum(i int) reg.VecPhysical {
	return vector(v.l.bytes, len(v.f.constants)+v.u*(v.f.work+v.f.sums)+i)
}

func (v *iteration) mask() tailMask { return tailMask{v.l, v.f.elem, v.l.bytes} }

func (v *iteration) mem(slice string) operand.Mem {
	return operand.Mem{Base: v.ptrs[slice], Disp: v.u * v.l.bytes}
}

// load reads the vector of a slice. Lanes past the slice's end become 0.
func (v *iteration) load(slice string, to reg.VecPhysical) {
	if v.masked {
		v.mask().load(v.Context, v.mem(slice), to)
		return
	}
	v.f.elem.move(v.Context, v.mem(slice), to)
}

// store writes the vector of a slice.
func (v *iteration) store(from reg.VecPhysical, slice string) {
	if v.masked {
		v.mask().store(v.Context, from, v.mem(slice))
		return
	}
	v.f.elem.move(v.Context, from, v.mem(slice))
}

// Predicates of comparisons. Those with "not" hold for NaN.
const (
	equal        = 0x00
	isOrdered    = 0x07
	lessThan     = 0x11
	notLess      = 0x15
	notLessEqual = 0x16
)

// keepWhere clears the lanes of x where the comparison of a with b does not hold.
// scratch may be overwritten.
func (v *iteration) keepWhere(predicate uint64, b operand.Op, a, x, scratch reg.VecPhysical) {
	if v.l.masks {
		k := compareMask(v.u)
		v.f.elem.compare(v.Context, operand.Imm(predicate), b, a, k)
		v.f.elem.moveZero(v.Context, x, k, x)
		return
	}
	v.f.elem.compare(v.Context, operand.Imm(predicate), b, a, scratch)
	v.VANDPS(scratch, x, x)
}

// replaceWhere copies from to x in the lanes of float64 where the comparison of a
// with b holds. scratch may be overwritten.
func (v *iteration) replaceWhere(predicate uint64, b operand.Op, a reg.VecPhysical, from operand.Op, x, scratch reg.VecPhysical) {
	if v.l.masks {
		k := compareMask(v.u)
		v.f.elem.compare(v.Context, operand.Imm(predicate), b, a, k)
		v.f.elem.move(v.Context, from, k, x)
		return
	}
	v.f.elem.compare(v.Context, operand.Imm(predicate), b, a, scratch)
	v.VBLENDVPD(scratch, from, x, x)
}

func compareMask(u int) reg.OpmaskPhysical {
	return []reg.OpmaskPhysical{reg.K2, reg.K3, reg.K4, reg.K5}[u]
}

// emit writes the function: unrolled iterations, then vector by vector, then
// the tail of less than a vector under a mask.
func (f *loop) emit(c *build.Context, l level, n numbers) {
	f.numbers = n
	name := f.name + l.name
	c.Function(name)
	c.SignatureExpr(fmt.Sprintf(f.signature, f.elem.name))
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s %s", name, f.doc))
	v := iteration{Context: c, l: l, f: f, ptrs: map[string]reg.GPVirtual{}}
	for _, s := range f.slices {
		v.ptrs[s] = c.Load(c.Param(s).Base(), c.GP64()).(reg.GPVirtual)
	}
	left := c.Load(c.Param(f.slices[0]).Len(), c.GP64()).(reg.GPVirtual)
	f.setConstants(c, l)
	unrolls := f.unrolls(l)
	for u := range unrolls * f.sums {
		v.u = u / f.sums
		l.zero(c, v.sum(u%f.sums))
	}
	lanes := f.elem.lanes(l.bytes)
	f.emitIterations(&v, left, "unrolled", unrolls, unrolls*lanes)
	if unrolls > 1 {
		f.emitIterations(&v, left, "vectors", 1, lanes)
	}
	c.TESTQ(left, left)
	c.JZ(operand.LabelRef("done"))
	v.u, v.masked = 0, true
	v.mask().set(c, left)
	f.body(&v)
	c.Label("done")
	if f.finish != nil {
		v.masked = false
		f.finish(&v)
	}
	c.VZEROUPPER()
	c.RET()
}

// emitIterations writes a loop that handles `elements` elements in each iteration
// while at least that many are left.
func (f *loop) emitIterations(v *iteration, n reg.GPVirtual, label string, vectors, elements int) {
	v.CMPQ(n, operand.U32(elements))
	v.JL(operand.LabelRef(label + "Done"))
	v.Label(label)
	for v.u = 0; v.u < vectors; v.u++ {
		f.body(v)
	}
	for _, s := range f.slices {
		v.ADDQ(operand.U32(elements*f.elem.bytes), v.ptrs[s])
	}
	v.SUBQ(operand.U32(elements), n)
	v.CMPQ(n, operand.U32(elements))
	v.JGE(operand.LabelRef(label))
	v.Label(label + "Done")
}

func (f *loop) setConstants(c *build.Context, l level) {
	for i, k := range f.constants {
		to := vector(l.bytes, i)
		switch {
		case k.byLane:
			l.loadPixel(c, c.Load(c.Param(k.param), c.GP64()).(reg.GPVirtual), i)
		case k.param != "":
			f.elem.broadcast(c, address(c, k.param), to)
		case k.value == 0:
			l.zero(c, to)
		default:
			f.elem.broadcast(c, f.numbers.real(f.elem, k.value), to)
		}
	}
}
