package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// level is an instruction set and the size of its vectors.
type level struct {
	name      string
	bytes     int // of a vector register
	registers int
	masks     bool // has mask registers (k1…k7)
	neon      bool // is rewritten for arm64: see neon.go
}

var (
	avx512 = level{name: "AVX512", bytes: 64, registers: 32, masks: true}
	avx2   = level{name: "AVX2", bytes: 32, registers: 16}
	neon   = level{name: "NEON", bytes: 32, registers: 16, neon: true}
)

// fetches reports whether products fetch what they will read and write. It was measured with AVX2 alone.
func (l level) fetches() bool { return !l.masks && !l.neon }

// vector returns the i-th register of the given width in bytes.
func vector(bytes, i int) reg.VecPhysical {
	switch bytes {
	case 64:
		return zmm[i]
	case 32:
		return ymm[i]
	}
	return xmm[i]
}

var (
	xmm = [...]reg.VecPhysical{
		reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7,
		reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
		reg.X16, reg.X17, reg.X18, reg.X19, reg.X20, reg.X21, reg.X22, reg.X23,
		reg.X24, reg.X25, reg.X26, reg.X27, reg.X28, reg.X29, reg.X30, reg.X31,
	}
	ymm = [...]reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
		reg.Y16, reg.Y17, reg.Y18, reg.Y19, reg.Y20, reg.Y21, reg.Y22, reg.Y23,
		reg.Y24, reg.Y25, reg.Y26, reg.Y27, reg.Y28, reg.Y29, reg.Y30, reg.Y31,
	}
	zmm = [...]reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}
)

// emit is one avo instruction of any number of operands.
type emit func(c *build.Context, ops ...operand.Op)

// element is a floating-point type and its instructions.
type element struct {
	name   string // of the Go type
	prefix string // of BLAS routines
	bytes  int
	shift  uint64 // log2(bytes)

	move, add, sub, mul, div, min, max    emit
	fma, fnma, fmaInto, broadcast         emit
	fmaBroadcast, roundScale, timesPower2 emit // AVX-512 only
	compare                               emit
	addInt, subInt, shiftLeft, shiftRight emit
	moveZero, maskMove                    func(c *build.Context, a, b, d operand.Op)
}

var float32s = element{
	name: "float32", prefix: "s", bytes: 4, shift: 2,
	move: (*build.Context).VMOVUPS, add: (*build.Context).VADDPS, sub: (*build.Context).VSUBPS,
	mul: (*build.Context).VMULPS, div: (*build.Context).VDIVPS,
	min: (*build.Context).VMINPS, max: (*build.Context).VMAXPS,
	fma: (*build.Context).VFMADD231PS, fnma: (*build.Context).VFNMADD231PS, fmaInto: (*build.Context).VFMADD213PS,
	fmaBroadcast: (*build.Context).VFMADD231PS_BCST, roundScale: (*build.Context).VRNDSCALEPS, timesPower2: (*build.Context).VSCALEFPS,
	broadcast: (*build.Context).VBROADCASTSS, compare: (*build.Context).VCMPPS,
	addInt: (*build.Context).VPADDD, subInt: (*build.Context).VPSUBD,
	shiftLeft: (*build.Context).VPSLLD, shiftRight: (*build.Context).VPSRLD,
	moveZero: (*build.Context).VMOVUPS_Z, maskMove: (*build.Context).VMASKMOVPS,
}

var float64s = element{
	name: "float64", prefix: "d", bytes: 8, shift: 3,
	move: (*build.Context).VMOVUPD, add: (*build.Context).VADDPD, sub: (*build.Context).VSUBPD,
	mul: (*build.Context).VMULPD, div: (*build.Context).VDIVPD,
	min: (*build.Context).VMINPD, max: (*build.Context).VMAXPD,
	fma: (*build.Context).VFMADD231PD, fnma: (*build.Context).VFNMADD231PD, fmaInto: (*build.Context).VFMADD213PD,
	fmaBroadcast: (*build.Context).VFMADD231PD_BCST, roundScale: (*build.Context).VRNDSCALEPD, timesPower2: (*build.Context).VSCALEFPD,
	broadcast: (*build.Context).VBROADCASTSD, compare: (*build.Context).VCMPPD,
	addInt: (*build.Context).VPADDQ, subInt: (*build.Context).VPSUBQ,
	shiftLeft: (*build.Context).VPSLLQ, shiftRight: (*build.Context).VPSRLQ,
	moveZero: (*build.Context).VMOVUPD_Z, maskMove: (*build.Context).VMASKMOVPD,
}

// lanes is the number of elements in a vector of the given bytes.
func (e element) lanes(bytes int) int { return bytes / e.bytes }

// tailMask loads or stores the first n lanes of a vector, n in a register.
type tailMask struct {
	level level
	elem  element
	bytes int
}

// maskK and maskV are the registers that tailMask occupies.
var maskK = reg.K1

const maskV = 14

// set prepares the mask for n lanes; n is overwritten.
func (m tailMask) set(c *build.Context, n reg.GPVirtual) {
	if m.level.neon {
		tail(c, tailCount, m.elem, n)
		return
	}
	if m.level.masks {
		ones := c.GP64()
		c.MOVQ(operand.I32(-1), ones)
		c.BZHIQ(n, ones, ones)
		c.KMOVW(ones.As32(), maskK)
		return
	}
	// The table holds 32 bytes of ones and then 32 of zeros: start n lanes
	// before the zeros.
	table := c.GP64()
	c.LEAQ(operand.NewDataAddr(operand.Symbol{Name: "laneMask", Static: true}, 32), table)
	c.SHLQ(operand.Imm(m.elem.shift), n)
	c.SUBQ(n, table)
	c.VMOVUPS(operand.Mem{Base: table}, vector(m.bytes, maskV))
}

// load reads the masked lanes of mem and sets the others to 0.
func (m tailMask) load(c *build.Context, mem operand.Mem, to reg.VecPhysical) {
	if m.level.masks {
		m.elem.moveZero(c, mem, maskK, to)
		return
	}
	if m.level.neon {
		tail(c, tailLoad, m.elem, mem, to)
		return
	}
	m.elem.maskMove(c, mem, vector(m.bytes, maskV), to)
}

// store writes the masked lanes to mem and leaves the others alone.
func (m tailMask) store(c *build.Context, from reg.VecPhysical, mem operand.Mem) {
	if m.level.masks {
		m.elem.move(c, from, maskK, mem)
		return
	}
	if m.level.neon {
		tail(c, tailStore, m.elem, from, mem)
		return
	}
	m.elem.maskMove(c, from, vector(m.bytes, maskV), mem)
}

// laneMaskTable emits the table that tailMask needs without mask registers.
func laneMaskTable(c *build.Context, l level) {
	if l.masks || l.neon {
		return
	}
	c.StaticGlobal("laneMask")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		ones := uint64(0)
		if i < 4 {
			ones = math.MaxUint64
		}
		c.AddDatum(8*i, operand.U64(ones))
	}
}

// zero clears a vector register.
func (l level) zero(c *build.Context, v reg.VecPhysical) {
	if l.masks {
		c.VPXORD(v, v, v)
		return
	}
	c.VXORPS(v, v, v)
}
