package sheet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/stream"
)

// A Target finds out, batch by batch, of which target rows are: by the content of its files,
// where the stream's provenance or the step says it, and by the rows' identities. Where both
// say nothing, as for rows from a pipe that are known by their numbers, it looks at the
// features too.
type Target struct {
	Rows int

	r        *stream.Rows
	files    []string // hashes
	ids      hash.Hash
	features hash.Hash
	numbered bool // the identities are row numbers
}

// NewTarget looks at no row yet.
func NewTarget(r *stream.Rows) (*Target, error) {
	t := &Target{r: r, ids: sha256.New(), features: sha256.New(), numbered: true}
	meta, err := r.Meta()
	if err != nil {
		return nil, err
	}
	if _, sampled := r.Schema().Metadata().GetValue(arrowio.TotalsKey); sampled {
		return nil, r.Fail("", errors.New("the target is a sketch, of which only a sample of the rows is there"), "give all rows of the target to draw some of them, and to read their labels")
	}
	for _, step := range append(slices.Clone(meta.Provenance), r.Step) {
		for _, name := range slices.Sorted(maps.Keys(step.State)) {
			if strings.HasPrefix(name, "target=") {
				t.files = append(t.files, step.State[name])
			}
		}
	}
	slices.Sort(t.files)
	t.files = slices.Compact(t.files)
	return t, nil
}

// Add looks at a batch, and returns which of its rows are the target's, and their identities.
func (t *Target) Add(rec arrow.Record) (at []int, ids []string, err error) {
	domains, err := t.r.Domains(rec)
	if err != nil {
		return nil, nil, err
	}
	var column arrow.Array
	if i := rec.Schema().FieldIndices(t.r.Columns.ID); len(i) > 0 {
		column = rec.Column(i[0])
	}
	for i, d := range domains {
		if d != arrowio.TargetDomain {
			continue
		}
		number := fmt.Sprint(t.Rows)
		id := number
		if column != nil {
			id, _ = arrowio.Cell(column, i)
		}
		t.numbered = t.numbered && id == number
		fmt.Fprintf(t.ids, "%d %s\n", len(id), id)
		at, ids = append(at, i), append(ids, id)
		t.Rows++
	}
	if err := t.checkValues(rec, at); err != nil {
		return nil, nil, err
	}
	return at, ids, t.addFeatures(rec, at)
}

// checkValues refuses rows without any value: nobody can say what a model makes of them, and
// intervals that left them out would not hold for the target.
func (t *Target) checkValues(rec arrow.Record, at []int) error {
	if !t.r.Has(t.r.Columns.Features) {
		return nil
	}
	x, err := arrowio.VectorColumnWithGaps(rec, t.r.Columns.Features)
	if err != nil {
		return err
	}
	for k, i := range at {
		if x.Missing(i) {
			return fmt.Errorf("%s: target row %d has no value in any column: take such rows out before rows are drawn to be labelled, and say how many there were",
				t.r.Name(), t.Rows-len(at)+k+1)
		}
	}
	return nil
}

// addFeatures looks at the features where nothing else may tell targets apart.
func (t *Target) addFeatures(rec arrow.Record, at []int) error {
	if t.files != nil || !t.numbered || !t.r.Has(t.r.Columns.Features) || len(at) == 0 {
		return nil
	}
	x, err := arrowio.VectorColumn(rec, t.r.Columns.Features)
	if err != nil {
		return err
	}
	for _, i := range at {
		for _, v := range x.Row(i) {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
			t.features.Write(b[:]) // cannot fail
		}
	}
	return nil
}

// Letters say of which target the rows are.
func (t *Target) Letters() string {
	text := fmt.Sprintf("%d rows %x %s", t.Rows, t.ids.Sum(nil), t.files)
	if t.byFeatures() {
		text += fmt.Sprintf(" %x", t.features.Sum(nil))
	}
	return letters(text, targetLetters)
}

// byFeatures reports whether the rows are known by their features alone.
func (t *Target) byFeatures() bool { return t.files == nil && t.numbered }

// Locate goes through a stream, finds the rows of a sheet, and checks that they are those that
// were drawn. It returns their vectors of a column, unless that is "". The stream is then at
// its end.
func (f *Filled) Locate(ctx context.Context, r *stream.Rows, vectors string) (map[int][]float32, error) {
	t, err := NewTarget(r)
	if err != nil {
		return nil, err
	}
	ids, found := map[int]string{}, map[int][]float32{}
	for _, row := range f.Rows {
		ids[row.Row] = ""
	}
	err = r.Each(ctx, func(rec arrow.Record) error {
		first := t.Rows
		at, names, err := t.Add(rec)
		if err != nil {
			return err
		}
		for k, i := range at {
			if _, wanted := ids[first+k]; !wanted {
				continue
			}
			ids[first+k] = names[k]
			if vectors == "" {
				continue
			}
			x, err := arrowio.VectorColumn(rec, vectors)
			if err != nil {
				return err
			}
			found[first+k] = slices.Clone(x.Row(i))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, f.check(t, ids)
}
