package state

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// checksumKey is the metadata key of the SHA-256 of all else that a table holds.
const checksumKey = "mars.checksum"

// checksum is the SHA-256 of the table's metadata and columns: names, types and
// values. It fails if a column is of a type that no state has.
func (t *Table) checksum() (string, error) {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(t.meta)) {
		if key != checksumKey {
			hashText(h, key, t.meta[key])
		}
	}
	for i, f := range t.fields {
		hashText(h, f.Name, f.Type.String())
		if i < len(t.columns) {
			if err := hashColumn(h, t.columns[i]); err != nil {
				return "", fmt.Errorf("column %q: %w", f.Name, err)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashText hashes texts with their lengths, so that no two lists of them are alike.
func hashText(h hash.Hash, texts ...string) {
	for _, text := range texts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) // a hash's Write never fails
		h.Write([]byte(text))
	}
}

func hashColumn(h hash.Hash, column arrow.Array) error {
	if column.NullN() > 0 {
		return errors.New("holds nulls")
	}
	switch c := column.(type) {
	case *array.Float64:
		return binary.Write(h, binary.LittleEndian, c.Float64Values())
	case *array.Int32:
		return binary.Write(h, binary.LittleEndian, c.Int32Values())
	case *array.String:
		for i := range c.Len() {
			hashText(h, c.Value(i))
		}
		return nil
	case *array.FixedSizeList:
		if values, ok := c.ListValues().(*array.Float64); ok && values.NullN() == 0 {
			begin, _ := c.ValueOffsets(0)
			end, _ := c.ValueOffsets(c.Len())
			return binary.Write(h, binary.LittleEndian, values.Float64Values()[begin:end])
		}
	}
	return fmt.Errorf("is %s, which no state holds", column.DataType())
}

// verify returns an error if the table is not what Save wrote.
func (t *Table) verify() error {
	const advice = "save it again"
	want := t.meta[checksumKey]
	if want == "" {
		return errors.New("has no checksum: it is damaged or was written by an older version: " + advice)
	}
	sum, err := t.checksum()
	if err != nil {
		return fmt.Errorf("%w: it is damaged: %s", err, advice)
	}
	if sum != want {
		return errors.New("does not fit its checksum: it was changed or is damaged: " + advice)
	}
	for i, column := range t.columns {
		if err := finite(column); err != nil {
			return fmt.Errorf("column %q: %w: %s", t.fields[i].Name, err, advice)
		}
	}
	return nil
}

// finite returns an error if a number of a column is NaN or infinite.
func finite(column arrow.Array) error {
	if list, ok := column.(*array.FixedSizeList); ok {
		column = list.ListValues()
	}
	values, ok := column.(*array.Float64)
	if !ok {
		return nil
	}
	for i, v := range values.Float64Values() {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value %d is %v", i, v)
		}
	}
	return nil
}

// sharesTolerance is what shares may differ from 1 by, in all.
const sharesTolerance = 1e-6

// Shares is a column of shares: numbers from 0 to 1 whose sum is 1.
func (t *Table) Shares(name string) []float64 {
	values, sum := t.Floats(name), 0.0
	for i, v := range values {
		if !(v >= 0 && v <= 1+sharesTolerance) {
			t.fail(name, ": value %d is %v, want a share from 0 to 1", i, v)
			return nil
		}
		sum += v
	}
	if t.err == nil && math.Abs(sum-1) > sharesTolerance {
		t.fail(name, ": the shares' sum is %v, want 1", sum)
		return nil
	}
	return values
}

// Names is a column of names, no two of them alike.
func (t *Table) Names(name string) []string {
	values := t.Strings(name)
	seen := map[string]bool{}
	for _, v := range values {
		if seen[v] {
			t.fail(name, ": %q is there twice", v)
		}
		seen[v] = true
	}
	if t.err == nil && len(values) == 0 {
		t.fail(name, " holds no class")
	}
	return values
}
