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
	Rows    int
	Missing int // of them, that have no value at all: nobody draws them

	r        *stream.Rows // nil of a file
	name     string
	files    []string // hashes
	ids      hash.Hash
	features hash.Hash
	numbered bool // the identities are row numbers
}

// NewTarget looks at no row yet.
func NewTarget(r *stream.Rows) (*Target, error) {
	t := &Target{r: r, name: r.Name(), ids: sha256.New(), features: sha256.New(), numbered: true}
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

// A Place is where a row is.
type Place struct {
	At     int    // in its batch
	Number int    // among the target's rows, from 0
	ID     string // its identity
}

// Add looks at a batch, and returns where its rows of the target are that have a value.
func (t *Target) Add(rec arrow.Record) (places []Place, err error) {
	domains, err := t.r.Domains(rec)
	if err != nil {
		return nil, err
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
		places = append(places, Place{i, t.Rows, id})
		t.Name(id)
	}
	if !t.r.Has(t.r.Columns.Features) || len(places) == 0 {
		return places, nil
	}
	x, err := arrowio.VectorColumnWithGaps(rec, t.r.Columns.Features)
	if err != nil {
		return nil, err
	}
	all := len(places)
	places = slices.DeleteFunc(places, func(p Place) bool { return x.Missing(p.At) })
	t.Missing += all - len(places)
	t.addFeatures(x, places)
	return places, nil
}

// addFeatures looks at the features where nothing else may tell targets apart.
func (t *Target) addFeatures(x arrowio.Vectors, places []Place) {
	if t.files != nil || !t.numbered {
		return
	}
	for _, p := range places {
		for _, v := range x.Row(p.At) {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
			t.features.Write(b[:]) // cannot fail
		}
	}
}

// OfFile looks at no row yet of a target that is a file with this hash, and gets a name alone for each
// row.
func OfFile(name, hash string) *Target {
	return &Target{name: name, files: []string{hash}, ids: sha256.New()}
}

// Name looks at the identity of the next row, its number from 0 if it has none.
func (t *Target) Name(id string) {
	fmt.Fprintf(t.ids, "%d %s\n", len(id), id)
	t.Rows++
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

// Located is where the rows of a sheet are, by their number among the target's rows.
type Located struct {
	Vectors map[int][]float32
	Known   map[int]int // the number among the target's rows that have a value
	Missing int         // rows of the target that have none
	Rows    int         // of the target

	known int
}

// Locate goes through a stream, finds the rows of a sheet, and checks that they are those that
// were drawn. The stream is then at its end.
func (f *Filled) Locate(ctx context.Context, r *stream.Rows, vectors string) (*Located, error) {
	t, err := NewTarget(r)
	if err != nil {
		return nil, err
	}
	ids, found := map[int]string{}, &Located{Vectors: map[int][]float32{}, Known: map[int]int{}}
	for _, row := range f.Rows {
		ids[row.Row] = ""
	}
	err = r.Each(ctx, func(rec arrow.Record) error {
		places, err := t.Add(rec)
		if err != nil {
			return err
		}
		for _, p := range places {
			found.known++
			if _, wanted := ids[p.Number]; !wanted {
				continue
			}
			ids[p.Number] = p.ID
			x, err := arrowio.VectorColumnWithGaps(rec, vectors)
			if err != nil {
				return err
			}
			found.Vectors[p.Number], found.Known[p.Number] = slices.Clone(x.Row(p.At)), found.known-1
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	found.Missing, found.Rows = t.Missing, t.Rows
	return found, f.Check(t, ids)
}
