package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels are described once, in instructions of AVX2, and NEON is a back end that rewrites
// these: a register of 32 bytes is a pair of registers of 16, so that there are 16 of them as well,
// and every lane of every kernel is computed in the same order with the same roundings.
//
// AVX2 works on halves of 16 bytes where it moves lanes, so each half is rewritten alone. What NEON
// has otherwise is said in the descriptions: no masks, for which the instructions below stand.
const (
	tailCount = "TAILCOUNT" // n: the elements of the tails that follow
	tailLoad  = "TAILLOAD"  // memory, vector: its first n elements, and 0
	tailStore = "TAILSTORE" // vector, memory
)

// tail adds one of these instructions, with the size of an element.
func tail(c *build.Context, opcode string, e element, ops ...operand.Op) {
	i := &ir.Instruction{Opcode: opcode, Operands: append(ops, operand.Imm(uint64(e.bytes))), Inputs: ops}
	if opcode == tailLoad {
		i.Inputs, i.Outputs = ops[:1], ops[1:]
	}
	c.Instruction(i)
}

// Registers that no register of amd64 stands for: an address, a number, three for tails, and the
// address of the constants.
const (
	rAddress, rNumber   = "R16", "R17"
	rTo, rLeft, rMove   = "R19", "R20", "R21"
	rConstants          = "R22"
	constants           = "constants<>"
	tailScratch, tailN  = "scratch-32(SP)", "count-40(SP)"
	tailFrame           = 48
	elementRegister     = 15 // see lowering.multiplyAdd
	registerPairs, half = 16, 16
)

// general are the registers for those of amd64.
var general = map[string]string{
	"AX": "R0", "CX": "R1", "DX": "R2", "BX": "R3", "SI": "R4", "DI": "R5", "BP": "R6", "R8": "R7",
	"R9": "R8", "R10": "R9", "R11": "R10", "R12": "R11", "R13": "R12", "R14": "R13", "R15": "R14",
}

// lowering rewrites a file.
type lowering struct {
	bytes.Buffer
	offsets map[string]int // of constants, by name
	code    []string       // of the function
	spare   []int          // registers that the function does not name
	taken   int            // spare ones in use by an instruction
	result  string         // register with what the last instruction computed, or "" after a comparison
	address string         // what rAddress holds
	tails   int
	needs   struct{ constants, frame bool }
}

// printNEON returns a file of assembly for arm64.
func printNEON(f *ir.File, header string) []byte {
	l := &lowering{offsets: map[string]int{}}
	fmt.Fprintf(l, "// %s\n\n#include \"textflag.h\"\n", header)
	var globals []*ir.Global
	for _, s := range f.Sections {
		if g, ok := s.(*ir.Global); ok {
			l.offsets[g.Symbol.String()] = half * len(globals)
			globals = append(globals, g)
		}
	}
	for _, fn := range f.Functions() {
		l.function(fn)
	}
	for i, g := range globals {
		for at := 0; at < half; at += 8 {
			fmt.Fprintf(l, "\nDATA %s+%d(SB)/8, %s", constants, half*i+at, g.Data[at/8].Value.Asm())
		}
	}
	if len(globals) > 0 {
		fmt.Fprintf(l, "\nGLOBL %s(SB), RODATA|NOPTR, $%d\n", constants, half*len(globals))
	}
	return l.Bytes()
}

func (l *lowering) function(fn *ir.Function) {
	l.code, l.needs.constants, l.needs.frame, l.tails = nil, false, false, 0
	l.findSpare(fn)
	l.forget()
	for _, n := range fn.Nodes {
		switch n := n.(type) {
		case ir.Label:
			l.forget()
			l.code = append(l.code, string(n)+":")
		case *ir.Instruction:
			l.taken = 0
			l.instruction(n)
			l.forgetWritten(n)
		}
	}
	frame := 0
	if l.needs.frame {
		frame = tailFrame
	}
	fmt.Fprintf(l, "\n// %s\nTEXT ·%s(SB), $%d-%d\n", fn.Stub(), fn.Name, frame, fn.ArgumentBytes())
	if l.needs.constants {
		fmt.Fprintf(l, "\tMOVD $%s(SB), %s\n", constants, rConstants)
	}
	for _, c := range l.code {
		if !strings.HasSuffix(c, ":") {
			c = "\t" + c
		}
		fmt.Fprintln(l, c)
	}
}

// findSpare finds the pairs of registers that the function leaves for what its instructions need.
func (l *lowering) findSpare(fn *ir.Function) {
	var used [registerPairs]bool
	for _, i := range fn.Instructions() {
		for _, r := range i.Registers() {
			if v, ok := r.(reg.VecPhysical); ok {
				used[v.PhysicalIndex()] = true
			}
		}
	}
	l.spare = nil
	for i := registerPairs - 1; i >= 0; i-- {
		if !used[i] {
			l.spare = append(l.spare, 2*i, 2*i+1)
		}
	}
}

// scratch is a register for the rest of the instruction.
func (l *lowering) scratch() int {
	if l.taken == len(l.spare) {
		panic("no register is left")
	}
	l.taken++
	return l.spare[l.taken-1]
}

func (l *lowering) emit(format string, args ...any) {
	l.code = append(l.code, fmt.Sprintf(format, args...))
}

// forget forgets the address in rAddress.
func (l *lowering) forget() { l.address = "" }

func (l *lowering) forgetWritten(i *ir.Instruction) {
	for _, r := range i.OutputRegisters() {
		if slices.Contains(strings.Fields(l.address), r.Asm()) {
			l.forget()
		}
	}
}

func immediate(op operand.Op) int {
	switch n := op.(type) {
	case operand.U8:
		return int(n)
	case operand.I8:
		return int(n)
	case operand.U32:
		return int(n)
	case operand.I32:
		return int(n)
	case operand.U64:
		return int(n)
	}
	panic(fmt.Sprintf("%T is no number", op))
}

// at is a place in memory. An index is added to rAddress first, unless it is there already.
func (l *lowering) at(m operand.Mem) string {
	if m.Base == reg.FramePointer {
		return m.Asm()
	}
	base := general[m.Base.Asm()]
	if m.Index != nil {
		sum := fmt.Sprintf("%s %s %d", m.Base.Asm(), m.Index.Asm(), m.Scale)
		if l.address != sum {
			l.emit("ADD %s<<%d, %s, %s", general[m.Index.Asm()], map[uint8]int{1: 0, 2: 1, 4: 2, 8: 3}[m.Scale], base, rAddress)
			l.address = sum
		}
		base = rAddress
	}
	return fmt.Sprintf("%d(%s)", m.Disp, base)
}

// general operand for an instruction: a register, a number or a register with what is in memory.
func (l *lowering) value(op operand.Op) string {
	switch op := op.(type) {
	case reg.Register:
		return general[op.Asm()]
	case operand.Mem:
		l.emit("MOVD %s, %s", l.at(op), rNumber)
		return rNumber
	}
	return fmt.Sprintf("$%d", immediate(op))
}

// change replaces op, a register or memory, by what an instruction makes of it.
func (l *lowering) change(op operand.Op, format string, args ...any) {
	target, inMemory := l.value(op), operand.IsMem(op)
	l.emit(format, append(args, target)...)
	if inMemory {
		l.emit("MOVD %s, %s", target, l.at(op.(operand.Mem)))
	}
	l.result = target
}

// jumps are the conditions after a comparison.
var jumps = map[string]string{"JEQ": "BEQ", "JGE": "BGE", "JL": "BLT", "JLT": "BLT"}

func (l *lowering) instruction(i *ir.Instruction) {
	ops := i.Operands
	switch i.Opcode {
	case "RET":
		l.emit("RET")
	case "VZEROUPPER":
	case "MOVQ":
		l.move("MOVD", "MOVD", ops[0], ops[1])
	case "MOVL":
		l.move("MOVWU", "MOVW", ops[0], ops[1])
	case "MOVLQSX":
		l.move("MOVW", "", ops[0], ops[1])
	case "ADDQ", "SUBQ", "ANDQ":
		l.add(i.Opcode[:3], ops[0], ops[1])
	case "ADDL":
		l.change(ops[1], "ADDW %s, %s", l.value(ops[0]))
	case "SHLQ", "SHRQ":
		l.change(ops[1], map[string]string{"SHLQ": "LSL", "SHRQ": "LSR"}[i.Opcode]+" $%d, %s", immediate(ops[0]))
	case "DECQ":
		l.change(ops[0], "SUB $1, %s")
	case "XORQ":
		l.emit("MOVD ZR, %s", l.value(ops[1]))
	case "IMUL3Q":
		l.emit("MOVD $%d, %s", immediate(ops[0]), rNumber)
		l.emit("MUL %s, %s, %s", rNumber, l.value(ops[1]), l.value(ops[2]))
	case "LEAQ":
		m := ops[0].(operand.Mem)
		if m.Disp != 0 {
			panic("LEAQ with an offset")
		}
		l.emit("ADD %s<<%d, %s, %s", general[m.Index.Asm()], map[uint8]int{1: 0, 2: 1, 4: 2}[m.Scale], general[m.Base.Asm()], l.value(ops[1]))
	case "CMPQ":
		l.emit("CMP %s, %s", l.value(ops[1]), l.value(ops[0]))
	case "TESTQ":
		l.result = l.value(ops[0])
	case "JZ":
		l.emit("CBZ %s, %s", l.result, ops[0].Asm())
	case "JNZ":
		l.emit("CBNZ %s, %s", l.result, ops[0].Asm())
	case "JMP":
		l.emit("JMP %s", ops[0].Asm())
	case "JEQ", "JGE", "JL", "JLT":
		l.emit("%s %s", jumps[i.Opcode], ops[0].Asm())
	case tailCount:
		l.needs.frame = true
		l.emit("MOVD %s, %s", l.value(ops[0]), tailN)
	case tailLoad, tailStore:
		l.tail(i.Opcode, ops)
	default:
		l.vector(i.Opcode, ops)
	}
}

func (l *lowering) move(load, store string, from, to operand.Op) {
	if m, ok := to.(operand.Mem); ok {
		l.emit("%s %s, %s", store, l.value(from), l.at(m))
		return
	}
	text := ""
	if m, ok := from.(operand.Mem); ok {
		text = l.at(m)
	} else {
		text = l.value(from)
	}
	l.emit("%s %s, %s", load, text, l.value(to))
}

// add is an instruction of two operands, of which one may be in memory.
func (l *lowering) add(opcode string, from, to operand.Op) {
	value := l.value(from)
	if operand.IsMem(from) && operand.IsMem(to) {
		panic(opcode + " from memory to memory")
	}
	l.change(to, opcode+" %s, %s", value)
}

// tail copies the elements one by one, through a place on the stack.
func (l *lowering) tail(opcode string, ops []operand.Op) {
	v, m := ops[0], ops[1]
	if opcode == tailLoad {
		v, m = ops[1], ops[0]
	}
	low, high := pair(v)
	load, store := "MOVWU", "MOVW"
	if immediate(ops[2]) == 8 {
		load, store = "MOVD", "MOVD"
	}
	l.tails++
	loop := fmt.Sprintf("tail%d", l.tails)
	mem := m.(operand.Mem)
	at := l.at(operand.Mem{Base: mem.Base, Index: mem.Index, Scale: mem.Scale})
	from, to := strings.TrimSuffix(strings.TrimPrefix(at, "0("), ")"), rTo
	if opcode == tailLoad {
		l.emit("%s", clearVector(low))
		l.emit("%s", clearVector(high))
	}
	l.emit("MOVD $%s, %s", tailScratch, rTo)
	l.emit("FSTPQ (F%d, F%d), (%s)", low, high, rTo)
	l.emit("ADD $%d, %s, %s", mem.Disp, from, rNumber)
	if from = rNumber; opcode == tailStore {
		from, to = rTo, rNumber
	}
	l.emit("MOVD %s, %s", tailN, rLeft)
	l.emit("CBZ %s, %sDone", rLeft, loop)
	l.emit("%s:", loop)
	l.emit("%s.P %d(%s), %s", load, immediate(ops[2]), from, rMove)
	l.emit("%s.P %s, %d(%s)", store, rMove, immediate(ops[2]), to)
	l.emit("SUB $1, %s", rLeft)
	l.emit("CBNZ %s, %s", rLeft, loop)
	l.emit("%sDone:", loop)
	if opcode == tailLoad {
		l.emit("MOVD $%s, %s", tailScratch, rTo)
		l.emit("FLDPQ (%s), (F%d, F%d)", rTo, low, high)
	}
}
