package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is the number of steps of k in one iteration of the inner loop.
const unroll = 4

// rowGroup is the number of rows of A that one base pointer addresses, with no
// index, with rowStep and with twice rowStep. NEON's addresses know no such scale, and have
// registers for the multiples, so that there is one for three times rowStep as well.
const rowGroup, neonRowGroup = 3, 4

// panelRows is the number of rows of one call. If the registers hold fewer, the
// code runs twice.
const panelRows = 12

// tileKernel is a family of micro-kernels: tiles of 1…maxRows rows and some vectors.
// The last vector may be partly used, and shorter than the others.
type tileKernel struct {
	level   level
	elem    element
	name    string
	maxRows int
	vectors []int // bytes of each
	ahead   bool  // brings rows of A that lie panelRows further down to the second-level cache
}

func emitGemm(c *build.Context, l level) {
	laneMaskTable(c, l)
	for _, e := range []element{float32s, float64s} {
		for _, t := range tiles(l, e) {
			t.emit(c)
		}
		emitTranspose(c, l, e)
		emitCopy(c, l, e)
	}
}

// tiles are the tile shapes of a level. All accumulators, the vectors of B and a
// broadcast element of A fit the registers.
func tiles(l level, e element) []tileKernel {
	name := func(width string) string { return e.prefix + "gemm" + width + l.name }
	if l.masks {
		return []tileKernel{
			{l, e, name("Broad"), 6, []int{64, 64, 32}, false},
			{l, e, name("Wide"), 12, []int{64, 64}, false},
			{l, e, name("Narrow"), 12, []int{64}, false},
			{l, e, name("Half"), 12, []int{32}, false},
		}
	}
	all := []tileKernel{
		{l, e, name("Wide"), 6, []int{32, 32}, false},
		{l, e, name("Narrow"), 12, []int{32}, false},
	}
	if l.fetches() {
		all = append(all, tileKernel{l, e, name("Ahead"), 6, []int{32, 32}, true})
	}
	return all
}

// tileRegs are the general registers of a tile.
type tileRegs struct {
	rows                              reg.GPVirtual
	a                                 [4]reg.GPVirtual // the first row of each group of A
	rowStep, colStep                  reg.GPVirtual
	multiples                         [neonRowGroup]reg.GPVirtual // of rowStep, from 1 on, for NEON
	below                             [rowGroup]reg.GPVirtual     // from a group's first row to the one panelRows further down, and to those after that
	b, bStep, c, cStep, k, iterations reg.GPVirtual
	alpha, beta                       operand.Mem
}

func (t tileKernel) emit(c *build.Context) {
	c.Function(t.name)
	c.SignatureExpr(fmt.Sprintf("func(rows, cols, k int, alpha %[1]s, a *%[1]s, rowStep, colStep int, b *%[1]s, bStep int, beta %[1]s, c *%[1]s, cStep int)", t.elem.name))
	c.Pragma("noescape")
	c.Doc(
		fmt.Sprintf("%s computes c = alpha·a·b + beta·c for a tile of rows×cols, rows <= %d, cols <= %d.", t.name, panelRows, t.elem.lanes(t.offset(len(t.vectors)))),
		"Element (i, p) of a is a[i*rowStep+p*colStep], (p, j) of b is b[p*bStep+j].")
	if t.ahead {
		c.Doc(fmt.Sprintf("rows is a multiple of %d, and cols %d. The next %d rows of a are brought to the second-level cache.", t.maxRows, t.elem.lanes(t.offset(len(t.vectors))), panelRows))
		t.dispatch(c, t.loadRegs(c), false)
		return
	}
	if t.level.neon {
		c.Doc(fmt.Sprintf("%s computes c = alpha·a·b + beta·c for a tile of rows×%d, rows <= %d.", t.name, t.elem.lanes(t.offset(len(t.vectors))), panelRows),
			"Element (i, p) of a is a[i*rowStep+p*colStep], (p, j) of b is b[p*bStep+j]; cols is not read.")
		t.dispatch(c, t.loadRegs(c), false)
		return
	}
	cols := c.Load(c.Param("cols"), c.GP64()).(reg.GPVirtual)
	r := t.loadRegs(c)
	if whole := t.elem.lanes(t.offset(t.last())); whole > 0 {
		c.SUBQ(operand.Imm(uint64(whole)), cols)
	}
	if t.level.masks {
		t.mask().set(c, cols)
		t.dispatch(c, r, true)
		return
	}
	c.CMPQ(cols, operand.Imm(uint64(t.elem.lanes(t.vectors[t.last()]))))
	c.JEQ(operand.LabelRef("full"))
	t.mask().set(c, cols)
	t.dispatch(c, r, true)
	c.Label("full")
	t.dispatch(c, r, false)
}

func (t tileKernel) last() int { return len(t.vectors) - 1 }

// offset is the offset of vector j from the first, in bytes.
func (t tileKernel) offset(j int) int {
	sum := 0
	for _, bytes := range t.vectors[:j] {
		sum += bytes
	}
	return sum
}

// group is the number of rows of A that one base pointer addresses.
func (t tileKernel) group() int {
	if t.level.neon {
		return neonRowGroup
	}
	return rowGroup
}

func (t tileKernel) mask() tailMask { return tailMask{t.level, t.elem, t.vectors[t.last()]} }

func (t tileKernel) loadRegs(c *build.Context) *tileRegs {
	load := func(name string) reg.GPVirtual { return c.Load(c.Param(name), c.GP64()).(reg.GPVirtual) }
	r := &tileRegs{
		rows: load("rows"), rowStep: load("rowStep"), colStep: load("colStep"), bStep: load("bStep"), cStep: load("cStep"),
		b: load("b"), c: load("c"), k: load("k"), iterations: c.GP64(),
		alpha: address(c, "alpha"), beta: address(c, "beta"),
	}
	r.a[0] = load("a")
	for _, step := range []reg.GPVirtual{r.rowStep, r.colStep, r.bStep, r.cStep} {
		c.SHLQ(operand.Imm(t.elem.shift), step)
	}
	if t.level.neon {
		r.multiples[1] = r.rowStep
		for i := 2; i < neonRowGroup; i++ {
			r.multiples[i] = c.GP64()
			c.LEAQ(operand.Mem{Base: r.multiples[i-1], Index: r.rowStep, Scale: 1}, r.multiples[i])
		}
	}
	return r
}

func address(c *build.Context, name string) operand.Mem {
	p, err := c.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// dispatch jumps to the code for the number of rows.
func (t tileKernel) dispatch(c *build.Context, r *tileRegs, masked bool) {
	label := func(i int) string { return fmt.Sprintf("rows%d_%t", i, masked) }
	next := fmt.Sprintf("next_%t", masked)
	c.Label(next)
	heights := t.heights()
	last := len(heights) - 1
	for k := last; k > 0; k-- {
		c.CMPQ(r.rows, operand.Imm(uint64(heights[k])))
		if k == last || t.level.neon {
			c.JGE(operand.LabelRef(label(heights[k])))
		} else {
			c.JEQ(operand.LabelRef(label(heights[k])))
		}
	}
	for _, i := range heights {
		c.Label(label(i))
		t.body(c, i, r, masked, label(i))
	}
	t.finish(c, r, masked, next)
}

// heights are the numbers of rows for which there is code: all, or on NEON a few, so that other
// numbers take several rounds, or the greatest alone.
func (t tileKernel) heights() (all []int) {
	for i := 1; i <= t.maxRows; i++ {
		if i == t.maxRows || !t.ahead && (!t.level.neon || i&(i-1) == 0) {
			all = append(all, i)
		}
	}
	return all
}

// body sums the products of a tile of exactly the given rows, and goes on where finish has their code.
func (t tileKernel) body(c *build.Context, rows int, shared *tileRegs, masked bool, label string) {
	r := *shared
	for g := 1; g*t.group() < rows; g++ {
		r.a[g] = c.GP64()
		c.LEAQ(operand.Mem{Base: r.a[g-1], Index: r.rowStep, Scale: 2}, r.a[g])
		for range t.group() - 2 {
			c.ADDQ(r.rowStep, r.a[g])
		}
	}
	for i := range rows {
		for j := range t.vectors {
			t.level.zero(c, t.accumulator(rows, i, j))
		}
	}
	if t.level.fetches() && rows == t.maxRows {
		t.fetchC(c, rows, &r)
	}
	if t.ahead {
		for i := range r.below {
			r.below[i] = c.GP64()
			c.IMUL3Q(operand.Imm(uint64(panelRows+i)), r.rowStep, r.below[i])
		}
	}
	c.MOVQ(r.k, r.iterations)
	c.SHRQ(operand.Imm(2), r.iterations)
	c.JZ(operand.LabelRef(label + "_rest"))
	c.Label(label + "_loop")
	for s := range unroll {
		// A line holds several steps of a row, or several rows of a step: an iteration touches
		// each row once, and each step a row.
		for i := s; t.ahead && i < rows; i += unroll {
			c.PREFETCHT1(operand.Mem{Base: r.a[i/rowGroup], Index: r.below[i%rowGroup], Scale: 1})
		}
		t.step(c, rows, &r, masked)
	}
	c.DECQ(r.iterations)
	c.JNZ(operand.LabelRef(label + "_loop"))
	c.Label(label + "_rest")
	c.ANDQ(operand.Imm(unroll-1), r.k)
	c.JZ(operand.LabelRef(label + "_out"))
	c.Label(label + "_one")
	t.step(c, rows, &r, masked)
	c.DECQ(r.k)
	c.JNZ(operand.LabelRef(label + "_one"))
	c.Label(label + "_out")
	if t.repeats() {
		done, a := c.GP64(), address(c, "a")
		c.IMUL3Q(operand.Imm(uint64(rows)), r.rowStep, done)
		c.ADDQ(done, a) // the function may change its parameter
		c.SUBQ(operand.Imm(uint64(rows)), r.rows)
	}
	t.elem.broadcast(c, r.alpha, t.alpha(0))
	t.elem.broadcast(c, r.beta, t.beta(0))
	t.jumpIfZero(c, r.beta, t.finishLabel("overwrite", rows, masked))
	c.JMP(operand.LabelRef(t.finishLabel("add", rows, masked)))
}

// fetchC brings the tile of C to the first-level cache while its products are summed. Else stores to
// lines that lie further away wait for one another.
func (t tileKernel) fetchC(c *build.Context, rows int, r *tileRegs) {
	row := c.GP64()
	c.MOVQ(r.c, row)
	for i := range rows {
		if i > 0 {
			c.ADDQ(r.cStep, row)
		}
		c.PREFETCHT0(operand.Mem{Base: row})
		c.PREFETCHT0(operand.Mem{Base: row, Disp: t.offset(len(t.vectors)) - 1})
	}
}

// repeats reports whether there may be rows left after those of a body.
func (t tileKernel) repeats() bool { return t.maxRows < panelRows || t.level.neon }

// bRegister holds vector j of B.
func (t tileKernel) bRegister(j int) reg.VecPhysical { return t.register(j, t.level.registers*3/4+j) }

// scratch is the last register, as long as vector j. In step it holds the broadcast
// element of A.
func (t tileKernel) scratch(j int) reg.VecPhysical { return t.register(j, t.level.registers-1) }

// register is register i, as long as vector j.
func (t tileKernel) register(j, i int) reg.VecPhysical { return vector(t.vectors[j], i) }

// step adds the outer product of one column of A and one row of B.
func (t tileKernel) step(c *build.Context, rows int, r *tileRegs, masked bool) {
	for j := range t.vectors {
		t.load(c, r.b, j, t.bRegister(j), masked)
	}
	c.ADDQ(r.bStep, r.b)
	if t.level.masks && len(t.vectors) > 1 {
		// If A is transposed this is the end of the next tile's column.
		c.PREFETCHT0(operand.Mem{Base: r.a[0], Disp: (2*panelRows - 1) * t.elem.bytes})
	}
	for i := range rows {
		element := operand.Mem{Base: r.a[i/t.group()]}
		if scale := i % t.group(); scale > 0 {
			element.Index, element.Scale = r.rowStep, uint8(scale)
			if t.level.neon {
				element.Index, element.Scale = r.multiples[scale], 1
			}
		}
		if t.level.masks && len(t.vectors) == 1 {
			// A broadcast as an operand costs nothing, if it is used only once.
			t.elem.fmaBroadcast(c, element, t.bRegister(0), t.accumulator(rows, i, 0))
			continue
		}
		t.elem.broadcast(c, element, t.scratch(0))
		for j := range t.vectors {
			t.elem.fma(c, t.scratch(j), t.bRegister(j), t.accumulator(rows, i, j))
		}
		// A load with an index is two operations of some processors for arm64, which begin six at a time: with
		// additions between them more groups are full.
		if t.level.neon && (i%t.group() == t.group()-1 || i == rows-1) {
			c.ADDQ(r.colStep, r.a[i/t.group()])
		}
	}
	for g := 0; g*t.group() < rows && !t.level.neon; g++ {
		c.ADDQ(r.colStep, r.a[g])
	}
}

// accumulator is that of row i of so many rows. The last row always has the same, so that finish has
// the code for few rows at the end of that for many.
func (t tileKernel) accumulator(rows, i, j int) reg.VecPhysical {
	return t.register(j, (t.maxRows-rows+i)*len(t.vectors)+j)
}

// alpha and beta hold the factors, as long as vector j, where B was.
func (t tileKernel) alpha(j int) reg.VecPhysical { return t.register(j, t.level.registers*3/4) }
func (t tileKernel) beta(j int) reg.VecPhysical  { return t.register(j, t.level.registers*3/4+1) }

func (t tileKernel) load(c *build.Context, base reg.GPVirtual, j int, to reg.VecPhysical, masked bool) {
	mem := operand.Mem{Base: base, Disp: t.offset(j)}
	if masked && j == t.last() {
		t.mask().load(c, mem, to)
		return
	}
	t.elem.move(c, mem, to)
}

func (t tileKernel) store(c *build.Context, from reg.VecPhysical, base reg.GPVirtual, j int, masked bool) {
	mem := operand.Mem{Base: base, Disp: t.offset(j)}
	if masked && j == t.last() {
		t.mask().store(c, from, mem)
		return
	}
	t.elem.move(c, from, mem)
}

func (t tileKernel) finishLabel(kind string, rows int, masked bool) string {
	return fmt.Sprintf("%s%d_%t", kind, rows, masked)
}

// finish scales the accumulators and writes the tile, from the row on that a body jumps to. C is read
// only if beta is not 0.
func (t tileKernel) finish(c *build.Context, r *tileRegs, masked bool, next string) {
	each := func(kind string, row func(i, j int)) {
		for i := range t.maxRows {
			if left := t.maxRows - i; slices.Contains(t.heights(), left) {
				c.Label(t.finishLabel(kind, left, masked))
			}
			for j := range t.vectors {
				row(i, j)
			}
			c.ADDQ(r.cStep, r.c)
		}
		t.leave(c, r, next)
	}
	each("add", func(i, j int) {
		t.load(c, r.c, j, t.scratch(j), masked)
		t.elem.mul(c, t.beta(j), t.scratch(j), t.scratch(j))
		t.elem.fma(c, t.alpha(j), t.accumulator(t.maxRows, i, j), t.scratch(j))
		t.store(c, t.scratch(j), r.c, j, masked)
	})
	each("overwrite", func(i, j int) {
		sum := t.accumulator(t.maxRows, i, j)
		t.elem.mul(c, t.alpha(j), sum, sum)
		t.store(c, sum, r.c, j, masked)
	})
}

// leave returns, or goes on if rows are left.
func (t tileKernel) leave(c *build.Context, r *tileRegs, next string) {
	if t.repeats() {
		c.MOVQ(address(c, "a"), r.a[0])
		c.Load(c.Param("b"), r.b)
		c.Load(c.Param("k"), r.k)
		c.TESTQ(r.rows, r.rows)
		c.JNZ(operand.LabelRef(next))
	}
	c.VZEROUPPER()
	c.RET()
}

// jumpIfZero jumps if the number in memory is 0 or -0.
func (t tileKernel) jumpIfZero(c *build.Context, number operand.Mem, label string) {
	if t.elem.bytes == 4 {
		bits := c.GP32()
		c.MOVL(number, bits)
		c.ADDL(bits, bits)
	} else {
		bits := c.GP64()
		c.MOVQ(number, bits)
		c.ADDQ(bits, bits)
	}
	c.JZ(operand.LabelRef(label))
}
