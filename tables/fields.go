package tables

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"mars.dev/mars/arrowio"
)

// A Kind is what the values of a column are. Whatever they are, a Table holds them as
// float32, and NaN where one is missing.
type Kind string

// Kinds of columns. A column of dates with times is two of a Table: Day and Clock.
const (
	Number   Kind = ""
	Category Kind = "category" // the index in Field.Values; their number if it is none of them
	Day      Kind = "day"      // days since 1970-01-01
	Clock    Kind = "clock"    // seconds since midnight
)

// A Field is a column of a table that was read with Options.Mixed.
type Field struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind,omitempty"`
	Values  []string `json:"values,omitempty"`  // of a category
	Buckets int      `json:"buckets,omitempty"` // of a category: its cells are Bucket of the values instead
	Layout  Layout   `json:"layout,omitempty"`  // of dates in text
	Centre  float64  `json:"centre,omitempty"`  // of numbers: it is taken off before they become float32
}

// MaxValues is the largest number of different values of a category. float32 holds larger
// whole numbers, but nobody learns from so many: what comes after them is missing, and the
// column is text that says nothing.
const MaxValues = 1 << 16

// missingCell is the cell of a value that is not there.
func missingCell() float32 { return float32(math.NaN()) }

// noCategory are the words for a missing value in a column of text. In a column of numbers
// there are more, which here may be a value like any other.
var noCategory = []string{"", "na", "n/a", "nan", "null", "<na>", "#n/a"}

func isMissingText(text string) bool {
	return len(text) <= 4 && slices.Contains(noCategory, strings.ToLower(text))
}

// canonical is a value of a category as values are compared: programs write 3 as 3.0.
func canonical(text string) string {
	if whole, ok := strings.CutSuffix(text, ".0"); ok {
		if _, ok := wholeNumber(whole); ok {
			return whole
		}
	}
	return text
}

// A category gives the values of a column their indices.
type category struct {
	values  []string
	buckets int
	codes   map[string]int
	open    bool // values that are new get an index
	many    bool // there are too many
}

// newCategory knows the values of a field.
func newCategory(f Field, open bool) *category {
	c := &category{codes: map[string]int{}, values: slices.Clone(f.Values), buckets: f.Buckets, open: open}
	for i, value := range f.Values {
		if !isMissingText(value) && canonical(value) == value { // others are not looked up
			c.codes[value] = i
		}
	}
	return c
}

// code is the cell of a value. The text need not stay as it is.
func (c *category) code(text string, mem *arrowio.Budget) (float32, error) {
	if i, known := c.codes[text]; known && c.buckets == 0 { // as nearly all are
		return float32(i), nil
	}
	if c.many || isMissingText(text) {
		return missingCell(), nil
	}
	text = canonical(text)
	if c.buckets > 0 {
		return float32(Bucket(text, c.buckets)), nil
	}
	if i, known := c.codes[text]; known {
		return float32(i), nil
	}
	switch {
	case !c.open:
		return float32(len(c.values)), nil
	case len(c.values) == MaxValues:
		c.many, c.codes = true, nil
		return missingCell(), nil
	}
	if err := mem.Take(int64(len(text)) + 2*nameCost); err != nil {
		return 0, err
	}
	text = strings.Clone(text)
	c.codes[text] = len(c.values)
	c.values = append(c.values, text)
	return float32(len(c.values) - 1), nil
}

// Bucket is one of n numbers from 0, the same for a value in all tables.
func Bucket(value string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(value))
	return int(h.Sum32() % uint32(n))
}

// Spellings are the texts that are a value of a category.
func Spellings(value string) []string {
	if canonical(value+".0") == value {
		return []string{value, value + ".0"}
	}
	return []string{value}
}

// MissingTexts are all texts for a missing value of a category, the empty one first.
func MissingTexts() []string {
	var texts []string
	for _, word := range noCategory {
		texts = append(texts, cases(word)...)
	}
	return texts
}

// cases are all ways to write a word in small and large letters.
func cases(word string) []string {
	texts := []string{""}
	for _, r := range word {
		small, large := string(r), strings.ToUpper(string(r))
		n := len(texts)
		for _, t := range texts {
			if large != small {
				texts = append(texts, t+large)
			}
		}
		for i, t := range texts[:n] {
			texts[i] = t + small
		}
	}
	return texts
}
