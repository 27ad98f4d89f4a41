package label

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables"
)

// Keep says which columns of the target's file labels get beside their own.
type Keep struct {
	Path    string
	Options tables.Options // as the file was read
	Fields  []arrow.Field
	Uneven  []string // those of Fields that not all files have with one type
}

// NewKeep keeps the named columns of a file, or all if names is nil. It fails for a file
// that cannot be read twice, or has no columns that have names.
func NewKeep(ctx context.Context, path string, o tables.Options, names []string) (*Keep, error) {
	if !tables.HasBlocks(ctx, path, o) {
		return nil, fmt.Errorf("%s: its columns cannot be kept: give a table in a file, such as CSV or Parquet", path)
	}
	if o.SkipPictures {
		return nil, fmt.Errorf("%s: columns are kept by the order of rows, and --bad-images skip may leave rows out: leave one of them out", path)
	}
	fields, uneven, err := tables.Columns(ctx, path, o)
	if err != nil {
		return nil, err
	}
	k := &Keep{Path: path, Options: o}
	for _, name := range names {
		i := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s: has no column %q that can be kept: name columns that it has, and no lists", path, name)
		}
		k.Fields = append(k.Fields, fields[i])
	}
	if names == nil { // labels have the identity as id
		k.Fields = slices.DeleteFunc(fields, func(f arrow.Field) bool { return o.ID != "" && f.Name == o.ID })
	}
	for _, f := range k.Fields {
		if slices.Contains(own, f.Name) {
			return nil, k.taken(f.Name)
		}
		if slices.Contains(uneven, f.Name) {
			k.Uneven = append(k.Uneven, f.Name)
		}
	}
	return k, nil
}

// Warning says that files differ in the columns; "" if they do not.
func (k *Keep) Warning() string {
	if len(k.Uneven) == 0 {
		return ""
	}
	const most = 12
	names := strings.Join(k.Uneven[:min(len(k.Uneven), most)], ", ")
	if n := len(k.Uneven); n > most {
		names += fmt.Sprintf(", … (%d in all)", n)
	}
	return fmt.Sprintf("%s: not all files have these columns with one type: %s: they are empty where a file has none, and text where types differ", k.Path, names)
}

// own are the columns of labels whatever they are of.
var own = []string{"predicted_class", Confidence, "probability"}

// taken is the error of a column whose name labels have themselves.
func (k *Keep) taken(name string) error {
	return fmt.Errorf("%s: column %q has the name of one that is written: rename it, or keep others by name", k.Path, name)
}

// With puts the kept columns after the identity of each row of labels, which is the column id. The
// rows of labels have to be those of the file, in their order.
func (k *Keep) With(ctx context.Context, labels arrowio.Stream, id string) (*Kept, error) {
	schema := labels.Schema()
	meta, err := arrowio.ReadMeta(schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", labels.Name(), err)
	}
	written := map[string]bool{}
	for _, f := range schema.Fields() {
		written[f.Name] = true
		for _, class := range meta.Classes {
			written[f.Name+"_"+class] = true // as in CSV
		}
	}
	var fields []arrow.Field
	for _, f := range k.Fields {
		switch {
		case f.Name == id:
		case written[f.Name]:
			return nil, k.taken(f.Name)
		default:
			fields = append(fields, f)
		}
	}
	metadata := schema.Metadata()
	after := slices.Max(schema.FieldIndices(id)) + 1
	kept := &Kept{Stream: labels, path: k.Path, columns: len(fields), after: after, schema: arrow.NewSchema(slices.Insert(slices.Clone(schema.Fields()), after, fields...), &metadata)}
	kept.next, kept.stop = iter.Pull2(func(yield func(arrow.Record, error) bool) {
		done := errors.New("enough")
		err := tables.EachBatch(ctx, k.Path, k.Options, fields, func(rec arrow.Record) error {
			if !yield(rec, nil) {
				return done
			}
			return nil
		})
		if err != nil && !errors.Is(err, done) {
			yield(nil, err)
		}
	})
	return kept, nil
}

// Kept is labels with columns of the file that their rows are from.
type Kept struct {
	arrowio.Stream
	path    string
	columns int
	after   int // how many columns of the labels come before them
	schema  *arrow.Schema
	next    func() (arrow.Record, error, bool)
	stop    func()

	batch arrow.Record // of the file
	used  int64        // rows of it
	rec   arrow.Record
}

// Schema is that of the labels with the columns.
func (k *Kept) Schema() *arrow.Schema { return k.schema }

// Close stops reading the file.
func (k *Kept) Close() { k.stop() }

// Next gives the next labels with their columns.
func (k *Kept) Next() (arrow.Record, error) {
	if k.rec != nil {
		k.rec.Release()
		k.rec = nil
	}
	rec, err := k.Stream.Next()
	if errors.Is(err, io.EOF) && k.columns > 0 {
		if k.more() {
			return nil, k.changed()
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	columns, err := k.take(rec.NumRows())
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		defer c.Release()
	}
	k.rec = array.NewRecord(k.schema, slices.Insert(slices.Clone(rec.Columns()), k.after, columns...), rec.NumRows())
	return k.rec, nil
}

// more reports whether the file has rows that no label was for. An error counts as none:
// the file has been read before.
func (k *Kept) more() bool {
	if k.batch != nil && k.used < k.batch.NumRows() {
		return true
	}
	_, err, ok := k.next()
	return ok && err == nil
}

// take copies the next n rows of the file.
func (k *Kept) take(n int64) ([]arrow.Array, error) {
	pieces := make([][]arrow.Array, k.columns)
	defer func() {
		for _, column := range pieces {
			for _, piece := range column {
				piece.Release()
			}
		}
	}()
	for left := n; left > 0 && k.columns > 0; {
		if k.batch == nil || k.used == k.batch.NumRows() {
			batch, err, ok := k.next()
			if err != nil || !ok {
				return nil, errors.Join(err, k.changed())
			}
			k.batch, k.used = batch, 0
		}
		some := min(left, k.batch.NumRows()-k.used)
		for j := range pieces {
			piece, err := arrowio.CopyRows(k.batch.Column(j), k.used, k.used+some)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.path, err)
			}
			pieces[j] = append(pieces[j], piece)
		}
		k.used, left = k.used+some, left-some
	}
	columns := make([]arrow.Array, k.columns)
	for j, column := range pieces {
		var err error
		if columns[j], err = array.Concatenate(column, memory.DefaultAllocator); err != nil {
			return nil, fmt.Errorf("%s: %w", k.path, err)
		}
	}
	return columns, nil
}

func (k *Kept) changed() error {
	return fmt.Errorf("%s: has other rows than were labelled: run again when nothing writes to it", k.path)
}
