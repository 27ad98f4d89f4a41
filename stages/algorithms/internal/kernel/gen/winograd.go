package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transform is a small matrix that turns lines into others: line i of dst is the sum over j
// of rows[i][j] times line j of src.
type transform struct {
	name string
	doc  string
	rows [][]float64
	adds bool // to dst, which is else replaced
}

// The matrices of Winograd's algorithm: see package kernel.
var (
	winogradB = [][]float64{
		{4, 0, -5, 0, 1, 0},
		{0, -4, -4, 1, 1, 0},
		{0, 4, -4, -1, 1, 0},
		{0, -2, -1, 2, 1, 0},
		{0, 2, -1, -2, 1, 0},
		{0, 4, 0, -5, 0, 1},
	}
	winogradA2 = [][]float64{
		{1, 1, 1, 1, 1, 0},
		{0, 1, -1, 2, -2, 1},
	}
	winogradA4 = [][]float64{
		{1, 1, 1, 1, 1, 0},
		{0, 1, -1, 2, -2, 0},
		{0, 1, 1, 4, 4, 0},
		{0, 1, -1, 8, -8, 1},
	}
)

func transposed(m [][]float64) [][]float64 {
	t := make([][]float64, len(m[0]))
	for _, row := range m {
		for j, v := range row {
			t[j] = append(t[j], v)
		}
	}
	return t
}

var transforms = []transform{
	{"winogradInput", "sets the six lines of each block of dst to Bᵀ times the six of src.", winogradB, false},
	{"winogradInputBack", "adds B times the six lines of each block of src to the six of dst.", transposed(winogradB), true},
	{"winogradTwo", "sets the two lines of each block of dst to Aᵀ times the six of src.", winogradA2, false},
	{"winogradTwoBack", "sets the six lines of each block of dst to A times the two of src.", transposed(winogradA2), false},
	{"winogradFour", "sets the four lines of each block of dst to Aᵀ times the six of src.", winogradA4, false},
	{"winogradFourBack", "sets the six lines of each block of dst to A times the four of src.", transposed(winogradA4), false},
}

func emitTransforms(c *build.Context, l level) {
	n := numbers{}
	for _, t := range transforms {
		(&transformer{Context: c, transform: t, level: l, numbers: n}).emit()
	}
	n.emit(c, l)
}

type transformer struct {
	*build.Context
	transform
	level    level
	numbers  numbers
	dst, src lineAddress
}

// lineAddress is where the lines of a block are: line j is j steps behind the first.
type lineAddress struct{ first, step, step3, step5 reg.GPVirtual }

func (a lineAddress) line(j int) operand.Mem {
	switch j {
	case 0:
		return operand.Mem{Base: a.first}
	case 3:
		return operand.Mem{Base: a.first, Index: a.step3, Scale: 1}
	case 5:
		return operand.Mem{Base: a.first, Index: a.step5, Scale: 1}
	}
	return operand.Mem{Base: a.first, Index: a.step, Scale: uint8(j)}
}

func (t *transformer) emit() {
	name := t.name + t.level.name
	t.Function(name)
	t.SignatureExpr("func(dst *float32, dstLine, dstBlock int, src *float32, srcLine, srcBlock int, length, blocks int)")
	t.Pragma("noescape")
	t.Doc(name + " " + t.doc)
	for _, p := range []string{"dstLine", "dstBlock", "srcLine", "srcBlock", "length"} {
		t.SHLQ(operand.Imm(float32s.shift), address(t.Context, p))
	}
	t.dst, t.src = t.address("dst", len(t.rows)), t.address("src", len(t.rows[0]))
	left, rest := t.GP64(), t.GP64()
	t.Load(t.Param("length"), rest)
	for _, p := range []string{"dstBlock", "srcBlock"} { // from the end of a block's first line
		t.SUBQ(rest, address(t.Context, p))
	}
	t.Label("block")
	t.Load(t.Param("length"), left)
	t.Label("vector")
	t.vector()
	t.ADDQ(operand.U32(uint32(t.level.bytes)), t.src.first)
	t.ADDQ(operand.U32(uint32(t.level.bytes)), t.dst.first)
	t.SUBQ(operand.U32(uint32(t.level.bytes)), left)
	t.JNZ(operand.LabelRef("vector"))
	t.ADDQ(address(t.Context, "srcBlock"), t.src.first)
	t.ADDQ(address(t.Context, "dstBlock"), t.dst.first)
	t.DECQ(address(t.Context, "blocks"))
	t.JNZ(operand.LabelRef("block"))
	t.VZEROUPPER()
	t.RET()
}

func (t *transformer) address(name string, lines int) lineAddress {
	load := func(name string) reg.GPVirtual { return t.Load(t.Param(name), t.GP64()).(reg.GPVirtual) }
	a := lineAddress{first: load(name), step: load(name + "Line")}
	if lines > 3 {
		a.step3, a.step5 = t.GP64(), t.GP64()
		t.LEAQ(operand.Mem{Base: a.step, Index: a.step, Scale: 2}, a.step3)
		t.LEAQ(operand.Mem{Base: a.step, Index: a.step, Scale: 4}, a.step5)
	}
	return a
}

// vector computes one vector of every line.
func (t *transformer) vector() {
	columns := len(t.rows[0])
	for j := range columns {
		t.VMOVUPS(t.src.line(j), vector(t.level.bytes, j))
	}
	for i, row := range t.rows {
		sum := vector(t.level.bytes, columns+i)
		t.sum(sum, i, row)
		t.VMOVUPS(sum, t.dst.line(i))
	}
}

// sum sets a register to a row of the matrix times the sources.
func (t *transformer) sum(sum reg.VecPhysical, i int, row []float64) {
	first := -1
	if t.adds {
		t.VMOVUPS(t.dst.line(i), sum)
	} else {
		for j, v := range row {
			if v == 1 || v != 0 && first < 0 {
				first = j
			}
		}
		x := vector(t.level.bytes, first)
		if row[first] == 1 {
			t.VMOVAPS(x, sum)
		} else {
			t.VMULPS(t.numbers.real(float32s, row[first]), x, sum)
		}
	}
	for j, v := range row {
		if j == first || v == 0 {
			continue
		}
		x := vector(t.level.bytes, j)
		switch {
		case v == 1:
			t.VADDPS(x, sum, sum)
		case v == -1:
			t.VSUBPS(x, sum, sum)
		case v > 0:
			t.VFMADD231PS(t.numbers.real(float32s, v), x, sum)
		default:
			t.VFNMADD231PS(t.numbers.real(float32s, math.Abs(v)), x, sum)
		}
	}
}
