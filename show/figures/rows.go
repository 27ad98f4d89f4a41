package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
)

// Rows are those of a stream that are drawn.
type Rows struct {
	Name    string           // of the stream
	Vectors []blas32.General // of each column asked for that the stream has
	Columns []string         // their names
	Domains []arrowio.Domain
	Classes []int32  // −1: not known
	Names   []string // of the classes
	Total   int      // rows of the domains asked for
	Colours string   // where the target's classes are from: truth, prediction, or ""
}

// RowOptions say which rows are read.
type RowOptions struct {
	Columns arrowio.Columns
	Vectors []string // columns of vectors
	Domain  string   // source, target or both
	Colours string   // truth, prediction, none, or auto: the first of these that there is
	Limit   int      // rows at most
	Seed    uint64   // of the sample
}

// drawnRow is a row of the sample. Those with the least keys are in it, so that streams with
// the same rows have the same sample, and each row the same chance.
type drawnRow struct {
	key     uint64
	at      int
	vectors [][]float32
	domain  arrowio.Domain
	class   int32
}

// Read reads a stream, and keeps a fair sample by the seed if it has more rows than the
// limit.
func Read(ctx context.Context, in arrowio.Stream, o RowOptions) (*Rows, error) {
	meta, err := arrowio.ReadMeta(in.Schema())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	r := &reader{RowOptions: o, bound: math.MaxUint64, rows: &Rows{Name: in.Name(), Names: meta.Classes}}
	if err := r.find(in.Schema()); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	if err := arrowio.Each(ctx, in, r.add); err != nil {
		return nil, err
	}
	if len(r.sample) == 0 {
		return nil, fmt.Errorf("%s: has no rows to draw: its domain is to be %s", in.Name(), o.Domain)
	}
	r.finish()
	return r.rows, nil
}

type reader struct {
	RowOptions
	rows   *Rows
	seen   int
	sample []drawnRow // those of the least keys, up to twice as many as the limit
	bound  uint64     // of the keys that may still be in it
	widths []int
	target string // column of the target's classes
}

// find settles which columns are read.
func (r *reader) find(schema *arrow.Schema) error {
	for _, name := range r.Vectors {
		if arrowio.HasColumn(schema, name) {
			r.rows.Columns = append(r.rows.Columns, name)
		}
	}
	if len(r.rows.Columns) == 0 {
		return fmt.Errorf("has no column %s: name a column of vectors with --column", join(r.Vectors))
	}
	columns := map[string]string{"truth": r.RowOptions.Columns.Truth, "prediction": r.RowOptions.Columns.Prediction}
	for _, colours := range []string{"truth", "prediction"} {
		if has := arrowio.HasColumn(schema, columns[colours]); has && r.target == "" && (r.Colours == "auto" || r.Colours == colours) {
			r.target, r.rows.Colours = columns[colours], colours
		} else if !has && r.Colours == colours {
			return fmt.Errorf("has no column %q to colour target rows by: choose another --colour", columns[colours])
		}
	}
	return nil
}

func join(names []string) string {
	text := ""
	for i, name := range names {
		if i > 0 {
			text += " or "
		}
		text += strconv.Quote(name)
	}
	return text
}

// add takes the rows of a batch.
func (r *reader) add(rec arrow.Record) error {
	domains, err := arrowio.DomainColumn(rec, r.RowOptions.Columns.Domain)
	if err != nil {
		return err
	}
	vectors := make([]arrowio.Vectors, len(r.rows.Columns))
	for k, name := range r.rows.Columns {
		if vectors[k], err = arrowio.VectorColumnWithGaps(rec, name); err != nil {
			return err
		}
		switch {
		case vectors[k].Rows == 0:
		case len(r.widths) <= k:
			r.widths = append(r.widths, vectors[k].Width)
		case r.widths[k] != vectors[k].Width:
			return fmt.Errorf("column %q has vectors of %d and of %d numbers", name, r.widths[k], vectors[k].Width)
		}
	}
	source, target, err := r.classes(rec)
	if err != nil {
		return err
	}
	for i, domain := range domains {
		at := r.seen
		r.seen++
		if slices.ContainsFunc(vectors, func(v arrowio.Vectors) bool { return v.Missing(i) }) {
			continue // there is no place to draw it at
		}
		if r.Domain != "both" && domain.String() != r.Domain {
			continue
		}
		r.rows.Total++
		classes := source
		if domain == arrowio.TargetDomain {
			classes = target
		}
		row := drawnRow{key: mix(r.Seed, uint64(at)), at: at, domain: domain, class: -1}
		if classes != nil && !classes.Null(i) {
			row.class = classes.Values[i]
		}
		r.offer(row, vectors, i)
	}
	return nil
}

func (r *reader) classes(rec arrow.Record) (source, target *arrowio.Ints, err error) {
	read := func(name string) (*arrowio.Ints, error) {
		if name == "" || !arrowio.HasColumn(rec.Schema(), name) {
			return nil, nil
		}
		ints, err := arrowio.LabelColumn(rec, name, r.rows.Names)
		if err != nil {
			return nil, err
		}
		for i, v := range ints.Values {
			if !ints.Null(i) && (v < 0 || v >= mostClasses) {
				return nil, fmt.Errorf("column %q, row %d: class %d: want one from 0 to %d", name, i, v, mostClasses-1)
			}
		}
		return &ints, nil
	}
	if source, err = read(r.RowOptions.Columns.Label); err != nil {
		return nil, nil, err
	}
	target, err = read(r.target)
	return source, target, err
}

// mostClasses bounds the numbers of classes.
const mostClasses = 1 << 20

// mix gives row i a random number (splitmix64, Steele, Lea & Flood 2014).
func mix(seed, i uint64) uint64 {
	z := seed*0x9E3779B97F4A7C15 ^ (i+1)*0xD1B54A32D192ED03
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// offer keeps the row if its key may be among the least.
func (r *reader) offer(row drawnRow, vectors []arrowio.Vectors, i int) {
	if row.key > r.bound {
		return
	}
	for k := range vectors {
		row.vectors = append(row.vectors, slices.Clone(vectors[k].Row(i)))
	}
	if r.sample = append(r.sample, row); len(r.sample) == 2*r.Limit {
		r.cut()
	}
}

// cut leaves no more rows than the limit.
func (r *reader) cut() {
	if len(r.sample) <= r.Limit {
		return
	}
	slices.SortFunc(r.sample, func(a, b drawnRow) int { return cmp.Compare(a.key, b.key) })
	clear(r.sample[r.Limit:])
	r.sample = r.sample[:r.Limit]
	r.bound = r.sample[r.Limit-1].key
}

// finish puts the sample in the order of the stream.
func (r *reader) finish() {
	r.cut()
	slices.SortFunc(r.sample, func(a, b drawnRow) int { return a.at - b.at })
	for k, width := range r.widths {
		x := blas32.General{Rows: len(r.sample), Cols: width, Stride: max(width, 1)}
		for _, row := range r.sample {
			x.Data = append(x.Data, row.vectors[k]...)
		}
		r.rows.Vectors = append(r.rows.Vectors, x)
	}
	most := int32(-1)
	for _, row := range r.sample {
		r.rows.Domains = append(r.rows.Domains, row.domain)
		r.rows.Classes = append(r.rows.Classes, row.class)
		most = max(most, row.class)
	}
	for k := len(r.rows.Names); k <= int(most); k++ {
		r.rows.Names = append(r.rows.Names, strconv.Itoa(k))
	}
}

// errNoPanels says that there is nothing to draw.
var errNoPanels = errors.New("figures: no panel to draw")
