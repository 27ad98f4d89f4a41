package shift

import (
	"errors"
	"fmt"
	"mars.dev/mars/internal/spelling"
	"math"
	"slices"
	"strconv"
	"strings"
)

// SumTolerance is how far from 1 the sum of proportions may be. It allows for
// decimals such as 0.333333, but not for a missing class.
const SumTolerance = 1e-6

// ParseProportions reads one proportion for each class, in one of two forms:
//
//	0.66,0.17,0.17           numbers in the order of classes
//	cat=2/3,dog=1/3          class names with their numbers; other classes have 0
//
// A number is a decimal or a fraction. The result has one entry for each class
// and sums to 1 up to rounding. It is an error if the count is wrong, a class is
// unknown or repeated, a number is negative, or the sum differs from 1 by more
// than SumTolerance.
func ParseProportions(text string, classes []string) ([]float64, error) {
	p, err := parseNumbers(text, classes, 0)
	if err == nil {
		err = normalise(p)
	}
	if err != nil {
		return nil, &OptionError{fmt.Errorf("proportions %q: %w", text, err)}
	}
	return p, nil
}

// ParseFractions reads a number from 0 to 1 for each class, in the forms of
// ParseProportions; classes that are not named have 1.
func ParseFractions(text string, classes []string) ([]float64, error) {
	f, err := parseNumbers(text, classes, 1)
	for i := 0; err == nil && i < len(f); i++ {
		if !(f[i] >= 0 && f[i] <= 1) {
			err = fmt.Errorf("number %d is %v: a fraction is from 0 to 1", i+1, f[i])
		}
	}
	if err != nil {
		return nil, &OptionError{fmt.Errorf("fractions %q: %w", text, err)}
	}
	return f, nil
}

func parseNumbers(text string, classes []string, otherwise float64) ([]float64, error) {
	items := strings.Split(text, ",")
	if strings.Contains(text, "=") {
		return parseMap(items, classes, otherwise)
	}
	return parseList(items, classes)
}

// An OptionError says that proportions which a user gave are none.
type OptionError struct{ error }

func (e *OptionError) Unwrap() error { return e.error }

// IsOption marks errors of options, rather than of data.
func (e *OptionError) IsOption() {}

// CheckProportions returns a copy of p that is scaled to the sum 1. It fails if an
// entry is negative or not finite, or if the sum of p differs from 1 by more than
// SumTolerance.
func CheckProportions(p []float64) ([]float64, error) {
	out := append([]float64(nil), p...)
	if err := normalise(out); err != nil {
		return nil, fmt.Errorf("proportions: %w", err)
	}
	return out, nil
}

func parseList(items, classes []string) ([]float64, error) {
	if len(items) != len(classes) {
		return nil, fmt.Errorf("%s for %s (%s): give one a class, or class=number pairs",
			spelling.Count(len(items), "number", "numbers"), spelling.Count(len(classes), "class", "classes"), preview(classes))
	}
	p := make([]float64, len(items))
	for i, item := range items {
		v, err := parseNumber(item)
		if err != nil {
			return nil, err
		}
		p[i] = v
	}
	return p, nil
}

// parseMap reads class=number for some classes; the others have the number otherwise.
func parseMap(items, classes []string, otherwise float64) ([]float64, error) {
	index := make(map[string]int, len(classes))
	for i, c := range classes {
		index[c] = i
	}
	p := slices.Repeat([]float64{otherwise}, len(classes))
	seen := make([]bool, len(classes))
	for _, item := range items {
		cut := strings.LastIndexByte(item, '=')
		if cut < 1 {
			return nil, fmt.Errorf("%q has no class: write class=number for every entry, or for none", item)
		}
		name := strings.TrimSpace(item[:cut])
		i, ok := index[name]
		if !ok {
			return nil, fmt.Errorf("class %q is not in the data: its classes are %s", name, preview(classes))
		}
		if seen[i] {
			return nil, fmt.Errorf("class %q is named twice: name it once", name)
		}
		v, err := parseNumber(item[cut+1:])
		if err != nil {
			return nil, err
		}
		p[i], seen[i] = v, true
	}
	return p, nil
}

// parseNumber reads a decimal or a fraction a/b.
func parseNumber(text string) (float64, error) {
	text = strings.TrimSpace(text)
	over, under, fraction := strings.Cut(text, "/")
	a, err := strconv.ParseFloat(strings.TrimSpace(over), 64)
	b := 1.0
	if err == nil && fraction {
		b, err = strconv.ParseFloat(strings.TrimSpace(under), 64)
	}
	v := a / b
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number: write a decimal such as 0.25 or a fraction such as 1/4", text)
	}
	return v, nil
}

// normalise checks p and divides it by its sum, in place.
func normalise(p []float64) error {
	if len(p) == 0 {
		return errors.New("there are none: give one a class")
	}
	var sum float64
	for i, v := range p {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("number %d is %v: a proportion is at least 0", i+1, v)
		}
		sum += v
	}
	// The last term allows for rounding if the sum is off by exactly the tolerance.
	if math.Abs(sum-1) > SumTolerance+1e-12 {
		return fmt.Errorf("they sum to %.7g: they must sum to 1", sum)
	}
	for i := range p {
		p[i] /= sum
	}
	return nil
}

// maxListed is how many names a message lists.
const maxListed = 10

// preview joins names for a message.
func preview(names []string) string {
	if len(names) > maxListed {
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(", … (%d in all)", len(names))
	}
	return strings.Join(names, ", ")
}
