// Package damage changes files for tests of what reads them.
package damage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// numbers break what takes them for a length, an offset or a count.
var numbers = []uint64{0, 1, 7, 0x7f, 0xff, 0x7fff, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<62 + 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}

// Bytes changes a copy of data in one of the ways that transports, disks and bugs do, and says
// how: a bit, a cut, bytes that are lost, written over, put in or swapped, or a number where
// numbers are likely to be. The copy may be equal to data.
func Bytes(r *rand.Rand, data []byte) (how string, out []byte) {
	out = bytes.Clone(data)
	at, from, n := r.IntN(len(out)), r.IntN(len(data)), 1+r.IntN(200)
	piece := data[from:min(len(data), from+n)]
	switch r.IntN(7) {
	case 0:
		out[at] ^= 1 << r.IntN(8)
		return fmt.Sprintf("bit of byte %d", at), out
	case 1:
		return fmt.Sprintf("cut at %d", at), out[:at]
	case 2:
		n = min(n, 64)
		return fmt.Sprintf("%d bytes out at %d", n, at), append(out[:at], data[min(len(data), at+n):]...)
	case 3:
		copy(out[at:], piece)
		return fmt.Sprintf("%d bytes from %d over those at %d", len(piece), from, at), out
	case 4:
		return fmt.Sprintf("%d bytes from %d put in at %d", len(piece), from, at), append(append(out[:at:at], piece...), data[at:]...)
	case 5:
		n = min(n, len(data)-at, len(data)-from)
		copy(out[at:], data[from:from+n])
		copy(out[from:], data[at:at+n])
		return fmt.Sprintf("%d bytes from %d swapped with those at %d", n, from, at), out
	}
	return number(r, out)
}

func number(r *rand.Rand, out []byte) (string, []byte) {
	n := numbers[r.IntN(len(numbers))]
	at := r.IntN(len(out)/4) * 4
	if r.IntN(2) == 0 || at+8 > len(out) {
		binary.LittleEndian.PutUint32(out[at:], uint32(n))
	} else {
		binary.LittleEndian.PutUint64(out[at:], n)
	}
	return fmt.Sprintf("%#x at %d", n, at), out
}

// Value changes a value somewhere in JSON, as encoding/json reads it into an any, and says how.
func Value(r *rand.Rand, value *any) (how string) {
	switch v := (*value).(type) {
	case map[string]any:
		if len(v) > 0 && r.IntN(8) > 0 {
			keys := slices.Sorted(maps.Keys(v))
			key := keys[r.IntN(len(keys))]
			inner := v[key]
			how := key + ": " + Value(r, &inner)
			v[key] = inner
			return how
		}
	case []any:
		if len(v) > 0 && r.IntN(4) > 0 {
			at := r.IntN(len(v))
			return fmt.Sprintf("%d: %s", at, Value(r, &v[at]))
		}
		if len(v) > 0 && r.IntN(2) == 0 {
			*value = v[:len(v)-1]
			return "one less"
		}
	}
	was := *value
	*value = []any{nil, -1.0, 0.0, 1.5, 9.0, 2e9, 1e300, "x", []any{}, map[string]any{}, []any{0.0, 1.0, 9.0}, true}[r.IntN(12)]
	return fmt.Sprintf("%.40v becomes %v", was, *value)
}
