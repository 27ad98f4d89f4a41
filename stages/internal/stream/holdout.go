package stream

import (
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// A holdOut says which source rows are kept from training. On the rows that it was
// trained on a classifier makes few mistakes, so its mistakes are counted on these.
type holdOut struct {
	// one of so many rows of each class is held out; 0: those that the stream's column
	// says.
	of   int
	rng  *rand.Rand
	seen []int // rows of each class so far
	pick []int // which of the next rows of the class is held out
}

// streamHoldOut is the stream of random numbers that picks rows to hold out.
const streamHoldOut = 0x401d

// HoldOut has Gather set source rows apart: one of so many of each class, picked at
// random, which Emit then marks in the column unseen; or, if of is 0, those that the
// column marks already. It reports whether there are any. Gather needs labels to do so.
func (r *Rows) HoldOut(of int) bool {
	if of > 0 || r.Has(r.Columns.Unseen) {
		r.held = &holdOut{of: of}
	}
	return r.held != nil
}

// restart begins a pass over all rows.
func (h *holdOut) restart(seed uint64, classes int) {
	h.rng = rand.New(rand.NewPCG(seed, streamHoldOut))
	h.seen, h.pick = make([]int, classes), make([]int, classes)
}

// next reports whether the next source row, of that class, is held out. The second row of
// every class is, so that none is missing among these rows or the others.
func (h *holdOut) next(class int32) bool {
	at := h.seen[class] % h.of
	if at == 0 {
		h.pick[class] = h.rng.IntN(h.of)
	}
	if h.seen[class] == 0 {
		h.pick[class] = min(1, h.of-1)
	}
	h.seen[class]++
	return at == h.pick[class]
}

// marks says of each row of a batch whether it is a source row that is held out.
func (h *holdOut) marks(r *Rows, rec arrow.Record, domains []arrowio.Domain, labels []int32) ([]bool, error) {
	if h.of > 0 {
		return h.picks(domains, labels), nil
	}
	marks, column := make([]bool, len(domains)), r.Columns.Unseen
	values, err := arrowio.IntColumn(rec, column)
	if err != nil {
		return nil, err
	}
	for i, d := range domains {
		switch v := values.Values[i]; {
		case d != arrowio.SourceDomain || values.Null(i):
		case v != 0 && v != 1:
			return nil, r.Fail(column, fmt.Errorf("row %d of its batch has %d", i+1, v), "write true or 1 for source rows that are not trained on, and false or 0 for the others")
		default:
			marks[i] = v == 1
		}
	}
	return marks, nil
}

// picks is marks of rows that are picked at random.
func (h *holdOut) picks(domains []arrowio.Domain, labels []int32) []bool {
	marks := make([]bool, len(domains))
	for i, d := range domains {
		marks[i] = d == arrowio.SourceDomain && h.next(labels[i])
	}
	return marks
}

// markHeldOut adds the column of the rows that this stage held out to what it adds.
func (r *Rows) markHeldOut(added Added, classes []string) Added {
	if r.held == nil || r.held.of == 0 {
		return added
	}
	r.held.restart(r.Seed, len(classes))
	of := added.Of
	added.Fields = append(added.Fields, arrow.Field{Name: r.Columns.Unseen, Type: arrow.FixedWidthTypes.Boolean})
	added.Of = func(rec arrow.Record) ([]arrow.Array, error) {
		domains, err := r.Domains(rec)
		if err != nil {
			return nil, err
		}
		labels, err := r.Labels(rec, domains, classes)
		if err != nil {
			return nil, err
		}
		arrays, err := of(rec)
		if err != nil {
			return nil, err
		}
		return append(arrays, arrowio.NewBoolArray(r.held.picks(domains, labels))), nil
	}
	return added
}
