package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func dot(e element) *loop {
	return &loop{
		name: e.prefix + "dot", doc: "returns Σ x[i]·y[i].",
		signature: "func(x, y []%[1]s) %[1]s",
		elem:      e, slices: []string{"x", "y"}, work: 2, sums: 1,
		body: func(v *iteration) {
			v.load("x", v.r(0))
			v.load("y", v.r(1))
			e.fma(v.Context, v.r(0), v.r(1), v.sum(0))
		},
		finish: finishDot,
	}
}

var sum = &loop{
	name: "sum", doc: "returns Σ x[i].",
	signature: "func(x []%[1]s) %[1]s",
	elem:      float32s, slices: []string{"x"}, work: 1, sums: 1,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.VADDPS(v.r(0), v.sum(0), v.sum(0))
	},
	finish: finishDot,
}

// finishDot adds the accumulators and returns the sum of their lanes.
func finishDot(v *iteration) {
	v.u = 0
	total := v.sum(0)
	for v.u = 1; v.u < v.f.unrolls(v.l); v.u++ {
		v.f.elem.add(v.Context, v.sum(0), total, total)
	}
	v.u = 0
	v.sumLanes(0, 1)
	v.Store(vector(16, 0), v.ReturnIndex(0))
}

// sumLanes replaces the low lane of register i by the sum of all its lanes,
// always in the same order: halves, quarters, and so on. Register s is scratch.
func (v *iteration) sumLanes(i, s int) {
	add := v.f.elem.add
	if v.l.bytes == 64 {
		v.VEXTRACTF64X4(operand.Imm(1), vector(64, i), vector(32, s))
		add(v.Context, vector(32, s), vector(32, i), vector(32, i))
	}
	v.VEXTRACTF128(operand.Imm(1), vector(32, i), vector(16, s))
	add(v.Context, vector(16, s), vector(16, i), vector(16, i))
	if v.f.elem.bytes == 8 {
		v.VHADDPD(vector(16, i), vector(16, i), vector(16, i))
		return
	}
	v.VHADDPS(vector(16, i), vector(16, i), vector(16, i))
	v.VHADDPS(vector(16, i), vector(16, i), vector(16, i))
}

// distanceRows is the number of rows whose distances are summed at the same time.
const distanceRows = 4

// emitDistances emits the squared distances from one vector to many.
func emitDistances(c *build.Context, l level) {
	name := "squaredDistances" + l.name
	c.Function(name)
	c.SignatureExpr("func(dst, q, x []float32)")
	c.Pragma("noescape")
	c.Doc(fmt.Sprintf("%s sets dst[i] = |q - x_i|² for the rows x_i of x, which are as long as q.", name))
	d := &distances{iteration: iteration{Context: c, l: l, f: &loop{elem: float32s}}}
	d.dst = c.Load(c.Param("dst").Base(), c.GP64()).(reg.GPVirtual)
	d.rows = c.Load(c.Param("dst").Len(), c.GP64()).(reg.GPVirtual)
	d.x = c.Load(c.Param("x").Base(), c.GP64()).(reg.GPVirtual)
	d.q = c.Load(c.Param("q").Base(), c.GP64()).(reg.GPVirtual)
	d.cols = c.Load(c.Param("q").Len(), c.GP64()).(reg.GPVirtual)
	d.step = c.GP64()
	c.MOVQ(d.cols, d.step)
	c.SHLQ(operand.Imm(2), d.step)
	d.emitMask()
	d.emitRows("four", distanceRows)
	d.emitRows("one", 1)
	c.VZEROUPPER()
	c.RET()
}

// distances holds the registers of emitDistances.
type distances struct {
	iteration
	dst, rows, x, q, cols, step, whole reg.GPVirtual
}

// emitMask splits the columns into whole vectors (in bytes) and a masked tail.
func (d *distances) emitMask() {
	lanes := float32s.lanes(d.l.bytes)
	d.whole = d.GP64()
	rest := d.GP64()
	d.MOVQ(d.cols, rest)
	d.ANDQ(operand.U32(lanes-1), rest)
	d.MOVQ(d.cols, d.whole)
	d.SUBQ(rest, d.whole)
	d.SHLQ(operand.Imm(2), d.whole)
	d.mask().set(d.Context, rest)
}

// emitRows handles the given number of rows in each iteration while that many are left.
func (d *distances) emitRows(label string, rows int) {
	d.CMPQ(d.rows, operand.U32(rows))
	d.JL(operand.LabelRef(label + "Done"))
	d.Label(label)
	pointers := d.rowPointers(rows)
	for i := range rows {
		d.l.zero(d.Context, vector(d.l.bytes, i))
	}
	at := d.GP64()
	d.XORQ(at, at)
	d.TESTQ(d.whole, d.whole)
	d.JZ(operand.LabelRef(label + "Rest"))
	d.Label(label + "Columns")
	d.addColumns(pointers, at, false)
	d.ADDQ(operand.U32(d.l.bytes), at)
	d.CMPQ(at, d.whole)
	d.JL(operand.LabelRef(label + "Columns"))
	d.Label(label + "Rest")
	d.addColumns(pointers, at, true)
	d.finishRows(rows)
	d.LEAQ(operand.Mem{Base: pointers[rows-1], Index: d.step, Scale: 1}, d.x)
	d.ADDQ(operand.U32(4*rows), d.dst)
	d.SUBQ(operand.U32(rows), d.rows)
	d.CMPQ(d.rows, operand.U32(rows))
	d.JGE(operand.LabelRef(label))
	d.Label(label + "Done")
}

func (d *distances) rowPointers(rows int) []reg.GPVirtual {
	pointers := []reg.GPVirtual{d.x}
	for i := 1; i < rows; i++ {
		p := d.GP64()
		d.LEAQ(operand.Mem{Base: pointers[i-1], Index: d.step, Scale: 1}, p)
		pointers = append(pointers, p)
	}
	return pointers
}

// addColumns adds the squares of one vector of differences of every row.
func (d *distances) addColumns(rows []reg.GPVirtual, at reg.GPVirtual, masked bool) {
	load := func(base reg.GPVirtual, to reg.VecPhysical) {
		mem := operand.Mem{Base: base, Index: at, Scale: 1}
		if masked {
			d.mask().load(d.Context, mem, to)
			return
		}
		d.VMOVUPS(mem, to)
	}
	query := vector(d.l.bytes, distanceRows)
	load(d.q, query)
	for i, row := range rows {
		difference := vector(d.l.bytes, distanceRows+1+i)
		load(row, difference)
		d.VSUBPS(query, difference, difference)
		d.VFMADD231PS(difference, difference, vector(d.l.bytes, i))
	}
}

// finishRows writes the sums of the lanes of the accumulators.
func (d *distances) finishRows(rows int) {
	for i := range rows {
		d.sumLanes(i, distanceRows+1)
		d.VMOVSS(vector(16, i), operand.Mem{Base: d.dst, Disp: 4 * i})
	}
}
