package scan

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Float32 returns the float32 that strconv.ParseFloat makes of a decimal number. ok is
// false if the field is none, if it is too large, or if it is a word as inf.
func Float32(field []byte) (v float32, ok bool) { return parse(field, '.') }

// parse is Float32 of a number whose decimal mark is point.
func parse(field []byte, point byte) (v float32, ok bool) {
	if len(field) <= maxShort && cap(field) >= spare {
		if v, ok = parseShort(field[:spare], len(field), point); ok {
			return v, ok
		}
	}
	return parseAny(field, point)
}

// maxShort is how many bytes a field may have that parseShort reads.
const maxShort = 17

// parseShort reads what most fields are, in the first n bytes of text: up to 16 digits or
// decimal mark, which is one of the first eight bytes, with a minus or without. ok is false
// for others.
//
// It takes words of eight bytes, be they within the field or behind it, and shifts out of
// them what is not a digit of it. There is little to go wrong for a processor that guesses
// how branches go: the sign and the length of a number are not to be guessed.
func parseShort(text []byte, n int, point byte) (v float32, ok bool) {
	_ = text[spare-1]
	minus := (uint64(text[0]^'-') - 1) >> 63 // 1 or 0
	if n -= int(minus); n <= 0 || n > 16 {
		return 0, false
	}
	first := binary.LittleEndian.Uint64(text[minus:]) ^ zeros
	var second uint64
	inside, long := ^uint64(0), n > 8
	if !long {
		inside >>= uint(64-8*n) & 63
	} else {
		second = binary.LittleEndian.Uint64(text[minus+8:]) ^ zeros
	}
	exponent := 0
	if odd := notDigits(first) & inside; odd != 0 {
		at := uint(bits.TrailingZeros64(odd)) & 56
		if odd&(odd-1) != 0 || byte(first>>at) != point^'0' {
			return 0, false
		}
		below := uint64(1)<<at - 1
		first = first&below | (first>>8|second<<56)&^below
		second >>= 8
		n--
		exponent = int(at>>3) - n
	}
	var digits uint64
	if !long {
		digits = eightDigits(first << uint(64-8*n))
	} else {
		second <<= uint(128 - 8*n)
		if notDigits(first)|notDigits(second) != 0 {
			return 0, false
		}
		digits = eightDigits(first)*smallTens[n-8] + eightDigits(second)
	}
	v, ok = round(digits, exponent)
	return math.Float32frombits(math.Float32bits(v) | uint32(minus)<<31), ok && n > 0
}

// parseAny is parse, digit by digit.
func parseAny(field []byte, point byte) (v float32, ok bool) {
	at, negative := 0, false
	if len(field) > 0 && (field[0] == '-' || field[0] == '+') {
		at, negative = 1, field[0] == '-'
	}
	var digits uint64
	begin := at
	for ; at < len(field) && field[at]-'0' < 10; at++ {
		digits = 10*digits + uint64(field[at]-'0')
	}
	n, exponent := at-begin, 0
	if at < len(field) && field[at] == point {
		at++
		begin = at
		digits, at = fraction(digits, field, at)
		n, exponent = n+at-begin, begin-at
	}
	if n == 0 {
		return 0, false
	}
	if at < len(field) {
		e, ok := exponentOf(field[at:])
		if !ok {
			return 0, false
		}
		exponent += e
	}
	if n > maxDigits {
		return slow(field, point)
	}
	if v, ok = round(digits, exponent); !ok {
		return slow(field, point)
	}
	if negative {
		v = -v
	}
	return v, true
}

// maxDigits is how many decimal digits a uint64 holds for sure.
const maxDigits = 19

// fraction appends the digits from field[at] on to others, and returns what follows them.
func fraction(digits uint64, field []byte, at int) (uint64, int) {
	for len(field)-at >= 8 {
		word := binary.LittleEndian.Uint64(field[at:]) ^ zeros
		if notDigits(word) != 0 {
			break
		}
		digits, at = 1e8*digits+eightDigits(word), at+8
	}
	for ; at < len(field) && field[at]-'0' < 10; at++ {
		digits = 10*digits + uint64(field[at]-'0')
	}
	return digits, at
}

const zeros = '0' * ones

// smallTens are 10⁰ to 10⁸.
var smallTens = [9]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// notDigits marks bytes of a word that are more than 9, by their high bits: the first of
// them, and perhaps others that follow it.
func notDigits(word uint64) uint64 { return (word | (word + (0x7f-9)*ones)) & highs }

// eightDigits is the number of which a word has the digits, the first in the lowest byte.
func eightDigits(word uint64) uint64 {
	word = 10*word + word>>8 // pairs, in every second byte
	const pairs = 0x000000ff000000ff
	return (word&pairs*(100+1e6<<32) + word>>16&pairs*(1+1e4<<32)) >> 32
}

// exponentOf reads e and an exponent, and nothing else.
func exponentOf(text []byte) (e int, ok bool) {
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	negative := len(text) > 0 && text[0] == '-'
	if negative || len(text) > 0 && text[0] == '+' {
		text = text[1:]
	}
	for _, c := range text {
		if c-'0' > 9 {
			return 0, false
		}
		if e < 10000 { // more changes nothing
			e = 10*e + int(c-'0')
		}
	}
	if negative {
		e = -e
	}
	return e, len(text) > 0
}

// tens are 10⁻⁶⁴ to 10⁶⁴, each the float64 next to it. No float32 needs more of them: 19
// digits times 10⁻⁶⁵ are less than all.
var tens = func() (powers [2*maxTens + 1]float64) {
	for i := range powers {
		powers[i], _ = strconv.ParseFloat("1e"+strconv.Itoa(i-maxTens), 64)
	}
	return powers
}()

const maxTens = 64

// round returns the float32 next to digits·10^exponent, unless that is hard to tell.
//
// The float64 that is computed here has been rounded three times, by half a unit in its
// last place at most, so it is at most three units from the exact value. Both have the
// same float32 next to them, unless the middle between two of float32 is that near, where
// all 29 bits that a float32 lacks are 0 but the first.
func round(digits uint64, exponent int) (v float32, ok bool) {
	if uint(exponent+maxTens) >= uint(len(tens)) {
		return 0, digits == 0
	}
	x := float64(digits) * tens[exponent+maxTens]
	const lacking, middle, near = 1<<29 - 1, 1 << 28, 8
	if math.Float64bits(x)&lacking-(middle-near) <= 2*near {
		return 0, false
	}
	const smallest = 0x1p-126 // below it float32 has fewer bits
	return float32(x), x >= smallest && x <= math.MaxFloat32 || digits == 0
}

// slow asks strconv.
func slow(field []byte, point byte) (float32, bool) {
	text := string(field)
	if point != '.' {
		text = strings.Replace(text, string(rune(point)), ".", 1)
	}
	x, err := strconv.ParseFloat(text, 32)
	if err != nil {
		return 0, false
	}
	return float32(x), true
}
