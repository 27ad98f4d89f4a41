package main

import "fmt"

// Go's assembler for arm64 knows few instructions on vectors, so what is missing is written as
// words: see "Arm Architecture Reference Manual for A-profile", C7. TestWords compares each word
// with what an assembler makes of its comment.

// shape is an arrangement of lanes.
type shape struct {
	name string
	size uint32 // log2 of the bytes of a lane
}

var (
	lanes8b  = shape{"8b", 0}
	lanes4h  = shape{"4h", 1}
	lanes8h  = shape{"8h", 1}
	lanes4s  = shape{"4s", 2}
	lanes2d  = shape{"2d", 3}
	lanes16b = shape{"16b", 0}
)

// float is the bit that tells float64 from float32.
func (s shape) float() uint32 { return (s.size & 1) << 22 }

// floats are the words of instructions on floats, and integers of those on integers, with every
// register 0 and lanes of the smallest size; bits are those of instructions that know no lanes.
var (
	floats = map[string]uint32{
		"fadd": 0x4e20d400, "fsub": 0x4ea0d400, "fmul": 0x6e20dc00, "fdiv": 0x6e20fc00, "fsqrt": 0x6ea1f800,
		"fmla": 0x4e20cc00, "fmls": 0x4ea0cc00, "faddp": 0x6e20d400,
		"fcmeq": 0x4e20e400, "fcmge": 0x6e20e400, "fcmgt": 0x6ea0e400,
	}
	integers = map[string]uint32{"add": 0x4e208400, "sub": 0x6e208400, "cmeq": 0x6e208c00, "zip1": 0x4e003800, "zip2": 0x4e007800}
	bitwise  = map[string]uint32{"and": 0x4e201c00, "orr": 0x4ea01c00, "bit": 0x6ea01c00, "bif": 0x6ee01c00, "not": 0x6e205800}
)

// word is an instruction of one or two sources, d = n or d = n op m.
func word(name string, s shape, d, n int, m ...int) string {
	code, size := floats[name], s.float()
	if code == 0 {
		code, size = integers[name], s.size<<22
	}
	if code == 0 {
		code, size, s = bitwise[name], 0, lanes16b
	}
	if code == 0 {
		panic("no instruction " + name)
	}
	text := fmt.Sprintf("%s v%d.%s, v%d.%s", name, d, s.name, n, s.name)
	code |= size | uint32(n)<<5 | uint32(d)
	for _, m := range m {
		code |= uint32(m) << 16
		text += fmt.Sprintf(", v%d.%s", m, s.name)
	}
	return line(code, text)
}

// fmlaElement is d += n·m[0].
func fmlaElement(s shape, d, n, m int) string {
	return line(0x4f801000|s.float()|uint32(m)<<16|uint32(n)<<5|uint32(d),
		fmt.Sprintf("fmla v%d.%s, v%d.%s, v%d.%c[0]", d, s.name, n, s.name, m, s.name[1]))
}

// dup sets every lane of d to the first of n.
func dup(s shape, d, n int) string {
	return line(0x4e000400|1<<(16+s.size)|uint32(n)<<5|uint32(d), fmt.Sprintf("dup v%d.%s, v%d.%c[0]", d, s.name, n, s.name[1]))
}

// shift is the shift of integers to the left (shl) or right (ushr).
func shift(name string, s shape, d, n, by int) string {
	width := 8 << s.size
	code, amount := uint32(0x4f005400), width+by
	if name == "ushr" {
		code, amount = 0x6f000400, 2*width-by
	}
	return line(code|uint32(amount)<<16|uint32(n)<<5|uint32(d), fmt.Sprintf("%s v%d.%s, v%d.%s, #%d", name, d, s.name, n, s.name, by))
}

// narrow sets the lower or upper half of d to the integers n, half as long and limited to what fits.
func narrow(to, from shape, d, n int, upper bool) string {
	code, name := uint32(0x2e212800), "sqxtun"
	if upper {
		code, name = 0x6e212800, "sqxtun2"
	}
	return line(code|to.size<<22|uint32(n)<<5|uint32(d), fmt.Sprintf("%s v%d.%s, v%d.%s", name, d, to.name, n, from.name))
}

// widen sets d to the integers of the lower or upper half of n, twice as long.
func widen(to, from shape, d, n int, upper bool) string {
	code, name := uint32(0x2f00a400), "ushll"
	if upper {
		code, name = 0x6f00a400, "ushll2"
	}
	return line(code|8<<(16+from.size)|uint32(n)<<5|uint32(d), fmt.Sprintf("%s v%d.%s, v%d.%s, #0", name, d, to.name, n, from.name))
}

// clearVector sets d to 0.
func clearVector(d int) string { return line(0x6f00e400|uint32(d), fmt.Sprintf("movi v%d.2d, #0", d)) }

func line(code uint32, text string) string { return fmt.Sprintf("WORD $0x%08x // %s", code, text) }
