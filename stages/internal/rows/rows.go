// Package rows holds what the stages do alike with a stream: read its classes,
// gather the vectors of a domain, and pass every row on with columns added.
package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"mars/arrowio"
	"mars/stages"
)

// Each calls f with every batch of in, until an error or the end of ctx.
func Each(ctx context.Context, in arrowio.Source, f func(arrow.Record) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(rec); err != nil {
			return named(err, in)
		}
	}
}

// named adds the input's name to an error about a column of one of its batches.
func named(err error, in arrowio.Source) error {
	var about *arrowio.Error
	if errors.As(err, &about) && about.Input == "" {
		about.Input = in.Name()
	}
	return err
}

// Require reports the first of the named columns that in lacks, with remedy.
func Require(in arrowio.Source, remedy string, columns ...string) error {
	for _, name := range columns {
		if !arrowio.HasColumn(in.Schema(), name) {
			return &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1,
				Err: fmt.Errorf("there is no column %q (there are %s)", name, columnNames(in.Schema())), Advice: remedy}
		}
	}
	return nil
}

func columnNames(s *arrow.Schema) string {
	names := ""
	for i, f := range s.Fields() {
		if i > 0 {
			names += ", "
		}
		names += strconv.Quote(f.Name)
	}
	if names == "" {
		return "none"
	}
	return names
}

// Classes are the stream's class names: those in its metadata or, where a tool
// in between has dropped them, those of the labels, read in a pass of their own.
// Whole-number labels 0…C−1 name themselves; other names are sorted.
func Classes(ctx context.Context, in *arrowio.Spool, env stages.Env) ([]string, error) {
	meta, err := arrowio.ReadMeta(in.Schema())
	if err != nil || meta.Classes != nil {
		return meta.Classes, err
	}
	column, highest := env.Columns.Label, int32(-1)
	names := map[string]bool{}
	err = Each(ctx, in, func(rec arrow.Record) error {
		if isString(rec.Schema(), column) {
			labels, err := arrowio.StringColumn(rec, column)
			for i, name := range labels.Values {
				if !labels.Null(i) {
					names[name] = true
				}
			}
			return err
		}
		labels, err := arrowio.IntColumn(rec, column)
		for i, label := range labels.Values {
			if !labels.Null(i) {
				highest = max(highest, label)
			}
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
	return classes, in.Rewind()
}

func isString(s *arrow.Schema, column string) bool {
	i := s.FieldIndices(column)
	if len(i) == 0 {
		return false
	}
	t := s.Field(i[0]).Type
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

// Domains reads the domain of every row; without that column all rows are of
// the target, which is what a model is applied to.
func Domains(rec arrow.Record, env stages.Env) ([]arrowio.Domain, error) {
	if arrowio.HasColumn(rec.Schema(), env.Columns.Domain) {
		return arrowio.DomainColumn(rec, env.Columns.Domain)
	}
	domains := make([]arrowio.Domain, rec.NumRows())
	for i := range domains {
		domains[i] = arrowio.TargetDomain
	}
	return domains, nil
}

// Labels reads the class of every row and checks those of source rows: none is
// null and all are below the number of classes. Target rows may have any.
func Labels(rec arrow.Record, domains []arrowio.Domain, classes []string, in arrowio.Source, env stages.Env) ([]int32, error) {
	labels, err := arrowio.LabelColumn(rec, env.Columns.Label, classes)
	if err != nil {
		return nil, err
	}
	fail := func(row int, what, advice string) error {
		return &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1, Column: env.Columns.Label,
			Err: fmt.Errorf("row %d of its batch is a source row %s", row, what), Advice: advice}
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

// Emit passes every row of in to out. The columns that columns computes for a
// batch, one for each of fields and in that order, are laid over it. Meta, with
// env's step added to its provenance, becomes the project's metadata.
func Emit(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink, meta arrowio.Meta,
	fields []arrow.Field, columns func(arrow.Record) ([]arrow.Array, error)) error {
	meta.Provenance = append(meta.Provenance[:len(meta.Provenance):len(meta.Provenance)], env.Step)
	schema := meta.Apply(arrowio.WithColumns(in.Schema(), fields...))
	if err := out.Begin(schema); err != nil {
		return err
	}
	done := int64(0)
	return Each(ctx, in, func(rec arrow.Record) error {
		arrays, err := columns(rec)
		if err != nil {
			return err
		}
		over := make([]arrowio.Column, len(fields))
		for i, a := range arrays {
			defer a.Release()
			over[i] = arrowio.Column{Name: fields[i].Name, Array: a}
		}
		wide, err := arrowio.AppendColumns(rec, schema, over...)
		if err != nil {
			return err
		}
		defer wide.Release()
		done += rec.NumRows()
		env.Report("rows", done, 0)
		return out.Write(wide)
	})
}
