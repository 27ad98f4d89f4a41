package sketches

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"mars.dev/mars/stages/algorithms/exact"
)

// A Leaf is what one pass over one part has counted.
type Leaf struct {
	// Fingerprint is a hash of all else: a part that is merged again is known by it.
	Fingerprint string   `json:"fingerprint"`
	Part        string   `json:"part"` // its name: that of its file, without the folder
	Rows        int64    `json:"rows"`
	Keys        string   `json:"keys"`    // the sum of the rows' keys, modulo 2¹²⁸
	Classes     []*Class `json:"classes"` // ascending by name
}

// A Class is the rows of a class, or with the name "" those without a label.
type Class struct {
	Name    string     `json:"name"`
	Rows    int64      `json:"rows"`
	Moments []*Moments `json:"moments"` // of each number of a row
}

// Moments of a column.
type Moments struct {
	Rows    int64   `json:"rows"` // that are not missing
	Sum     exactly `json:"sum"`
	Squares exactly `json:"squares"` // the sum of the squares
	Least   float32 `json:"least"`
	Most    float32 `json:"most"`
}

// exactly is an exact sum, in JSON as text.
type exactly struct{ exact.Sum }

func (e *exactly) MarshalJSON() ([]byte, error) { return json.Marshal(e.String()) }

func (e *exactly) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	s, err := exact.Parse(text)
	if err != nil {
		return err
	}
	e.Sum = *s
	return nil
}

func newClass(name string, numbers int) *Class {
	c := &Class{Name: name, Moments: make([]*Moments, numbers)}
	for i := range c.Moments {
		c.Moments[i] = &Moments{}
	}
	return c
}

func (c *Class) add(numbers []float32) {
	c.Rows++
	for j, v := range numbers {
		if v == v {
			c.Moments[j].add(v)
		}
	}
}

func (m *Moments) add(v float32) {
	if m.Rows == 0 || v < m.Least {
		m.Least = v
	}
	if m.Rows == 0 || v > m.Most {
		m.Most = v
	}
	m.Rows++
	m.Sum.Add(float64(v))
	m.Squares.Add(float64(v) * float64(v)) // exact: 24 bits squared are 48
}

// fingerprint is what Leaf.Fingerprint has to be.
func (l *Leaf) fingerprint() (string, error) {
	bare := *l
	bare.Fingerprint = ""
	text, err := json.Marshal(&bare)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// check checks a leaf that was read.
func (l *Leaf) check(h *Header) error {
	rows := int64(0)
	for i, c := range l.Classes {
		switch {
		case c == nil || c.Rows < 1 || len(c.Moments) != h.numbers():
			return fmt.Errorf("class %d of part %q is not whole", i, l.Part)
		case i > 0 && l.Classes[i-1].Name >= c.Name:
			return fmt.Errorf("the classes of part %q are in no order", l.Part)
		case c.Name != "" && h.Label == "":
			return fmt.Errorf("part %q has classes without a column of labels", l.Part)
		}
		if rows += c.Rows; rows < 0 {
			return errors.New("the rows are too many")
		}
		if slices.ContainsFunc(c.Moments, func(m *Moments) bool { return m == nil || !m.valid(c.Rows) }) {
			return fmt.Errorf("the moments of class %q of part %q are not whole", c.Name, l.Part)
		}
	}
	if rows != l.Rows || rows == 0 {
		return fmt.Errorf("part %q has %d rows, and its classes %d", l.Part, l.Rows, rows)
	}
	if want, err := l.fingerprint(); err != nil || want != l.Fingerprint {
		return fmt.Errorf("the fingerprint of part %q does not fit", l.Part)
	}
	return nil
}

func (m *Moments) valid(rows int64) bool {
	return m.Rows >= 0 && m.Rows <= rows && m.Least <= m.Most && !math.IsInf(float64(m.Least), 0) && !math.IsInf(float64(m.Most), 0) &&
		m.Sum.Check() == nil && m.Squares.Check() == nil
}
