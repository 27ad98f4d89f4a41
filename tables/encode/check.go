package encode

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"mars.dev/mars/tables"
)

// maxWidth is more features than any model has: the encoder of a file is not to ask for
// endless memory.
const maxWidth = 1 << 24

// UnmarshalJSON reads an encoder, and fails if it is none that Learn makes: all that is
// later looked up by its numbers is there.
func (e *Encoder) UnmarshalJSON(text []byte) error {
	type fields Encoder
	if err := json.Unmarshal(text, (*fields)(e)); err != nil {
		return err
	}
	width := 0
	for j := range e.Columns {
		c := &e.Columns[j]
		if err := c.check(); err != nil {
			return fmt.Errorf("column %q: %w: it is damaged, or not of mars: make it again", c.Name, err)
		}
		if width += c.Width(); width > maxWidth {
			return fmt.Errorf("its columns become more than %d features: it is damaged, or not of mars: make it again", maxWidth)
		}
	}
	return nil
}

// partsOf are the parts that the columns of a kind may have.
var partsOf = map[tables.Kind][]part{
	tables.Number:   {plain},
	tables.Category: nil,
	tables.Day:      {days, week, year},
	tables.Clock:    {seconds, clock},
}

func (c *Column) check() error {
	parts, known := partsOf[c.Kind]
	if !known {
		return fmt.Errorf("its kind is %q, which there is not", c.Kind)
	}
	if !c.Layout.Known() {
		return fmt.Errorf("its dates are written as %q, which none are", c.Layout)
	}
	for k, p := range c.Parts {
		if !slices.Contains(parts, p) || slices.Contains(c.Parts[:k], p) {
			return fmt.Errorf("its parts are %q, which a column of that kind has not", c.Parts)
		}
	}
	for _, v := range []float64{float64(c.Fill), float64(c.Origin), c.Centre} {
		if v-v != 0 {
			return errors.New("it has a value that is no number")
		}
	}
	if c.Dropped == "" && (c.Buckets < 0 || c.Buckets > maxWidth) {
		return fmt.Errorf("it has %d buckets, where 0 to %d can be", c.Buckets, maxWidth)
	}
	if c.Centre != 0 && c.Kind != tables.Number {
		return errors.New("it has a centre, and is no number")
	}
	if c.Kind == tables.Category {
		if err := c.checkCategory(); err != nil {
			return err
		}
	} else if len(c.Levels) > 0 || c.Other || c.Buckets != 0 || len(c.Values) > 0 {
		return errors.New("it has values, and is no category")
	}
	if c.Dropped == "" && c.Width() == 0 {
		return errors.New("nothing becomes of it")
	}
	return nil
}

// checkCategory reports levels or a value to fill in that are none of the values.
func (c *Column) checkCategory() error {
	if c.Dropped != "" {
		return nil
	}
	codes := len(c.Values)
	if c.Buckets > 0 {
		codes = c.Buckets
		if len(c.Levels) > 0 || c.Other || len(c.Values) > 0 {
			return errors.New("its values are hashed, and it has some")
		}
	}
	for k, level := range c.Levels {
		if level < 0 || level >= codes || k > 0 && level <= c.Levels[k-1] {
			return fmt.Errorf("its levels are %v, and it has %d values: want their numbers from 0, in order", c.Levels, codes)
		}
	}
	if fill := float64(c.Fill); fill < 0 || fill >= float64(codes) || fill != math.Trunc(fill) {
		return fmt.Errorf("value %v is filled in, and it has %d", c.Fill, codes)
	}
	return nil
}
