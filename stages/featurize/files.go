package featurize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/featurize/format"
	"mars.dev/mars/stages/featurize/shift"
)

// SideOptions say what to read of one domain and how to prepare it.
type SideOptions struct {
	Path   string // "": the domain is left out
	Format format.Options
	Images ImageOptions

	Rows        int    // rows to draw; 0: all, or the most that Proportions allow
	MaxRows     int    // the most rows to draw if Rows is 0; 0: no limit
	Proportions string // see shift.ParseProportions, or shift.Random; "": those of the data
}

// Options of reading files.
type Options struct {
	Source, Target SideOptions

	// Disjoint draws target rows from those that the source has not drawn, where both
	// come from one file.
	Disjoint    bool
	Classes     []string // keep only these, in this order; nil: all that the source has
	Truth       bool     // write the target's labels as truth
	Standardize string   // "none", "source" or "domain": by whose mean and deviation
	Save        string   // state file to write; "" for none
	Load        string   // state file that replaces Images, Classes and Standardize
	// Prepared, of the column of features that a model was trained on
	// (arrowio.PreparationKey), and Classes replace them too; "" does not.
	Prepared string
	Preview  Preview
	Memory   int64 // limit of what reading both sides may hold; 0: arrowio.DefaultMemory
}

var domains = []arrowio.Domain{arrowio.SourceDomain, arrowio.TargetDomain}

// Files reads source and target and writes the stream.
func Files(ctx context.Context, env stages.Env, o Options, out arrowio.Sink) error {
	st := &preparation{Source: o.Source.Images, Target: o.Target.Images, Classes: o.Classes}
	if o.Load != "" {
		loaded, sum, err := loadPreparation(o.Load)
		if err != nil {
			return err
		}
		st = loaded
		env.KeepState(o.Load, sum)
	}
	if o.Prepared != "" {
		var err error
		if st, err = parsePreparation(o.Prepared, o.Classes); err != nil {
			return err
		}
		o.Classes = nil
	}
	memory := arrowio.NewBudget(o.Memory)
	o.Source.Format.Memory, o.Target.Format.Memory = memory, memory
	d, err := read(ctx, env, o, st)
	if err != nil {
		return err
	}
	if err := st.standardize(ctx, env, d, o); err != nil {
		return err
	}
	if o.Save != "" {
		sum, err := st.save(o.Save, d.sides[0].x.Cols)
		if err != nil {
			return err
		}
		env.KeepState(o.Save, sum)
	}
	if o.Preview.Path != "" {
		if err := o.Preview.write(d, env.Seed, memory); err != nil {
			return err
		}
	}
	if d.prepared, err = st.text(); err != nil {
		return err
	}
	return d.write(ctx, env, out)
}

// read reads both sides, with one shape and one set of classes.
func read(ctx context.Context, env stages.Env, o Options, st *preparation) (*dataset, error) {
	d := &dataset{classes: st.Classes, truth: o.Truth && o.Target.Path != ""}
	if o.Disjoint && (o.Source.Path != o.Target.Path || o.Source.Path == "") {
		return nil, errors.New("disjoint rows are drawn from one file: name it as --source and as --target")
	}
	tables := map[arrowio.Domain]*format.Table{}
	for _, domain := range domains {
		so := o.side(domain)
		if so.Path == "" {
			continue
		}
		t, err := readAlike(ctx, env, so, domain, o, st)
		if err != nil {
			return nil, err
		}
		tables[domain] = t
		env.Logger().Info(fmt.Sprintf("%s: %d %s rows of %d numbers", t.Name, t.Features.Rows, domain, t.Features.Cols))
		if len(t.Skipped) > 0 {
			env.Logger().Info("columns not read: "+strings.Join(t.Skipped, ", "), "choose with", "--columns")
		}
	}
	if st.Columns != nil {
		env.Logger().Info("features: " + nameColumns(st.Columns))
	}
	warnOfCopies(env, tables[arrowio.SourceDomain], tables[arrowio.TargetDomain])
	if len(tables) == 0 {
		return nil, errors.New("there is nothing to read: give --source FILE, --target FILE or both")
	}
	if d.classes == nil && tables[arrowio.SourceDomain] != nil {
		d.classes = format.Classes(tables[arrowio.SourceDomain].Labels)
		if err := env.CheckClasses(len(d.classes)); err != nil {
			return nil, fmt.Errorf("%s: %w", tables[arrowio.SourceDomain].Name, err)
		}
	}
	st.Classes = d.classes
	for _, domain := range domains {
		if t := tables[domain]; t != nil {
			if err := d.addSide(ctx, env, t, domain, o, st); err != nil {
				return nil, err
			}
		}
	}
	return d, d.sameShape(o)
}

func (o *Options) side(domain arrowio.Domain) *SideOptions {
	if domain == arrowio.SourceDomain {
		return &o.Source
	}
	return &o.Target
}

// readAlike reads a side with its columns in the order of the side before, so that
// a feature has the same index in both domains.
func readAlike(ctx context.Context, env stages.Env, so *SideOptions, domain arrowio.Domain, o Options, st *preparation) (*format.Table, error) {
	held := so.Format.Memory.Used()
	t, err := readTable(ctx, so, domain, o)
	if err != nil || t.Columns == nil || slices.Equal(t.Columns, st.Columns) {
		return t, err
	}
	if st.Columns == nil {
		st.Columns = t.Columns
		if so.Format.Columns == nil {
			st.Columns = withoutIdentities(env, t)
		}
		if len(st.Columns) == len(t.Columns) {
			return t, nil
		}
	}
	so.Format.Memory.Give(so.Format.Memory.Used() - held) // t is read again
	alike := *so
	alike.Format.Columns = st.Columns
	return readTable(ctx, &alike, domain, o)
}

// readTable reads a side. It reads the target's labels only if the truth is to be
// written or rows are chosen by class.
func readTable(ctx context.Context, so *SideOptions, domain arrowio.Domain, o Options) (*format.Table, error) {
	f := so.Format
	f.NoLabels = domain == arrowio.TargetDomain && !o.Truth && so.Proportions == "" && o.Classes == nil
	t, err := format.Open(ctx, so.Path, f)
	if err != nil {
		return nil, err
	}
	if t.Labels == nil && !f.NoLabels {
		advice := "name the label column with --label or the file with --" + domain.String() + "-labels"
		if domain == arrowio.TargetDomain {
			return nil, fmt.Errorf("%s: has no labels, which --truth, --target-proportions and --classes need: %s", t.Name, advice)
		}
		return nil, fmt.Errorf("%s: has no labels: %s", t.Name, advice)
	}
	if domain == arrowio.SourceDomain {
		if i := slices.Index(t.Labels, ""); i >= 0 {
			return nil, fmt.Errorf("%s: source row %d has no label: label it or drop the row", t.Name, i)
		}
	}
	return t, nil
}

// addSide chooses the rows of a table and prepares them for the stream.
func (d *dataset) addSide(ctx context.Context, env stages.Env, t *format.Table, domain arrowio.Domain, o Options, st *preparation) error {
	chosen, labels, err := d.choose(ctx, env, t, domain, o)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	if t, err = t.Gather(ctx, chosen); err != nil {
		return err
	}
	shape, err := st.images(domain).apply(ctx, t, env.Seed, o.side(domain).Format.Memory)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, format.Limited(err))
	}
	if domain == arrowio.SourceDomain && o.Disjoint {
		d.taken = chosen
	}
	s := side{domain: domain, x: t.Features, labels: labels, ids: t.IDInts, idNames: t.IDNames}
	if s.ids == nil && s.idNames == nil {
		s.ids = make([]int64, len(chosen))
		for i, row := range chosen {
			s.ids[i] = int64(row)
		}
	}
	d.sides, d.shape = append(d.sides, s), shape
	return nil
}

// choose returns the rows that are kept, by class and proportions, and their
// classes.
func (d *dataset) choose(ctx context.Context, env stages.Env, t *format.Table, domain arrowio.Domain, o Options) (chosen []int, labels []int32, err error) {
	chosen = make([]int, t.Features.Rows)
	for i := range chosen {
		chosen[i] = i
	}
	if t.Labels != nil && o.Classes != nil {
		if chosen, err = format.Select(t.Labels, o.Classes); err != nil {
			return nil, nil, err
		}
	}
	if chosen = without(chosen, d.taken); len(chosen) == 0 {
		return nil, nil, errors.New("the source has drawn all rows: draw fewer with --source-rows")
	}
	if t.Labels != nil {
		if labels, err = format.Index(pick(t.Labels, chosen), d.classes); err != nil {
			return nil, nil, err
		}
	}
	so := o.side(domain)
	if so.Proportions == "" && so.Rows == 0 && so.MaxRows == 0 {
		return chosen, labels, nil
	}
	draw := shift.Draw{Rows: so.Rows, MaxRows: so.MaxRows, Seed: env.Seed ^ uint64(domain)<<32}
	proportions := so.Proportions
	if proportions == shift.Random {
		proportions = DrawProportions(env, domain, d.classes, labels)
	}
	if proportions != "" {
		if draw.Proportions, err = shift.ParseProportions(proportions, d.classes); err != nil {
			return nil, nil, fmt.Errorf("--%s-proportions: %w", domain, err)
		}
	}
	if labels == nil {
		labels = slices.Repeat([]int32{-1}, len(chosen))
	}
	drawn, err := shift.Sample(ctx, labels, d.classes, draw)
	if err != nil {
		return nil, nil, err
	}
	return pick(chosen, drawn), pick(labels, drawn), nil
}

// without returns the rows that are not taken.
func without(rows, taken []int) []int {
	if taken == nil {
		return rows
	}
	gone := map[int]bool{}
	for _, row := range taken {
		gone[row] = true
	}
	return slices.DeleteFunc(rows, func(row int) bool { return gone[row] })
}

func pick[T any](values []T, at []int) []T {
	picked := make([]T, len(at))
	for i, j := range at {
		picked[i] = values[j]
	}
	return picked
}

// sameShape returns an error if the rows of the two domains differ in width.
func (d *dataset) sameShape(o Options) error {
	if len(d.sides) < 2 || d.sides[0].x.Cols == d.sides[1].x.Cols {
		return nil
	}
	return fmt.Errorf("a row of %s has %d numbers and one of %s has %d: bring images to one shape with --source-resize, --target-resize and --source-pad, --target-pad, and name the common columns of tables with --columns",
		o.Source.Path, d.sides[0].x.Cols, o.Target.Path, d.sides[1].x.Cols)
}

// standardize applies the moments of the columns, which it fits unless they were
// loaded.
func (st *preparation) standardize(ctx context.Context, env stages.Env, d *dataset, o Options) error {
	if o.Load == "" && o.Prepared == "" {
		if err := st.fit(ctx, env, d, o.Standardize); err != nil {
			return err
		}
	}
	for _, s := range d.sides {
		m := st.moments(s.domain)
		if m == nil {
			continue
		}
		if err := m.Check(s.x.Cols); err != nil {
			return fmt.Errorf("%s: %w", cmp.Or(o.Load, "the model"), err)
		}
		if err := m.Apply(ctx, s.x); err != nil {
			return fmt.Errorf("%s: %w", o.side(s.domain).Path, err)
		}
	}
	return nil
}

func (st *preparation) fit(ctx context.Context, env stages.Env, d *dataset, by string) error {
	for _, s := range d.sides {
		switch {
		case by == "none" || by == "":
		case by == "domain" || s.domain == arrowio.SourceDomain:
			m, constant, err := scale.Fit(ctx, s.x)
			if err != nil {
				return err
			}
			if len(constant) == s.x.Cols {
				return fmt.Errorf("%s rows: all %d features are constant, so there is nothing to learn from: choose others with --columns", s.domain, len(constant))
			}
			if len(constant) > 0 {
				env.Logger().Warn(fmt.Sprintf("%d of %d features are constant over the %s rows and become 0", len(constant), s.x.Cols, s.domain))
			}
			st.setMoments(s.domain, &m)
			if by == "source" {
				st.setMoments(arrowio.TargetDomain, &m)
			}
		case st.moments(s.domain) == nil:
			return errors.New("--standardize source needs --source: give it, or --load the state of a run that had it")
		}
	}
	return nil
}
