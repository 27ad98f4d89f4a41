package sketches

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Kinds of columns.
const (
	Number = "number"
	Text   = "text"
	Day    = "day"    // days since 1970-01-01
	Vector = "vector" // of Column.Width numbers
)

// A Column of the rows.
type Column struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Width int    `json:"width,omitempty"` // of a Vector
}

// width is how many numbers a row has in the column.
func (c Column) width() int {
	switch c.Kind {
	case Text:
		return 0
	case Vector:
		return c.Width
	}
	return 1
}

// DefaultSample is how many rows of a domain a fit of the default looks at (hedge.MaxRows),
// and ClassRows how many it keeps of each class of the source.
const (
	DefaultSample = 20_000
	ClassRows     = 100
)

// MaxSample is the greatest size of a sample.
const MaxSample = 10_000_000

// A Header is what sketches have to have in common to be merged.
type Header struct {
	Version int      `json:"version"`
	Sample  int      `json:"sample"`          // k
	Seed    uint64   `json:"seed"`            // of the keys
	ID      string   `json:"id,omitempty"`    // column of identities, which make keys; "": contents do
	Label   string   `json:"label,omitempty"` // column of labels; "": there are none
	Columns []Column `json:"columns"`
}

// version is that of the files.
const version = 1

// numbers is how many a row has.
func (h *Header) numbers() (n int) {
	for _, c := range h.Columns {
		n += c.width()
	}
	return n
}

// A Key says which rows are in a sample: the smallest.
type Key [16]byte

func (k Key) compare(o Key) int { return bytes.Compare(k[:], o[:]) }

// A Row of the sample.
type Row struct {
	Key     Key
	ID      string
	Label   string    // "" for none
	Numbers []float32 // of all columns of numbers, in their order; NaN is missing
	Texts   []string  // of all columns of text; "" is missing
	parts   []share   // ascending
}

// A share is how many rows of a leaf are this one: more than one only where contents are keys.
type share struct {
	leaf  int // index in Sketch.Leaves
	count int64
}

// times is how many rows the row stands for.
func (r *Row) times(h *Header) (n int64) {
	if h.ID != "" {
		return 1
	}
	for _, p := range r.parts {
		n += p.count
	}
	return n
}

// same reports whether two rows have the same content.
func (r *Row) same(o *Row) bool {
	return r.ID == o.ID && r.Label == o.Label && slices.Equal(r.Texts, o.Texts) &&
		slices.EqualFunc(r.Numbers, o.Numbers, func(a, b float32) bool { return a == b || a != a && b != b })
}

// A Sketch of some parts of a domain.
type Sketch struct {
	Header
	Leaves []*Leaf // ascending by fingerprint
	Rows   []*Row  // ascending by key: the bottom-k, and the bottom-ClassRows of each class
}

// keyOf appends what the key of a row is a hash of to buffer, and returns both.
func (h *Header) keyOf(buffer []byte, id, label string, numbers []float32, texts []string) (Key, []byte) {
	b := binary.LittleEndian.AppendUint64(buffer[:0], h.Seed)
	if h.ID != "" {
		b = append(append(b, 'i'), id...)
	} else {
		b = append(b, 'c')
		for _, v := range numbers {
			bits := math.Float32bits(v)
			switch {
			case v != v:
				bits = 0x7fc00000
			case v == 0: // −0 too
				bits = 0
			}
			b = binary.LittleEndian.AppendUint32(b, bits)
		}
		for _, text := range texts {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
		}
		b = append(b, label...)
	}
	return Key(xxh3.Hash128(b).Bytes()), b
}

// choose returns the rows that belong to the sample, of rows ascending by key.
func (h *Header) choose(rows []*Row) []*Row {
	kept, seen := rows[:0:0], map[string]int{}
	for i, r := range rows {
		if r.Label != "" {
			seen[r.Label]++
		}
		if i < h.Sample || r.Label != "" && seen[r.Label] <= ClassRows {
			kept = append(kept, r)
		}
	}
	return kept
}

// Mismatch returns an error that says what sketches do not have in common, nil if they can be
// merged.
func (h *Header) Mismatch(o *Header) error {
	switch {
	case h.Sample != o.Sample:
		return fmt.Errorf("its sample is of %d rows, and that of the others of %d: make all with the same --sample", o.Sample, h.Sample)
	case h.Seed != o.Seed:
		return fmt.Errorf("it was made with --seed %d, and the others with %d: make all with the same", o.Seed, h.Seed)
	case h.ID != o.ID:
		return fmt.Errorf("its rows are known by %s, and those of the others by %s: make all with the same --id", known(o.ID), known(h.ID))
	case h.Label != o.Label:
		return fmt.Errorf("its labels are in %s, and those of the others in %s: make all with the same --label", orNone(o.Label), orNone(h.Label))
	}
	for i := range max(len(h.Columns), len(o.Columns)) {
		switch {
		case i >= len(o.Columns):
			return fmt.Errorf("it has no column %q, which the others have: name the columns in common with --columns", h.Columns[i].Name)
		case i >= len(h.Columns):
			return fmt.Errorf("it has a column %q, which the others do not have: name the columns in common with --columns", o.Columns[i].Name)
		}
		a, b := h.Columns[i], o.Columns[i]
		switch {
		case a.Name != b.Name:
			return fmt.Errorf("its column %d is %q, and that of the others %q: name the columns in one order with --columns", i+1, b.Name, a.Name)
		case a.Kind != b.Kind:
			return fmt.Errorf("its column %q is of the kind %s, and that of the others %s: make all sketches with --categorical %s, or leave the column out with --exclude", a.Name, b.Kind, a.Kind, a.Name)
		case a.Width != b.Width:
			return fmt.Errorf("its column %q has lists of %d numbers, and that of the others %d: give rows of one length", a.Name, b.Width, a.Width)
		}
	}
	return nil
}

func known(column string) string {
	if column == "" {
		return "their content"
	}
	return fmt.Sprintf("the column %q", column)
}

func orNone(column string) string {
	if column == "" {
		return "no column"
	}
	return fmt.Sprintf("the column %q", column)
}

// Merge returns the sketch of the union of the rows. names are the inputs', for errors. The
// order does not matter.
func Merge(sketches []*Sketch, names []string) (*Sketch, error) {
	if len(sketches) == 0 {
		return nil, errors.New("there are no sketches to merge")
	}
	out := &Sketch{Header: sketches[0].Header}
	leaves := map[string]*Leaf{}
	for i, s := range sketches {
		if err := out.Mismatch(&s.Header); err != nil {
			return nil, fmt.Errorf("%s: %w", names[i], err)
		}
		for _, l := range s.Leaves {
			leaves[l.Fingerprint] = l
		}
	}
	out.Leaves = slices.SortedFunc(maps.Values(leaves), func(a, b *Leaf) int { return strings.Compare(a.Fingerprint, b.Fingerprint) })
	place := make(map[string]int, len(out.Leaves))
	for i, l := range out.Leaves {
		place[l.Fingerprint] = i
	}
	rows := map[Key]*Row{}
	for i, s := range sketches {
		for _, r := range s.Rows {
			have := rows[r.Key]
			if have == nil {
				have = &Row{Key: r.Key, ID: r.ID, Label: r.Label, Numbers: r.Numbers, Texts: r.Texts}
				rows[r.Key] = have
			} else if !have.same(r) {
				return nil, fmt.Errorf("%s: the id %q is of another row than in the other sketches: ids have to be unique in all parts, or choose another column with --id", names[i], r.ID)
			}
			for _, p := range r.parts {
				have.add(share{place[s.Leaves[p.leaf].Fingerprint], p.count})
			}
		}
	}
	out.Rows = out.choose(sorted(rows))
	return out, nil
}

// add adds a share of a leaf, unless it is there.
func (r *Row) add(p share) {
	i, there := slices.BinarySearchFunc(r.parts, p, func(a, b share) int { return cmp.Compare(a.leaf, b.leaf) })
	if !there {
		r.parts = slices.Insert(r.parts, i, p)
	}
}

func sorted(rows map[Key]*Row) []*Row {
	return slices.SortedFunc(maps.Values(rows), func(a, b *Row) int { return a.Key.compare(b.Key) })
}
