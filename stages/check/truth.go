package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
)

// A truth knows the labels of the reference's rows.
type truth struct {
	path   string
	joined map[string]string // labels by identity; nil: the reference has them
	budget *arrowio.Budget
}

func (t *truth) close() { t.budget.Close() }

// entryBytes is about what a label in truth takes, beside its texts.
const entryBytes = 100

// readTruth reads the labels of another file than the reference, if there is one.
func readTruth(ctx context.Context, o Options) (*truth, error) {
	t := &truth{path: o.Truth, budget: arrowio.NewBudget(0)}
	if t.path == "" {
		return t, nil
	}
	t.joined = map[string]string{}
	r := &reader{columns: Columns{Label: o.Columns.Label, ID: o.Columns.ID}}
	err := r.each(ctx, t.path, o.Reading, func(rec arrow.Record) error {
		ids, labels := of(rec, o.Columns.ID), of(rec, o.Columns.Label)
		switch {
		case ids == nil:
			return r.lacks(o.Columns.ID, "name the column of identities with --id")
		case labels == nil:
			return r.lacks(o.Columns.Label, "name the column of labels with --label")
		}
		for i := range int(rec.NumRows()) {
			id, label := text(ids, i), text(labels, i)
			if id == "" || label == "" {
				continue
			}
			if old, ok := t.joined[id]; ok && old != label {
				return r.at(i, o.Columns.Label, fmt.Errorf("the label of %q is %q, and was %q before: leave one of the rows out", id, label, old))
			}
			if err := t.budget.Take(int64(len(id) + len(label) + entryBytes)); err != nil {
				return err
			}
			t.joined[id] = label
		}
		return nil
	})
	if err == nil && len(t.joined) == 0 {
		err = fmt.Errorf("%s: no row has an identity and a label: give the labels of the reference's rows", t.path)
	}
	return t, err
}

// labels gives those of a batch of the reference, "" where there is none.
func (t *truth) labels(r *reader, rec arrow.Record) (func(i int) string, error) {
	if t.joined == nil {
		labels := of(rec, r.columns.Label)
		if labels == nil {
			return nil, r.lacks(r.columns.Label, "name the column of labels with --label, or the file that has it with --reference-labels")
		}
		return func(i int) string { return text(labels, i) }, nil
	}
	ids := of(rec, r.columns.ID)
	if ids == nil {
		return nil, r.lacks(r.columns.ID, "name the column of identities with --id")
	}
	return func(i int) string { return t.joined[text(ids, i)] }, nil
}

// missing is the error of a reference none of whose rows has a label.
func (t *truth) missing(path, column string, ids []string) error {
	if t.joined == nil {
		return fmt.Errorf("%s: column %q has no label: give labelled rows as the reference", path, column)
	}
	return fmt.Errorf("%s: no row has a label in %s: its identities are such as %s, and those of the labels such as %s: name the column that both have with --id",
		path, t.path, spelling.List(ids), spelling.List(slices.Sorted(maps.Keys(t.joined))))
}
