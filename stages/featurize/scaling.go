package featurize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/tables"
)

// withValues are the rows of x that have some.
func withValues(x blas32.General) blas32.General {
	row := func(i int) []float32 { return x.Data[i*x.Stride:][:x.Cols] }
	some := blas32.General{Cols: x.Cols, Stride: x.Stride}
	for i := range x.Rows {
		if !tables.IsMissing(row(i)) {
			some.Rows++
		}
	}
	if some.Rows == x.Rows {
		return x
	}
	some.Stride = x.Cols
	for i := range x.Rows {
		if v := row(i); !tables.IsMissing(v) {
			some.Data = append(some.Data, v...)
		}
	}
	return some
}

// numbers are the indices of those of d features that a transform is of: all, where no
// encoder has made features of categories, dates and missing cells.
func (st *recipe) numbers(d int) []int {
	if st.Encoder != nil {
		return st.Encoder.Numbers()
	}
	all := make([]int, d)
	for j := range all {
		all[j] = j
	}
	return all
}

// warnWithoutNumbers warns of flags that are for numbers where there are none.
func (st *recipe) warnWithoutNumbers(env stages.Env, o Options) {
	if st.Encoder == nil || len(st.Encoder.Numbers()) > 0 || o.Load != "" || o.Prepared != "" {
		return
	}
	name := cmp.Or(o.Source.Path, o.Target.Path)
	if st.Transform != nil {
		env.Logger().Warn(fmt.Sprintf("%s: no feature is a number, so %s changes nothing: leave it out, or choose columns of numbers with --columns", name, st.Transform))
	}
	if o.Scale != "" && o.Scale != scale.Moments {
		env.Logger().Warn(fmt.Sprintf("%s: no feature is a number, so --scale %s is of categories, dates and times alone: leave it out, or choose columns of numbers with --columns", name, o.Scale))
	}
}

// transform transforms the numbers of a table, in which no value is missing any more, in
// place.
func (st *recipe) transform(ctx context.Context, t *tables.Table) error {
	if st.Transform == nil {
		return nil
	}
	if len(t.Shape) == 3 {
		return fmt.Errorf("its rows are images, which are not transformed by %s: leave --log1p, --arcsinh and --logicle out", st.Transform)
	}
	numbers, of := st.numbers(t.Features.Cols), st.Transform.Func()
	for i := range t.Features.Rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := t.Row(i)
		if tables.IsMissing(row) {
			continue
		}
		for _, j := range numbers {
			y := of(row[j])
			if math.IsInf(float64(y), 0) || y != y {
				return fmt.Errorf("%s, %s: %v has no %s: %s", t.Place(i), nameFeature(t, j), row[j], st.Transform, remedy(*st.Transform))
			}
			row[j] = y
		}
	}
	return nil
}

func nameFeature(t *tables.Table, j int) string {
	if len(t.Columns) == t.Features.Cols {
		return "column " + strconv.Quote(t.Columns[j])
	}
	return fmt.Sprintf("feature %d", j+1)
}

// remedy is what to do about a value that a transform cannot take.
func remedy(t scale.Transform) string {
	if t.Log1p {
		return "log1p takes numbers above -1: mend or drop the row, or learn without the column (--exclude), or with --arcsinh COFACTOR"
	}
	if t.Cofactor != 0 {
		return "learn with a larger cofactor"
	}
	return "mend or drop the row"
}

// standardize applies the scaling of the columns, which it fits unless it was loaded.
func (st *recipe) standardize(ctx context.Context, env stages.Env, d *dataset, o Options) error {
	if o.Load == "" && o.Prepared == "" {
		if err := st.fit(ctx, env, d, o); err != nil {
			return err
		}
	}
	for _, s := range d.sides {
		m := st.scaling(s.domain)
		if m.None() {
			continue
		}
		if err := m.Check(s.x.Cols); err != nil {
			return fmt.Errorf("%s: %w", cmp.Or(o.Load, "the model"), err)
		}
		if err := m.Apply(ctx, s.x); err != nil {
			return fmt.Errorf("%s: %w", o.side(s.domain).Path, err)
		}
	}
	if f := d.flow; f != nil {
		if f.scaling = *st.scaling(arrowio.TargetDomain); !f.scaling.None() {
			if err := f.scaling.Check(f.width()); err != nil {
				return fmt.Errorf("%s: %w", cmp.Or(o.Load, "the model"), err)
			}
		}
	}
	return nil
}

func (st *recipe) fit(ctx context.Context, env stages.Env, d *dataset, o Options) error {
	by := o.Standardize
	for _, s := range d.sides {
		switch {
		case by == "none" || by == "":
		case by == "domain" || s.domain == arrowio.SourceDomain:
			m, constant, err := scale.FitBy(ctx, o.Scale, withValues(s.x))
			if err != nil {
				return err
			}
			if len(constant) == s.x.Cols {
				return fmt.Errorf("%s rows: all %d features are constant, so there is nothing to learn from: choose others with --columns", s.domain, len(constant))
			}
			if len(constant) > 0 {
				env.Logger().Warn(fmt.Sprintf("%d of %d features are constant over the %s rows and become 0", len(constant), s.x.Cols, s.domain))
			}
			*st.scaling(s.domain) = m
			if by == "source" {
				*st.scaling(arrowio.TargetDomain) = m
			}
		case st.scaling(s.domain).None():
			return errors.New("--standardize source needs --source: give it, or --load the state of a run that had it")
		}
	}
	return nil
}
