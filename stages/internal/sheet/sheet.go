// Package sheet holds the rows of a target that a person is to label, or has labelled: the
// table that mars ask writes and --labels reads.
//
// The table has a row for each draw: its order, the row's identity, columns to look at, a
// column for the label, the model's guess, the probability with which it was drawn, by which
// part, and a code. The code alone says all that an answer needs, and has letters that check
// it, so that a table survives spreadsheets, sorting, and the loss of what is filled in nowhere;
// the other columns are for people, and are checked against it.
package sheet

import (
	"crypto/sha256"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"mars.dev/mars/stages/algorithms/ppi"
)

// Columns of a sheet beside the identity, the label and those that are kept.
const (
	OrderColumn       = "order"
	ProbabilityColumn = "probability" // of being drawn
	PartColumn        = "part"
	CodeColumn        = "drawn"
)

// A Plan is how all rows of a sheet were drawn.
type Plan struct {
	Uniform, Chosen int // rows of each part
	Seed            uint64
	Target          string // letters that say of which target
}

// Rows is how many rows were drawn.
func (p Plan) Rows() int { return p.Uniform + p.Chosen }

// A Row is one that was drawn.
type Row struct {
	ppi.Draw        // its Row is that of the target
	Order    int    // from 1
	ID       string // its identity
	Label    string // that a person gave; "" for none

	code string // as it was read
}

// name is what messages call a row: a table without identities has none to say.
func (r Row) name() string {
	if r.ID == "" {
		return fmt.Sprintf("the row with order %d", r.Order)
	}
	return fmt.Sprintf("the row with order %d (id %s)", r.Order, r.ID)
}

// partNames are the parts by number, as in the column; a code has their first letters.
var partNames = []string{"uniform", "chosen"}

// PartName is the name of a part.
func PartName(p ppi.Part) string { return partNames[p] }

// Code is the code of a row.
func (p Plan) Code(r Row) string {
	text := fmt.Sprintf("%du%dc%ds-%s-%d%c%d-%s", p.Uniform, p.Chosen, p.Seed, p.Target, r.Order, partNames[r.Part][0], r.Row, probabilityLetters(r.Probability))
	return text + "-" + letters(text+" "+r.ID, checkLetters)
}

var codePattern = regexp.MustCompile(`^(\d+)u(\d+)c(\d+)s-([a-z]+)-(\d+)([uc])(\d+)-([a-z]+)-([a-z]+)$`)

// parseCode reads a code; ok is false if it is none.
func parseCode(code string) (p Plan, r Row, ok bool) {
	part := codePattern.FindStringSubmatch(code)
	if part == nil {
		return p, r, false
	}
	var numbers []int
	for _, i := range []int{1, 2, 5, 7} {
		n, err := strconv.Atoi(part[i])
		if err != nil {
			return p, r, false
		}
		numbers = append(numbers, n)
	}
	seed, err := strconv.ParseUint(part[3], 10, 64)
	if err != nil {
		return p, r, false
	}
	p = Plan{Uniform: numbers[0], Chosen: numbers[1], Seed: seed, Target: part[4]}
	r.Order, r.Row = numbers[2], numbers[3]
	if part[6] == "c" {
		r.Part = ppi.Chosen
	}
	r.Probability, ok = lettersProbability(part[8])
	return p, r, ok
}

const (
	// alphabet has no vowels, so that no spreadsheet reads a month or TRUE in a code.
	alphabet      = "bcdfghjklmnpqrstvwxz"
	checkLetters  = 6
	targetLetters = 8
	// probabilityDigits is how many digits a probability has in a sheet.
	probabilityDigits = 6
)

// letters are the first so many of a hash of a text.
func letters(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[(int(sum[2*i])<<8|int(sum[2*i+1]))%len(alphabet)]
	}
	return string(out)
}

// Rounded is a probability as it stands in a sheet: of six digits.
func Rounded(p float64) float64 {
	p, _ = strconv.ParseFloat(strconv.FormatFloat(p, 'g', probabilityDigits, 64), 64)
	return p
}

// probabilityLetters writes a probability, to six digits, as letters: its digits as a whole
// number, and its exponent.
func probabilityLetters(p float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(p, 'e', probabilityDigits-1, 64), "e-")
	n, _ := strconv.Atoi(strings.Replace(mantissa, ".", "", 1))
	e, _ := strconv.Atoi(exponent) // none of 1, which is 1e+00
	if p >= 1 {
		n, e = int(math.Pow10(probabilityDigits-1)), 0
	}
	var out []byte
	for value := n*maxExponent + min(e, maxExponent-1); value > 0; value /= len(alphabet) {
		out = append(out, alphabet[value%len(alphabet)])
	}
	return string(out)
}

// maxExponent bounds that of a probability: none is as small as 1e−99.
const maxExponent = 100

// lettersProbability reads what probabilityLetters writes.
func lettersProbability(text string) (p float64, ok bool) {
	value := 0
	for i := len(text) - 1; i >= 0; i-- {
		digit := strings.IndexByte(alphabet, text[i])
		if digit < 0 || value > math.MaxInt32 {
			return 0, false
		}
		value = value*len(alphabet) + digit
	}
	p, err := strconv.ParseFloat(fmt.Sprintf("%de-%d", value/maxExponent, value%maxExponent+probabilityDigits-1), 64)
	return p, err == nil && p > 0 && p <= 1
}
