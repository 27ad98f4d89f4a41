package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pair is the two registers for one of 32 bytes, of which the first stands for its lower half.
func pair(op operand.Op) (low, high int) {
	i := int(op.(reg.VecPhysical).PhysicalIndex())
	return 2 * i, 2*i + 1
}

// halves are the registers for one of 16 or 32 bytes.
func halves(op operand.Op) []int {
	low, high := pair(op)
	if op.(reg.Register).Size() == half {
		return []int{low}
	}
	return []int{low, high}
}

// operands are the registers of a source as long as dst: those that stand for it, or others with
// what is in memory.
func (l *lowering) operands(op, dst operand.Op) []int {
	m, ok := op.(operand.Mem)
	if !ok {
		return halves(op)[:len(halves(dst))]
	}
	if m.Base == reg.StaticBase {
		l.needs.constants = true
		v := l.scratch()
		l.emit("FMOVQ %d(%s), F%d", l.offsets[m.Symbol.String()], rConstants, v)
		return []int{v, v}
	}
	v := []int{l.scratch()}
	if len(halves(dst)) == 2 {
		v = append(v, l.scratch())
	}
	l.load(m, v)
	return v
}

func (l *lowering) load(m operand.Mem, to []int) {
	if len(to) == 2 {
		l.emit("FLDPQ %s, (F%d, F%d)", l.at(m), to[0], to[1])
		return
	}
	l.emit("FMOVQ %s, F%d", l.at(m), to[0])
}

func (l *lowering) store(from []int, m operand.Mem) {
	if len(from) == 2 {
		l.emit("FSTPQ (F%d, F%d), %s", from[0], from[1], l.at(m))
		return
	}
	l.emit("FMOVQ F%d, %s", from[0], l.at(m))
}

// copyVector is d = n.
func (l *lowering) copyVector(d, n int) {
	if d != n {
		l.emit("%s", word("orr", lanes16b, d, n, n))
	}
}

// counterparts are the instructions of AVX2 that have one counterpart, without the letters that end them:
// d = m op n is written op n, m, d.
var counterparts = map[string]string{
	"VADD": "fadd", "VSUB": "fsub", "VMUL": "fmul", "VDIV": "fdiv", "VHADD": "faddp", "VAND": "and", "VOR": "orr",
	"VPADD": "add", "VPSUB": "sub", "VPCMPEQ": "cmeq", "VUNPCKL": "zip1", "VUNPCKH": "zip2",
}

// shapes are the lanes that the last letters of an instruction name.
var shapes = []struct {
	suffix string
	shape  shape
}{{"PS", lanes4s}, {"PD", lanes2d}, {"SS", lanes4s}, {"SD", lanes2d}, {"D", lanes4s}, {"Q", lanes2d}}

// vector rewrites an instruction on vectors.
func (l *lowering) vector(opcode string, ops []operand.Op) {
	switch opcode { // with names of their own
	case "VEXTRACTF128", "VEXTRACTI128":
		_, high := pair(ops[1])
		if m, ok := ops[2].(operand.Mem); ok {
			l.store([]int{high}, m)
		} else {
			l.copyVector(halves(ops[2])[0], high)
		}
		return
	case "VPACKUSDW", "VPACKUSWB":
		l.pack(opcode, ops)
		return
	case "VPMOVZXBD":
		low, high := pair(ops[1])
		l.emit("FMOVD %s, F%d", l.at(ops[0].(operand.Mem)), low)
		l.emit("%s", widen(lanes8h, lanes8b, low, low, false))
		l.emit("%s", widen(lanes4s, lanes8h, high, low, true))
		l.emit("%s", widen(lanes4s, lanes4h, low, low, false))
		return
	case "VMOVQ":
		l.emit("FMOVD F%d, %s", halves(ops[0])[0], l.at(ops[1].(operand.Mem)))
		return
	}
	for _, s := range shapes {
		if name, ok := strings.CutSuffix(opcode, s.suffix); ok {
			l.typed(name, s.shape, ops)
			return
		}
	}
	panic("no counterpart of " + opcode)
}

// typed rewrites an instruction whose lanes are known.
func (l *lowering) typed(name string, s shape, ops []operand.Op) {
	last := ops[len(ops)-1]
	if op, ok := counterparts[name]; ok {
		n, m, d := l.operands(ops[0], last), halves(ops[1]), halves(last)
		for h := range d {
			l.emit("%s", word(op, s, d[h], m[h], n[h]))
		}
		return
	}
	switch name {
	case "VMOVU", "VMOVA":
		l.moveVector(ops[0], ops[1])
	case "MOV", "VMOV":
		l.emit("%s F%d, %s", map[shape]string{lanes4s: "FMOVS", lanes2d: "FMOVD"}[s], halves(ops[0])[0], l.at(ops[1].(operand.Mem)))
	case "VXOR":
		for _, d := range halves(last) {
			l.emit("%s", clearVector(d))
		}
	case "VSQRT":
		for h, d := range halves(last) {
			l.emit("%s", word("fsqrt", s, d, halves(ops[0])[h]))
		}
	case "VBROADCAST":
		l.broadcast(s, ops[0].(operand.Mem), last)
	case "VFMADD231", "VFNMADD231":
		l.multiplyAdd(map[string]string{"VFMADD231": "fmla", "VFNMADD231": "fmls"}[name], s, ops)
	case "VFMADD213":
		l.multiplyInto(s, ops)
	case "VMIN", "VMAX":
		l.extreme(name, s, ops)
	case "VCMP":
		l.compare(s, ops)
	case "VBLENDV":
		mask, n, d := halves(ops[0]), l.operands(ops[1], last), halves(last)
		if ops[2] != last {
			panic("VBLENDV to another register")
		}
		for h := range d {
			l.emit("%s", word("bit", s, d[h], n[h], mask[h]))
		}
	case "VPSLL", "VPSRL":
		for h, d := range halves(last) {
			l.emit("%s", shift(map[string]string{"VPSLL": "shl", "VPSRL": "ushr"}[name], s, d, halves(ops[1])[h], immediate(ops[0])))
		}
	default:
		panic("no counterpart of " + name)
	}
}

func (l *lowering) moveVector(from, to operand.Op) {
	if m, ok := to.(operand.Mem); ok {
		l.store(halves(from), m)
		return
	}
	d := halves(to)
	if m, ok := from.(operand.Mem); ok && m.Base != reg.StaticBase {
		l.load(m, d)
		return
	}
	n := l.operands(from, to)
	for h := range d {
		l.copyVector(d[h], n[h])
	}
}

// broadcast sets every lane to a number in memory; that of elementRegister only the first, which
// multiplyAdd takes.
func (l *lowering) broadcast(s shape, m operand.Mem, to operand.Op) {
	low, high := pair(to)
	move := map[shape]string{lanes4s: "FMOVS", lanes2d: "FMOVD"}[s]
	switch {
	case m.Base == reg.StaticBase:
		l.moveVector(m, to)
		return
	case m.Index != nil && m.Scale == 1 && m.Disp == 0:
		l.emit("%s (%s)(%s), F%d", move, general[m.Base.Asm()], general[m.Index.Asm()], low)
	default:
		l.emit("%s %s, F%d", move, l.at(m), low)
	}
	if low != 2*elementRegister {
		l.emit("%s", dup(s, high, low))
		l.emit("%s", dup(s, low, low))
	}
}

// multiplyAdd is d += m·n. In the kernels that keep an element of a matrix in elementRegister it is
// the multiply-add by an element.
func (l *lowering) multiplyAdd(name string, s shape, ops []operand.Op) {
	m, d := halves(ops[1]), halves(ops[2])
	if v, ok := ops[0].(reg.VecPhysical); ok && v.PhysicalIndex() == elementRegister {
		for h := range d {
			l.emit("%s", fmlaElement(s, d[h], m[h], 2*elementRegister))
		}
		return
	}
	n := l.operands(ops[0], ops[2])
	for h := range d {
		l.emit("%s", word(name, s, d[h], m[h], n[h]))
	}
}

// multiplyInto is d = d·m + n.
func (l *lowering) multiplyInto(s shape, ops []operand.Op) {
	m, d := halves(ops[1]), halves(ops[2])
	n := l.operands(ops[0], ops[2])
	for h := range d {
		sum := l.scratch()
		l.copyVector(sum, n[h])
		l.emit("%s", word("fmla", s, sum, d[h], m[h]))
		l.copyVector(d[h], sum)
	}
}

// extreme is the smaller or larger of two, and the first operand if one of them is NaN.
func (l *lowering) extreme(name string, s shape, ops []operand.Op) {
	n, m, d := l.operands(ops[0], ops[2]), halves(ops[1]), halves(ops[2])
	wins := l.scratch()
	for h := range d {
		if name == "VMIN" {
			l.emit("%s", word("fcmgt", s, wins, n[h], m[h]))
		} else {
			l.emit("%s", word("fcmgt", s, wins, m[h], n[h]))
		}
		if d[h] == m[h] {
			l.emit("%s", word("bif", s, d[h], n[h], wins))
			continue
		}
		l.copyVector(d[h], n[h])
		l.emit("%s", word("bit", s, d[h], m[h], wins))
	}
}

// compare sets the bits of the lanes where m and n compare as the predicate says.
func (l *lowering) compare(s shape, ops []operand.Op) {
	n, m, d := l.operands(ops[1], ops[3]), halves(ops[2]), halves(ops[3])
	for h := range d {
		switch predicate := immediate(ops[0]); predicate {
		case equal, isOrdered: // a number is ordered if it equals itself
			if predicate == isOrdered && n[h] != m[h] {
				panic("two numbers are compared for order")
			}
			l.emit("%s", word("fcmeq", s, d[h], m[h], n[h]))
		case lessThan, notLess:
			l.emit("%s", word("fcmgt", s, d[h], n[h], m[h]))
		case notLessEqual:
			l.emit("%s", word("fcmge", s, d[h], n[h], m[h]))
		default:
			panic("no such predicate")
		}
		if p := immediate(ops[0]); p == notLess || p == notLessEqual {
			l.emit("%s", word("not", s, d[h], d[h]))
		}
	}
}

// pack halves the length of integers: those of the second operand, then those of the first.
func (l *lowering) pack(opcode string, ops []operand.Op) {
	n, m, d := halves(ops[0])[0], halves(ops[1])[0], halves(ops[2])[0]
	to, from := lanes4h, lanes4s
	if opcode == "VPACKUSWB" {
		to, from = lanes8b, lanes8h
	}
	sum := l.scratch()
	l.emit("%s", narrow(to, from, sum, m, false))
	upper := map[shape]shape{lanes4h: lanes8h, lanes8b: lanes16b}[to]
	l.emit("%s", narrow(upper, from, sum, n, true))
	l.copyVector(d, sum)
}
