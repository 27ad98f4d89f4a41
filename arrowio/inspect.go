package arrowio

import (
	"context"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
)

// Summary is what Inspect finds out about an input.
type Summary struct {
	Name     string            `json:"name"`
	Kind     string            `json:"kind,omitempty"` // "Arrow stream" or "Arrow file"
	Metadata map[string]string `json:"metadata,omitempty"`
	Batches  int               `json:"batches"`
	Rows     int64             `json:"rows"`
	Columns  []ColumnSummary   `json:"columns"`
	Head     [][]string        `json:"head,omitempty"` // first rows, one cell for each column, "null" for nulls
}

// ColumnSummary is about one column. The numbers of a column of vectors are all
// their elements.
type ColumnSummary struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Nulls    int64             `json:"nulls"`
	NaN      int64             `json:"nan,omitempty"` // NaN or infinite numbers
	Numbers  int64             `json:"numbers,omitempty"`
	Min      *float64          `json:"min,omitempty"` // nil where there are no finite numbers
	Max      *float64          `json:"max,omitempty"`
	Mean     *float64          `json:"mean,omitempty"`
	// Values counts the values of a column of strings, up to maxDistinct
	// different ones; nil where there are more, or none.
	Values map[string]int64 `json:"values,omitempty"`
	sum    float64          // of the finite numbers
	many   bool             // there are more than maxDistinct different strings
}

// maxDistinct is how many different strings a summary counts.
const maxDistinct = 100

// Inspect reads all of src and sums it up, with the first head rows. Where the
// input breaks off it returns the error with the summary of what came before.
func Inspect(ctx context.Context, src Stream, head int) (*Summary, error) {
	s := &Summary{Name: src.Name(), Metadata: metadataMap(src.Schema().Metadata())}
	if r, ok := src.(*Reader); ok {
		s.Kind = r.Kind().String()
	}
	for _, f := range src.Schema().Fields() {
		s.Columns = append(s.Columns, ColumnSummary{Name: f.Name, Type: f.Type.String(), Metadata: metadataMap(f.Metadata)})
	}
	err := Each(ctx, src, func(rec arrow.Record) error {
		return s.add(ctx, rec, head)
	})
	for i := range s.Columns {
		s.Columns[i].finish()
	}
	return s, err
}

// Check reads and validates all of src: every message, every array. It returns
// how much there is before the end, or before the error that says where it
// breaks.
func Check(ctx context.Context, src Stream) (batches int, rows int64, err error) {
	err = Each(ctx, src, func(rec arrow.Record) error {
		batches++
		rows += rec.NumRows()
		return nil
	})
	return batches, rows, err
}

func metadataMap(m arrow.Metadata) map[string]string {
	if m.Len() == 0 {
		return nil
	}
	return m.ToMap()
}

func (s *Summary) add(ctx context.Context, rec arrow.Record, head int) error {
	for i := 0; len(s.Head) < head && i < int(rec.NumRows()); i++ {
		s.Head = append(s.Head, row(rec, i))
	}
	s.Batches++
	s.Rows += rec.NumRows()
	for i := range s.Columns {
		s.Columns[i].add(ctx, rec.Column(i))
	}
	return ctx.Err()
}

// row is row i of rec as a table shows it.
func row(rec arrow.Record, i int) []string {
	out := make([]string, rec.NumCols())
	for k, col := range rec.Columns() {
		text, ok := cell(col, i, maxElements)
		if !ok {
			text = "null"
		}
		out[k] = text
	}
	return out
}

// stepRows is how many values of a column are worked on between two checks of the
// context. A batch can take many seconds.
const stepRows = 1 << 13

// add takes in the values of col, or only some if ctx ends.
func (c *ColumnSummary) add(ctx context.Context, col arrow.Array) {
	if at, ok := stringAt(col); ok {
		c.addStrings(ctx, at, col.Len())
		return
	}
	c.Nulls += int64(col.NullN())
	if elements, _, err := elementsOf(col, c.Name); err == nil {
		c.addNumbers(ctx, elements)
		elements.Release()
		return
	}
	c.addNumbers(ctx, col)
}

func (c *ColumnSummary) addStrings(ctx context.Context, at func(int) (string, bool), n int) {
	for i := range n {
		if i%stepRows == 0 && ctx.Err() != nil {
			return
		}
		text, valid := at(i)
		if !valid {
			c.Nulls++
		} else if c.many = c.many || len(c.Values) == maxDistinct && c.Values[text] == 0; !c.many {
			if c.Values == nil {
				c.Values = map[string]int64{}
			}
			c.Values[text]++
		}
	}
}

// addNumbers adds the numbers of col, if it has numbers.
func (c *ColumnSummary) addNumbers(ctx context.Context, col arrow.Array) {
	values, ok := numbersOf[float64](col)
	if !ok {
		return
	}
	if c.Min == nil {
		c.Min, c.Max = new(float64), new(float64)
		*c.Min, *c.Max = math.Inf(1), math.Inf(-1)
	}
	for i, x := range values {
		if i%stepRows == 0 && ctx.Err() != nil {
			return
		}
		if col.IsNull(i) {
			continue
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			c.NaN++
			continue
		}
		c.Numbers++
		c.sum += x
		*c.Min, *c.Max = min(*c.Min, x), max(*c.Max, x)
	}
}

func (c *ColumnSummary) finish() {
	if c.many {
		c.Values = nil
	}
	if c.Numbers == 0 {
		c.Min, c.Max = nil, nil
		return
	}
	mean := c.sum / float64(c.Numbers)
	c.Mean = &mean
}
