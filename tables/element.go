package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/float16"

	"mars.dev/mars/arrowio"
)

// An element is how one value of an array is stored.
type element struct {
	kind byte // 'b' bool, 'i', 'u' integers, 'f' floats, 'U' UCS-4 and 'S' byte strings
	size int  // bytes
	big  bool // big-endian
}

func (e element) numeric() bool { return strings.IndexByte("biuf", e.kind) >= 0 }

// largest returns the largest value of an unsigned type of one or two bytes, which
// may hold pixels. It is 0 for other types.
func (e element) largest() float32 {
	if e.kind == 'u' && e.size <= 2 {
		return float32(int(1)<<(8*e.size) - 1)
	}
	return 0
}

// wide reports whether the type has numbers that float32 has not.
func (e element) wide() bool {
	return e.numeric() && e.size >= 4 && e != element{kind: 'f', size: 4, big: e.big}
}

// elementsTo converts the elements in raw, which it may overwrite.
func elementsTo[F float32 | float64](e element, dst []F, raw []byte) {
	if e.size == 1 {
		bytesTo(e, dst, raw)
		return
	}
	if e.big {
		swap(raw, e.size)
	}
	le := binary.LittleEndian
	switch (element{kind: e.kind, size: e.size}) {
	case element{kind: 'f', size: 2}:
		convert(dst, raw, 2, func(b []byte) F { return F(float16.FromBits(le.Uint16(b)).Float32()) })
	case element{kind: 'f', size: 4}:
		convert(dst, raw, 4, func(b []byte) F { return F(math.Float32frombits(le.Uint32(b))) })
	case element{kind: 'f', size: 8}:
		convert(dst, raw, 8, func(b []byte) F { return F(math.Float64frombits(le.Uint64(b))) })
	case element{kind: 'u', size: 2}:
		convert(dst, raw, 2, func(b []byte) F { return F(le.Uint16(b)) })
	case element{kind: 'u', size: 4}:
		convert(dst, raw, 4, func(b []byte) F { return F(le.Uint32(b)) })
	case element{kind: 'u', size: 8}:
		convert(dst, raw, 8, func(b []byte) F { return F(le.Uint64(b)) })
	case element{kind: 'i', size: 2}:
		convert(dst, raw, 2, func(b []byte) F { return F(int16(le.Uint16(b))) })
	case element{kind: 'i', size: 4}:
		convert(dst, raw, 4, func(b []byte) F { return F(int32(le.Uint32(b))) })
	case element{kind: 'i', size: 8}:
		convert(dst, raw, 8, func(b []byte) F { return F(int64(le.Uint64(b))) })
	default:
		panic("format: not a type of number")
	}
}

func bytesTo[F float32 | float64](e element, dst []F, raw []byte) {
	for i := range dst {
		if e.kind == 'i' {
			dst[i] = F(int8(raw[i]))
		} else {
			dst[i] = F(raw[i])
		}
	}
}

func convert[F float32 | float64](dst []F, raw []byte, size int, value func([]byte) F) {
	for i := range dst {
		dst[i] = value(raw[i*size : i*size+size])
	}
}

// swap reverses the bytes of each element.
func swap(raw []byte, size int) {
	for ; len(raw) >= size; raw = raw[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			raw[i], raw[j] = raw[j], raw[i]
		}
	}
}

// label returns the class name of one element, "" for NaN. It may overwrite raw.
func (e element) label(raw []byte) (string, error) {
	if e.big {
		swap(raw, e.swapUnit())
	}
	switch e.kind {
	case 'S':
		if !utf8.Valid(raw) {
			return "", errNoText
		}
		return strings.TrimRight(string(raw), "\x00"), nil
	case 'U':
		return ucs4(raw)
	case 'f':
		var v [1]float64
		elementsTo(element{kind: e.kind, size: e.size}, v[:], raw)
		return floatLabel(v[0])
	case 'b':
		return strconv.FormatBool(raw[0] != 0), nil
	}
	return e.intLabel(raw), nil
}

// swapUnit returns the size of the parts of an element that have a byte order.
func (e element) swapUnit() int {
	switch e.kind {
	case 'U':
		return 4
	case 'S':
		return 1
	}
	return e.size
}

var errNoText = errors.New("is not valid text: check what wrote it")

func ucs4(raw []byte) (string, error) {
	var name strings.Builder
	for ; len(raw) >= 4; raw = raw[4:] {
		r := binary.LittleEndian.Uint32(raw)
		if r > 0x10ffff || !utf8.ValidRune(rune(r)) {
			return "", errNoText
		}
		name.WriteRune(rune(r))
	}
	return strings.TrimRight(name.String(), "\x00"), nil
}

func (e element) intLabel(raw []byte) string {
	var wide [8]byte
	copy(wide[:], raw)
	v := binary.LittleEndian.Uint64(wide[:])
	if e.kind == 'i' {
		unused := 64 - 8*e.size
		return strconv.FormatInt(int64(v<<unused)>>unused, 10)
	}
	return strconv.FormatUint(v, 10)
}

// floatLabel returns the name of a class that is given as a float: a whole number,
// or "" for NaN, which means no label.
func floatLabel(v float64) (string, error) {
	if math.IsNaN(v) {
		return "", nil
	}
	if math.Abs(v) > 1<<53 {
		return "", fmt.Errorf("label %v is too large for a whole number in floating point: labels are classes, give smaller integers or names", v)
	}
	if v != math.Trunc(v) {
		return "", fmt.Errorf("label %v is not a whole number: labels are classes, give integers or names", v)
	}
	return strconv.FormatInt(int64(v), 10), nil
}

// stepBytes is how many bytes are read and converted at a time.
const stepBytes = 1 << 18

// readFloats reads n numbers, off which f takes centres; nil: none. Memory grows with what has
// been read.
func (e element) readFloats(r io.Reader, n int, f *offset, mem *arrowio.Budget) ([]float32, error) {
	if need := int64(n) * sizeOf[float32](); need > mem.Limit() {
		return nil, &arrowio.LimitError{Need: need, Limit: mem.Limit()}
	}
	var out []float32
	step := max(stepBytes/e.size, 1)
	var raw []byte
	for len(out) < n {
		k := f.step(step, len(out), n)
		if len(raw) < k*e.size {
			raw = make([]byte, k*e.size)
		}
		if err := e.fill(r, raw[:k*e.size], len(out), n); err != nil {
			return nil, err
		}
		at := len(out)
		var err error
		if out, err = extend(mem, out, k, n); err != nil {
			return nil, err
		}
		f.convert(e, out[at:], raw[:k*e.size], at)
	}
	return out, nil
}

// readLabels reads n class names. Equal names share memory.
func (e element) readLabels(r io.Reader, n int, mem *arrowio.Budget) ([]string, error) {
	var out []string
	names := map[string]string{}
	raw := make([]byte, e.size)
	for len(out) < n {
		if err := e.fill(r, raw, len(out), n); err != nil {
			return nil, err
		}
		name, known := names[string(raw)]
		if !known {
			if err := mem.Take(int64(2*e.size + 2*nameCost)); err != nil {
				return nil, err
			}
			key := string(raw)
			var err error
			if name, err = e.label(raw); err != nil {
				return nil, fmt.Errorf("row %d: %w", len(out)+1, err)
			}
			names[key] = name
		}
		var err error
		if out, err = push(mem, out, name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fill reads all of raw. Its first element is number at of n.
func (e element) fill(r io.Reader, raw []byte, at, n int) error {
	k, err := io.ReadFull(r, raw)
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("is truncated: its header announces %d values, %d are there: copy or download it again", n, at+k/e.size)
	}
	return readError(err)
}
