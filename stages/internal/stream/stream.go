// Package stream holds what the stages do alike with a stream of rows: read its
// classes, gather the vectors of a domain, learn from it, and pass every row on
// with columns added.
package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// Rows is a stream of rows with what a stage needs to read it: the names of
// its columns, the log and the seed.
type Rows struct {
	stages.Env
	arrowio.Stream
	held *holdOut // nil: no source row is kept from training
}

// Each calls f with every batch that is left, until an error or the end of ctx.
func (r *Rows) Each(ctx context.Context, f func(arrow.Record) error) error {
	return arrowio.Each(ctx, r.Stream, f)
}

// Rewind starts another pass over all rows. Only the rows that Fit gives to
// learn from can be read again: Rewind panics for others.
func (r *Rows) Rewind() error { return r.Stream.(*arrowio.Spool).Rewind() }

// Has reports whether there is a column of that name.
func (r *Rows) Has(column string) bool { return arrowio.HasColumn(r.Schema(), column) }

// Doubts are what the stream says against the target's rows (arrowio.DoubtsKey).
func (r *Rows) Doubts() (doubts []string) {
	for _, i := range r.Schema().FieldIndices(r.Columns.Features) {
		text, _ := r.Schema().Field(i).Metadata.GetValue(arrowio.DoubtsKey)
		if text != "" && json.Unmarshal([]byte(text), &doubts) != nil {
			return nil // what a tool in between has damaged says nothing
		}
	}
	return doubts
}

// Fail is an error about a column of these rows, or about the rows as a whole if
// column is "". Advice says what to do about it; it may be "".
func (r *Rows) Fail(column string, err error, advice string) error {
	return &arrowio.Error{Input: r.Name(), Column: column, Err: err, Advice: advice}
}

// Require reports the first of the named columns that is missing, with advice.
func (r *Rows) Require(advice string, columns ...string) error {
	for _, name := range columns {
		if !r.Has(name) {
			return r.Fail("", fmt.Errorf("there is no column %q (there are %s)", name, columnNames(r.Schema())), advice)
		}
	}
	return nil
}

func columnNames(s *arrow.Schema) string {
	if s.NumFields() == 0 {
		return "none"
	}
	var names []string
	for _, f := range s.Fields() {
		names = append(names, strconv.Quote(f.Name))
	}
	return strings.Join(names, ", ")
}

// Meta is the project's metadata of the stream.
func (r *Rows) Meta() (arrowio.Meta, error) {
	meta, err := arrowio.ReadMeta(r.Schema())
	if err != nil {
		return meta, r.Fail("", err, "")
	}
	if err := r.checkNames(meta); err != nil {
		return arrowio.Meta{}, r.Fail("", fmt.Errorf("schema metadata %s: %w", arrowio.ClassesKey, err), "")
	}
	return meta, nil
}

func (r *Rows) checkNames(meta arrowio.Meta) error {
	if err := r.Env.CheckClasses(len(meta.Classes)); err != nil {
		return err
	}
	seen := make(map[string]bool, len(meta.Classes))
	for _, name := range meta.Classes {
		if seen[name] {
			return fmt.Errorf("two classes are named %q: rename one", name)
		}
		seen[name] = true
	}
	return nil
}

// Classes are the names of the classes: those in the metadata or, where a tool
// in between has dropped them, those of the labels, read in a pass of their own.
// Whole-number labels 0…C−1 name themselves; other names are sorted.
func (r *Rows) Classes(ctx context.Context) ([]string, error) {
	meta, err := r.Meta()
	if err != nil || meta.Classes != nil {
		return meta.Classes, err
	}
	column, highest := r.Columns.Label, int32(-1)
	names := map[string]bool{}
	err = r.Each(ctx, func(rec arrow.Record) (err error) {
		if isString(rec.Schema(), column) {
			err = addNames(rec, column, names)
		} else {
			highest, err = r.highestLabel(rec, highest)
		}
		if err == nil {
			err = r.failColumn(column, r.Env.CheckClasses(len(names)))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	classes := make([]string, 0, len(names))
	for k := range highest + 1 {
		classes = append(classes, strconv.Itoa(int(k)))
	}
	for name := range names {
		classes = append(classes, name)
	}
	if len(names) > 0 {
		slices.Sort(classes)
	}
	return classes, r.Rewind()
}

func addNames(rec arrow.Record, column string, names map[string]bool) error {
	labels, err := arrowio.StringColumn(rec, column)
	for i, name := range labels.Values {
		if !labels.Null(i) {
			names[name] = true
		}
	}
	return err
}

// highestLabel is the highest of the labels of rec and of the batches before.
func (r *Rows) highestLabel(rec arrow.Record, highest int32) (int32, error) {
	labels, err := arrowio.IntColumn(rec, r.Columns.Label)
	limit := int32(cmp.Or(r.MaxClasses, stages.DefaultMaxClasses))
	for i, label := range labels.Values {
		if labels.Null(i) {
			continue
		}
		if label < 0 || label >= limit {
			return 0, r.Fail(r.Columns.Label, fmt.Errorf("row %d of its batch has label %d: labels go from 0 to the number of classes − 1, of which the limit is %d", i+1, label, limit),
				"number the classes from 0 on, write labels as text, or raise --max-classes")
		}
		highest = max(highest, label)
	}
	return highest, err
}

func (r *Rows) failColumn(column string, err error) error {
	if err == nil {
		return nil
	}
	return r.Fail(column, err, "")
}

func isString(s *arrow.Schema, column string) bool {
	i := s.FieldIndices(column)
	return len(i) > 0 && arrowio.IsText(s.Field(i[0]).Type)
}

// Domains reads the domain of every row of a batch. Without that column all rows
// are of the target, which is what a model is applied to.
func (r *Rows) Domains(rec arrow.Record) ([]arrowio.Domain, error) {
	if arrowio.HasColumn(rec.Schema(), r.Columns.Domain) {
		return arrowio.DomainColumn(rec, r.Columns.Domain)
	}
	return slices.Repeat([]arrowio.Domain{arrowio.TargetDomain}, int(rec.NumRows())), nil
}

// Labels reads the class of every row of a batch and checks those of source
// rows: none is null and all are below the number of classes. Target rows may
// have any.
func (r *Rows) Labels(rec arrow.Record, domains []arrowio.Domain, classes []string) ([]int32, error) {
	labels, err := arrowio.LabelColumn(rec, r.Columns.Label, classes)
	if err != nil {
		return nil, err
	}
	fail := func(row int, what, advice string) error {
		return r.Fail(r.Columns.Label, fmt.Errorf("row %d of its batch is a source row %s", row+1, what), advice)
	}
	for i, domain := range domains {
		switch label := labels.Values[i]; {
		case domain != arrowio.SourceDomain:
		case labels.Null(i):
			return nil, fail(i, "without a label", "label every source row, or drop those that have none")
		case label < 0 || int(label) >= len(classes):
			return nil, fail(i, fmt.Sprintf("with label %d, and there are %d classes", label, len(classes)),
				"number the classes from 0, and list all their names in the metadata key mars.classes or drop that key")
		}
	}
	return labels.Values, nil
}
