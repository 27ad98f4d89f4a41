package tables

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mars.dev/mars/arrowio"
)

// A span is the rows of one file among those of several.
type span struct {
	file  string
	first int  // row of all, from 0
	lines bool // see origin
}

// openSeveral reads files one after another as one table. The first says which columns are
// features, and the others have them too, in any order.
func openSeveral(ctx context.Context, path string, paths []string, o Options) ([]*Table, error) {
	labels, err := labelFiles(path, paths, o.Labels)
	if err != nil {
		return nil, err
	}
	if o.Memory == nil {
		o.Memory = arrowio.NewBudget(0)
	}
	var all []*Table
	rows, unnamed := 0, false
	for k, file := range paths {
		each := o
		each.Labels, each.Lacking = labels[k], nil
		if k == 0 && o.Lacking != nil {
			each.Lacking = func(first *Options, lacking *MissingColumns) bool { // the others are read as the first
				asked := o.Lacking(first, lacking)
				o.Columns, o.Fields, o.Mixed = first.Columns, first.Fields, first.Mixed
				return asked
			}
		}
		switch {
		case k == 0 || o.Fields != nil:
		case all[0].Fields != nil:
			each.Fields, each.growing = all[0].Fields, true
		case o.Columns == nil:
			each.Columns = all[0].Columns
		}
		if k > 0 && each.Centres == nil {
			each.Centres = append([]float64{}, all[0].Centres...)
		}
		tables, err := openFile(ctx, file, each)
		if lacking := (*MissingColumns)(nil); errors.As(err, &lacking) && k > 0 {
			err = fmt.Errorf("%s: has no column %s, which %s has (its columns are %s): give all files the same columns, or name those in common with --columns%s", file, lacking.Names(), paths[0], list(lacking.Header), lacking.Hint)
		}
		if err != nil {
			return nil, err
		}
		first := rows
		rows += rowsIn(tables)
		for j, t := range tables {
			if k == 0 {
				t.Name, t.spans = path, []span{{file, 0, t.lines}}
				continue
			}
			if o.OptionalID && all[j].named() != t.named() {
				all[j].IDInts, all[j].IDNames, t.IDInts, t.IDNames, unnamed = nil, nil, nil, nil, true
			}
			if err := all[j].join(t, file, first); err != nil {
				return nil, err
			}
		}
		if k == 0 {
			all = tables
		}
	}
	for _, t := range all {
		err := t.setIDs(ctx, identities{t.IDInts, t.IDNames})
		twice := (*sameID)(nil) // a file alone has each once
		switch {
		case unnamed:
			t.numberRows(&t.Note, "not all files have ids")
		case o.OptionalID && errors.As(err, &twice):
			t.numberRows(&t.Doubt, twice.both())
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, Limited(err))
		}
	}
	return all, nil
}

// numberRows forgets identities, as a source does without: a table of mars ask that is filled in has
// those of its target. It adds to a note or a doubt why.
func (t *Table) numberRows(told *string, why string) {
	t.IDInts, t.IDNames = nil, nil
	if why += ": rows are known by their numbers"; *told != "" {
		why = *told + "; " + why
	}
	*told = why
}

func (t *Table) named() bool { return t.IDInts != nil || t.IDNames != nil }

// labelFiles are those of each file.
func labelFiles(path string, paths []string, labels string) ([]string, error) {
	if labels == "" {
		return make([]string, len(paths)), nil
	}
	files, err := Expand(labels)
	if err == nil && len(files) != len(paths) {
		err = fmt.Errorf("%s: are %d files of labels, and %s are %d: give one for each", labels, len(files), path, len(paths))
	}
	if err != nil {
		return nil, err
	}
	return files, inOrder(paths, files)
}

// inOrder refuses files of labels of which one is called after another file than its own, as where one patient has
// no labels and another no rows: the rows would get the labels of others.
func inOrder(paths, labels []string) error {
	for i, label := range labels {
		owner, longest := -1, 0
		for k, path := range paths {
			name := stem(filepath.Base(path))
			switch {
			case len(name) < longest || !hasName(stem(filepath.Base(label)), name):
			case len(name) == longest: // both may be meant
				owner = -1
			default:
				owner, longest = k, len(name)
			}
		}
		if owner >= 0 && owner != i {
			return fmt.Errorf("%s: would have the labels of %s, and is called after %s: give a file of labels for each file, in the same order", label, paths[i], paths[owner])
		}
	}
	return nil
}

// hasName reports whether a name is in a text, with neither letters nor digits beside it.
func hasName(text, name string) bool {
	for at := range text {
		if name == "" || !strings.HasPrefix(text[at:], name) {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(text[:at])
		next, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if alike(string(last)) == "" && alike(string(next)) == "" {
			return true
		}
	}
	return false
}

// rowsIn is how many rows an input has of which these are the parts.
func rowsIn(tables []*Table) (n int) {
	for _, t := range tables {
		n += t.Features.Rows
	}
	for _, c := range tables[0].others {
		n += c.Rows
	}
	return n
}

// join appends the rows of another file, of which the first is row first of all.
func (t *Table) join(next *Table, file string, first int) error {
	if err := t.fits(next, file); err != nil {
		return err
	}
	if err := t.joinRows(next, file, first); err != nil {
		return fmt.Errorf("%s: %w", file, Limited(err))
	}
	if t.Note == "" && next.Note != "" {
		t.Note = file + " " + next.Note
	}
	if t.Doubt == "" && next.Doubt != "" {
		t.Doubt = file + " " + next.Doubt
	}
	have := map[string]bool{}
	for _, s := range t.Skipped {
		have[s.Name] = true
	}
	for _, s := range next.Skipped {
		if !have[s.Name] {
			t.Skipped = append(t.Skipped, s)
		}
	}
	for _, c := range next.others {
		i := slices.IndexFunc(t.others, func(have Count) bool { return have.Value == c.Value })
		if i < 0 {
			t.others = append(t.others, c)
			continue
		}
		t.others[i].Rows += c.Rows
	}
	return nil
}

// fits returns an error if rows of another file are of another kind.
func (t *Table) fits(next *Table, file string) error {
	before := t.spans[0].file
	switch {
	case !slices.Equal(t.Shape, next.Shape) || t.Features.Cols != next.Features.Cols:
		return fmt.Errorf("%s: a row has shape %v, and one of %s %v: give all files rows of one shape", file, next.Shape, before, t.Shape)
	case t.Largest != next.Largest:
		return fmt.Errorf("%s: holds numbers up to %g, and %s up to %g: give all files one type of numbers", file, next.Largest, before, t.Largest)
	case (t.Labels == nil) != (next.Labels == nil):
		with, without := file, before
		if next.Labels == nil {
			with, without = before, file
		}
		return fmt.Errorf("%s: has no labels, and %s has: give all files labels, or none", without, with)
	case t.named() != next.named():
		with, without := file, before
		if t.named() {
			with, without = before, file
		}
		return fmt.Errorf("%s: has no ids, and %s has: give all files an id column, or name another with --id", without, with)
	}
	return nil
}

func (t *Table) joinRows(next *Table, file string, first int) (err error) {
	if t.at != nil || next.at != nil || t.Features.Rows != first {
		if err := t.joinOrigins(next, first); err != nil {
			return err
		}
	}
	t.spans = append(t.spans, span{file, first, next.lines})
	t.Fields = next.Fields // which may have more values
	if t.Features.Data, err = joined(t.mem, t.Features.Data, next.Features.Data); err != nil {
		return err
	}
	t.Features.Rows += next.Features.Rows
	if t.Labels, err = joined(t.mem, t.Labels, next.Labels); err != nil {
		return err
	}
	if t.Batches, err = joined(t.mem, t.Batches, next.Batches); err != nil {
		return err
	}
	for l := range t.Levels {
		if t.Levels[l], err = joined(t.mem, t.Levels[l], next.Levels[l]); err != nil {
			return err
		}
	}
	if (t.IDNames == nil) == (next.IDNames == nil) {
		if t.IDNames, err = joined(t.mem, t.IDNames, next.IDNames); err == nil {
			t.IDInts, err = joined(t.mem, t.IDInts, next.IDInts)
		}
		return err
	}
	a, b := identities{t.IDInts, t.IDNames}, identities{next.IDInts, next.IDNames}
	for _, l := range []*identities{&a, &b} {
		if l.names == nil {
			if err := l.name(t.mem); err != nil {
				return err
			}
		}
	}
	t.IDInts = nil
	t.IDNames, err = joined(t.mem, a.names, b.names)
	return err
}

// joinOrigins notes where each row was.
func (t *Table) joinOrigins(next *Table, first int) (err error) {
	n, more := t.Features.Rows, next.Features.Rows
	at, err := extend(t.mem, t.at[:len(t.at):len(t.at)], n-len(t.at)+more, maxElements)
	if err != nil {
		return err
	}
	for i := len(t.at); i < n; i++ {
		at[i] = i
	}
	for i := range more {
		at[n+i] = first + next.In(i)
	}
	give[int](next.mem, cap(next.at))
	t.at = at
	return nil
}

// joined appends b to a, and gives the memory of b back.
func joined[T any](mem *arrowio.Budget, a, b []T) ([]T, error) {
	at := len(a)
	a, err := extend(mem, a, len(b), maxElements)
	if err != nil || len(b) == 0 {
		return a, err
	}
	copy(a[at:], b)
	give[T](mem, cap(b))
	return a, nil
}

// File is the path of the file that row i is of.
func (t *Table) File(i int) string {
	if s := t.span(i); s != nil {
		return s.file
	}
	return t.Name
}
