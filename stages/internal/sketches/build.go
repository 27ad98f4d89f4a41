package sketches

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// A Builder makes the sketch of a part, row by row.
type Builder struct {
	header  Header
	leaf    *Leaf
	classes map[string]*Class
	rows    map[Key]*Row
	room    int // rows beyond which those that are not in the sample are dropped

	limit       *Key           // of the rows of the sample; nil: all are in it
	classLimits map[string]Key // the same by class
	low, high   uint64         // the sum of the keys
	buffer      []byte
}

// NewBuilder begins the sketch of a part of that name.
func NewBuilder(h Header, part string) *Builder {
	h.Version = version
	return &Builder{header: h, leaf: &Leaf{Part: part}, classes: map[string]*Class{}, rows: map[Key]*Row{},
		room: 2*h.Sample + 1024, classLimits: map[string]Key{}}
}

// Add adds a row, whose slices need not stay as they are. It fails for an identity that the
// sample has already.
func (b *Builder) Add(id, label string, numbers []float32, texts []string) error {
	if b.header.ID == "" {
		id = ""
	}
	var key Key
	key, b.buffer = b.header.keyOf(b.buffer, id, label, numbers, texts)
	b.addKey(key)
	c := b.classes[label]
	if c == nil {
		label = strings.Clone(label)
		c = newClass(label, len(numbers))
		b.classes[label] = c
	}
	c.add(numbers)
	b.leaf.Rows++
	if !b.wanted(key, label) {
		return nil
	}
	if have := b.rows[key]; have != nil {
		if b.header.ID != "" {
			return fmt.Errorf("the id %q is there twice: make ids unique, or choose another id column", id)
		}
		have.parts[0].count++
		return nil
	}
	r := &Row{Key: key, ID: strings.Clone(id), Label: c.Name, Numbers: slices.Clone(numbers), Texts: make([]string, len(texts)), parts: []share{{0, 1}}}
	for i, text := range texts {
		r.Texts[i] = strings.Clone(text)
	}
	b.rows[key] = r
	if len(b.rows) > b.room {
		b.prune()
	}
	return nil
}

// wanted reports whether a row may be in the sample.
func (b *Builder) wanted(key Key, label string) bool {
	if b.limit == nil || key.compare(*b.limit) <= 0 {
		return true
	}
	if label == "" {
		return false
	}
	limit, known := b.classLimits[label]
	return !known || key.compare(limit) <= 0
}

// prune drops rows that are not in the sample.
func (b *Builder) prune() {
	kept := b.header.choose(sorted(b.rows))
	clear(b.rows)
	seen := map[string]int{}
	for i, r := range kept {
		b.rows[r.Key] = r
		if i == b.header.Sample-1 {
			b.limit = &r.Key
		}
		if seen[r.Label]++; seen[r.Label] == ClassRows {
			b.classLimits[r.Label] = r.Key
		}
	}
	b.room = max(b.room, len(kept)+b.header.Sample+1024)
}

func (b *Builder) addKey(k Key) {
	var carry uint64
	b.low, carry = bits.Add64(b.low, binary.BigEndian.Uint64(k[8:]), 0)
	b.high, _ = bits.Add64(b.high, binary.BigEndian.Uint64(k[:8]), carry)
}

// Classes is the number of classes so far.
func (b *Builder) Classes() int { return len(b.classes) }

// Sketch is the sketch of the rows.
func (b *Builder) Sketch() (*Sketch, error) {
	b.leaf.Classes = slices.SortedFunc(maps.Values(b.classes), func(x, y *Class) int { return strings.Compare(x.Name, y.Name) })
	sum := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, b.high), b.low)
	b.leaf.Keys = hex.EncodeToString(sum)
	var err error
	if b.leaf.Fingerprint, err = b.leaf.fingerprint(); err != nil {
		return nil, err
	}
	return &Sketch{Header: b.header, Leaves: []*Leaf{b.leaf}, Rows: b.header.choose(sorted(b.rows))}, nil
}
