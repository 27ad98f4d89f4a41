// Package sketch is the stage that reads a part of a domain once, in bounded memory, and
// leaves a sketch of it (package sketches): counts and exact moments by class, and a uniform
// sample of rows. Sketches of parts are merged, and stand where the rows would.
//
// It reads files, as mars-featurize does, and nothing of a stream.
package sketch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"sync"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/sketches"
	"mars.dev/mars/tables"
)

// Options say how to read parts and what to keep of them.
type Options struct {
	Format tables.Options // how the files are read; Label and ID name columns
	Sample int            // rows of the sample; 0: sketches.DefaultSample
	Part   string         // the name of a part; "": its file's
	Jobs   int            // parts that are read at a time; at least 1
}

// Files returns the merged sketch of files, each a part. The result does not depend on Jobs.
func Files(ctx context.Context, env stages.Env, paths []string, o Options) (*sketches.Sketch, error) {
	if o.Part != "" && len(paths) > 1 {
		return nil, fmt.Errorf("--part %s names one part, and %d are given: leave it out", o.Part, len(paths))
	}
	var all sketches.Merger
	err := InParallel(ctx, o.Jobs, len(paths), func(ctx context.Context, i int) error {
		s, err := File(ctx, env, paths[i], o)
		if err != nil {
			return err
		}
		return all.Add(s, paths[i])
	}, func(done int) { env.Report("parts", int64(done), int64(len(paths))) })
	if err != nil {
		return nil, err
	}
	s, err := all.Sketch()
	if err == nil {
		tell(env, s)
	}
	return s, err
}

// InParallel calls f for 0 … n−1, jobs at a time, and done after each. It returns the error of the
// least index that has one, and begins no more once there is one.
func InParallel(parent context.Context, jobs, n int, f func(ctx context.Context, i int) error, done func(n int)) error {
	ctx, stop := context.WithCancel(parent)
	defer stop()
	errs, next, finished := make([]error, n), 0, 0
	var mutex sync.Mutex
	var all sync.WaitGroup
	for range min(max(jobs, 1), n) {
		all.Go(func() {
			for {
				mutex.Lock()
				i := next
				next++
				mutex.Unlock()
				if i >= n || ctx.Err() != nil {
					return
				}
				err := f(ctx, i)
				mutex.Lock()
				if errs[i] = err; err != nil {
					stop()
				}
				finished++
				done(finished)
				mutex.Unlock()
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(append(errs, parent.Err())...)
}

// tell says what a sketch is of, and warns of what is odd.
func tell(env stages.Env, s *sketches.Sketch) {
	t := s.Totals()
	env.Logger().Info(fmt.Sprintf("%s of %s: a sample of %d", spelling.Count(t.Rows, "row", "rows"), spelling.Count(len(s.Leaves), "part", "parts"), len(s.Rows)))
	if t.Overlap > 1 {
		env.Logger().Warn(fmt.Sprintf("some rows are in more than one part (a row in %.3f of them, in the mean): they are counted once, by an estimate from the sample, and the moments are of all", t.Overlap))
	}
}

// File returns the sketch of a file.
func File(ctx context.Context, env stages.Env, path string, o Options) (*sketches.Sketch, error) {
	o.Sample = cmp.Or(o.Sample, sketches.DefaultSample)
	if sketches.Is(path) {
		return nil, fmt.Errorf("%s: is a sketch already: merge sketches with mars merge", path)
	}
	p := &part{env: env, path: path, o: o}
	f := o.Format
	f.Mixed, f.EachNames = true, true
	f.Whole = true // parts would have centres of their own
	blocks := tables.HasBlocks(ctx, path, f)
	if blocks {
		f.Each = func(t *tables.Table) error { return p.add(ctx, t) }
	}
	t, err := tables.Open(ctx, path, f)
	if err != nil {
		return nil, err
	}
	if !blocks {
		if err := p.add(ctx, t); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if t.Doubt != "" {
		env.Logger().Warn(path + ": " + t.Doubt)
	}
	return p.builder.Sketch()
}

// A part is a file that is read.
type part struct {
	env     stages.Env
	path    string
	o       Options
	header  sketches.Header
	builder *sketches.Builder
	numbers []int // the columns of numbers, of a block
	texts   []int
}

// add adds a block of rows.
func (p *part) add(ctx context.Context, t *tables.Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h, err := p.headerOf(t)
	if err != nil {
		return err
	}
	if p.builder == nil {
		p.header = h
		p.builder = sketches.NewBuilder(h, cmp.Or(p.o.Part, filepath.Base(p.path)))
	} else if err := p.header.Mismatch(&h); err != nil {
		return fmt.Errorf("rows further on are of another kind than the first: %w", err)
	}
	numbers, texts, names := make([]float32, len(p.numbers)), make([]string, len(p.texts)), labels{}
	for i := range t.Features.Rows {
		row := t.Row(i)
		for k, j := range p.numbers {
			numbers[k] = row[j]
		}
		for k, j := range p.texts {
			texts[k] = ""
			if v := row[j]; v == v {
				texts[k] = t.Fields[j].Values[int(v)]
			}
		}
		label := ""
		if t.Labels != nil {
			label = names.whole(t.Labels[i])
		}
		id := ""
		switch {
		case t.IDInts != nil:
			id = strconv.FormatInt(t.IDInts[i], 10)
		case t.IDNames != nil:
			if id = t.IDNames[i]; id == "" {
				return fmt.Errorf("%s: has no id: fill it, or choose another id column", t.Place(i))
			}
		}
		if err := p.builder.Add(id, label, numbers, texts); err != nil {
			return fmt.Errorf("%s: %w", t.Place(i), err)
		}
	}
	return p.env.CheckClasses(names.most(p.builder))
}

// labels are the names of classes as a sketch has them.
type labels map[string]string

// whole writes 3.0 as 3, as pandas writes whole numbers in a column with missing values.
func (l labels) whole(label string) string {
	name, known := l[label]
	if !known {
		name = label
		if v, err := strconv.ParseFloat(label, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 && !tables.IsCode(label) {
			name = strconv.FormatInt(int64(v), 10)
		}
		l[label] = name
	}
	return name
}

func (l labels) most(b *sketches.Builder) int { return max(len(l), b.Classes()) }

// headerOf says what the rows of a block are.
func (p *part) headerOf(t *tables.Table) (sketches.Header, error) {
	h := sketches.Header{Sample: p.o.Sample, Seed: p.env.Seed}
	if t.Labels != nil {
		h.Label = cmp.Or(p.o.Format.Label, "label")
	}
	if t.IDInts != nil || t.IDNames != nil {
		h.ID = cmp.Or(p.o.Format.ID, "id")
	}
	p.numbers, p.texts = nil, nil
	if t.Columns == nil {
		h.Columns = []sketches.Column{{Name: "features", Kind: sketches.Vector, Width: t.Features.Cols}}
		for j := range t.Features.Cols {
			p.numbers = append(p.numbers, j)
		}
		return h, nil
	}
	for j, name := range t.Columns {
		kind := sketches.Number
		if t.Fields != nil {
			switch f := t.Fields[j]; {
			case f.Kind == tables.Category && len(f.Values) >= tables.MaxValues:
				return h, fmt.Errorf("column %q has %d different texts or more, which nobody learns from: leave it out with --exclude", name, tables.MaxValues)
			case f.Kind == tables.Category:
				kind = sketches.Text
			case f.Kind == tables.Day:
				kind = sketches.Day
			case f.Kind == tables.Clock:
				return h, fmt.Errorf("column %q has times of the day, which a sketch does not keep: leave it out with --exclude, or write days alone", name)
			}
		}
		if sketches.Reserved(name) || name == h.Label || name == h.ID {
			return h, fmt.Errorf("column %q has a name that the sketch needs: rename it", name)
		}
		h.Columns = append(h.Columns, sketches.Column{Name: name, Kind: kind})
		if kind == sketches.Text {
			p.texts = append(p.texts, j)
		} else {
			p.numbers = append(p.numbers, j)
		}
	}
	return h, nil
}
