package main

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// numbers are the constants in memory of one file, by symbol. Each is repeated
// to fill a vector.
type numbers map[string]lanes

// lanes is the number in every lane of a vector.
type lanes struct {
	elem element
	bits uint64
}

// real returns the address of a vector of x.
func (n numbers) real(e element, x float64) operand.Mem {
	if e.bytes == 4 {
		return n.whole(e, uint64(math.Float32bits(float32(x))))
	}
	return n.whole(e, math.Float64bits(x))
}

// whole returns the address of a vector of integers x.
func (n numbers) whole(e element, x uint64) operand.Mem {
	name := fmt.Sprintf("%s_%0*x", e.name, 2*e.bytes, x)
	n[name] = lanes{e, x}
	return operand.NewDataAddr(operand.Symbol{Name: name, Static: true}, 0)
}

// emit writes the numbers, in a fixed order.
func (n numbers) emit(c *build.Context, l level) {
	for _, name := range slices.Sorted(maps.Keys(n)) {
		c.StaticGlobal(name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for at := 0; at < l.bytes; at += 8 {
			bits := n[name].bits
			if n[name].elem.bytes == 4 {
				bits |= bits << 32
			}
			c.AddDatum(at, operand.U64(bits))
		}
	}
}
