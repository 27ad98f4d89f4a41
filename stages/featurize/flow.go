package featurize

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/tables"
)

// A flow is the target's rows, read block by block while they are written, so that many
// take no more memory than few.
type flow struct {
	path    string
	stream  arrowio.Stream // the rows, if they can be read but once; nil: they are in the file
	options tables.Options
	st      *recipe
	strange *strangeness // counts missing and new values
	refuse  bool         // missing values
	files   bool         // rows are to have the paths of their files
	// with more missing values than this share a column says which are
	indicator float64
	ids       *tables.Table // the identities; of no rows if there are none
	scaling   scale.Scaling

	rows    int           // that have been read
	spreads []spread      // of the columns
	source  []spread      // of the source's; nil if nothing can be told from them
	names   []string      // of spreads
	table   *tables.Table // what is known of all rows at the end
}

// flows reports whether the target's rows can be written as they are read: none are drawn,
// labels are not looked at, and what is done to them is known before.
func (o *Options) flows(ctx context.Context, st *recipe) bool {
	t := o.Target
	switch {
	case t.Path == "" || t.piped != nil || t.drawn() || o.Disjoint || o.Domain != "" || t.Column != "" || !o.hidesLabels(arrowio.TargetDomain):
		return false
	case st.Pictures.Column != "":
		return false
	case o.Preview.Path != "" || !reflect.DeepEqual(st.Target, ImageOptions{}):
		return false
	case o.Source.Path != "" && st.Columns == nil: // arrays, or a column of lists
		return false
	case o.Load == "" && o.Prepared == "" && (o.Standardize == "domain" || o.Standardize == "source" && o.Source.Path == ""):
		return false
	}
	if t.Stream != nil {
		return st.Columns != nil && o.Source.Path == "" // nothing has to be looked up in the rows
	}
	return t.Path != "-" && tables.HasBlocks(ctx, t.Path, t.Format)
}

// newFlow looks through the target's file once or twice: for its identities, and for which
// columns are features if that is not known. It returns nil if its rows have to be read as
// a whole, be it to say what is wrong with them.
func newFlow(ctx context.Context, env stages.Env, o Options, st *recipe, source *tables.Table) (*flow, error) {
	f := &flow{path: o.Target.Path, options: o.Target.Format, st: st, refuse: o.Mixed.RefuseMissing, files: o.FileColumn != "", indicator: o.Mixed.Indicator}
	f.options.NoLabels, f.options.Learnt = true, st.learnt
	st.reads(&f.options, arrowio.TargetDomain, source)
	if st.Columns != nil {
		f.options.Columns, f.options.Exclude, f.options.Categorical = st.Columns, nil, nil
	}
	if st.Encoder != nil {
		f.options.Fields, f.options.Mixed = st.Encoder.Fields(), true
	}
	if f.stream = o.Target.Stream; f.stream != nil {
		named, err := tables.HasIdentities(f.stream.Schema(), f.options)
		if err != nil || named {
			//lint:ignore lostnil identities are in the schema, and compared with each other, before the first row is written
			return nil, nil
		}
		f.path, f.ids = f.stream.Name(), &tables.Table{}
		return f.begin(), nil
	}
	var err error
	only := f.options
	only.OnlyIDs = true
	if f.ids, err = tables.Open(ctx, f.path, only); err != nil {
		lacking := (*tables.MissingColumns)(nil)
		switch {
		case !errors.As(err, &lacking):
			return nil, err
		case st.dropAbsent(env, source, lacking, f.path):
			return newFlow(ctx, env, o, st, source)
		}
		return nil, nil
	}
	if st.Columns == nil {
		known, err := f.findColumns(ctx, env)
		if err != nil || !known {
			return nil, err
		}
		st.Columns = f.options.Columns
	}
	if err := f.glance(ctx, env, source); err != nil {
		return nil, err
	}
	return f.begin(), nil
}

// begin makes room for what is counted of the columns.
func (f *flow) begin() *flow {
	width := len(f.st.Columns)
	if e := f.st.Encoder; e != nil {
		width = len(e.Columns)
		f.strange = newStrangeness(width)
	}
	f.spreads = newSpreads(width)
	return f
}

// errSeen ends a look at a file's first rows.
var errSeen = errors.New("seen")

// glanceValues is how many values of the target's first rows glance looks at, in however many files they are.
const glanceValues = 1 << 18

// glance looks at the first rows, or at all if need be, for columns that say nothing of the target.
func (f *flow) glance(ctx context.Context, env stages.Env, source *tables.Table) error {
	e := f.st.Encoder
	var s *strangeness
	if source != nil && e != nil && !e.Plain() {
		s = newStrangeness(len(e.Columns))
	}
	var l *lost
	if !f.st.chosen {
		l = newLost(source, f.refuse)
	}
	var g *gaps
	if source != nil && e != nil && !f.st.learnt && !f.refuse {
		g = newGaps(len(e.Columns))
	}
	if s == nil && l == nil && g == nil && !tellable(source) {
		return nil
	}
	first, early, seen := f.options, []spread(nil), 0
	held := f.options.Memory.Part()
	defer held.Close()
	first.Each = func(t *tables.Table) (err error) {
		some := *t
		some.Features.Rows = min(t.Features.Rows, glanceValues/max(1, t.Features.Cols)+1-seen)
		seen += some.Features.Rows
		if source != nil && slices.Equal(t.Columns, source.Columns) {
			if early == nil {
				early, err = spreadsOf(&some, held)
			} else {
				err = addRows(early, &some, held)
			}
			if err != nil {
				return err
			}
		}
		if s != nil {
			s.add(&some, e)
		}
		if g != nil {
			g.add(&some)
		}
		if l != nil && l.add(t) || seen*t.Features.Cols <= glanceValues {
			return ctx.Err()
		}
		return errSeen
	}
	if _, err := tables.Open(ctx, f.path, first); err != nil && !errors.Is(err, errSeen) {
		return err
	}
	var empty, stuck []string
	if l != nil {
		empty, stuck = l.find()
	}
	if g != nil {
		f.st.likeTarget(env, g, source, f.path, f.indicator)
	}
	if s != nil {
		f.st.dropStrangers(env, s, f.path, source)
	}
	columns := []string(nil)
	if early != nil {
		columns = slices.Clone(source.Columns)
	}
	f.st.leaveOut(env, empty, stuck, f.path, source)
	doubts, err := earlyDoubts(source, columns, early, held)
	if err != nil {
		return err
	}
	f.st.doubts = append(f.st.doubts, doubts...)
	f.options.Columns = f.st.Columns
	f.st.reads(&f.options, arrowio.TargetDomain, source)
	if e != nil {
		f.options.Fields = e.Fields()
	}
	return nil
}

// earlyDoubts are what the first rows of the target, in columns of which some may be left out by
// now, let one doubt: the stream says it before all rows are read, and the log afterwards.
func earlyDoubts(source *tables.Table, columns []string, target []spread, mem *arrowio.Budget) ([]string, error) {
	if target == nil || !tellable(source) {
		return nil, nil
	}
	var left []spread
	for j, name := range columns {
		if len(left) < len(source.Columns) && source.Columns[len(left)] == name {
			left = append(left, target[j])
		}
	}
	own, err := ownSpreads(source, mem)
	if err != nil {
		return nil, err
	}
	return doubtsOfSpreads(source.Columns, own, left), nil
}

// findColumns finds which columns are features; known is false if they have no names.
func (f *flow) findColumns(ctx context.Context, env stages.Env) (known bool, err error) {
	var scans []keyScan
	held := f.options.Memory.Part()
	defer held.Close()
	all := f.options
	all.Mixed = true
	all.Each = func(t *tables.Table) error {
		if isMixed(t) || t.Columns == nil {
			return errSeen // the table is read as a whole: to learn from it, or as it is a column of lists
		}
		if scans == nil {
			if err := held.Take(int64(t.Features.Cols) * scanCost); err != nil {
				return err
			}
			scans = slices.Repeat([]keyScan{newKeyScan()}, t.Features.Cols)
		}
		for j := range scans {
			if err := scans[j].addColumn(t, j, 0, held); err != nil {
				return fmt.Errorf("column %s: %w", t.Columns[j], err)
			}
		}
		return ctx.Err()
	}
	t, err := tables.Open(ctx, f.path, all)
	if errors.Is(err, errSeen) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if f.options.Columns != nil {
		f.options.Columns = t.Columns // patterns are expanded
	} else {
		ids, err := identities(ctx, t, func(j int) string { return t.Columns[j] }, func(j int) (keyScan, error) { return scans[j], nil })
		if err != nil {
			return false, err
		}
		f.options.Columns = without(t.Columns, leaveIdentities(env, t, ids))
	}
	if t.Fields == nil {
		f.st.Centres = t.Centres
	} else { // which later passes are to read alike
		f.options.Mixed = true
		kept := tables.SetOf(f.options.Columns)
		f.options.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(c tables.Field) bool { return !kept[c.Name] })
		f.st.Centres = centresOf(f.options.Fields)
	}
	f.options.Centres = append([]float64{}, f.st.Centres...)
	return true, nil
}

// run gives the rows to write, a block at a time.
func (f *flow) run(ctx context.Context, write func(side) error) error {
	reading := f.options
	reading.Each = func(t *tables.Table) error { // whose errors are given the file's name
		if f.stream != nil {
			t.Name = f.stream.Name()
		}
		if err := addRows(f.spreads, t, f.options.Memory); err != nil {
			return err
		}
		if err := f.encode(ctx, t); err != nil {
			return err
		}
		if err := f.st.transform(ctx, t); err != nil {
			return err
		}
		if err := f.scaling.Apply(ctx, t.Features); err != nil {
			return err
		}
		s, err := f.side(t)
		if err != nil {
			return err
		}
		return write(s)
	}
	var err error
	if f.table, err = f.open(ctx, reading); err != nil {
		return err
	}
	if n := f.ids.Features.Rows; n > 0 && n != f.rows {
		return f.changed()
	}
	if f.strange != nil {
		return f.st.checkEmpty(f.path, f.strange)
	}
	return nil
}

func (f *flow) open(ctx context.Context, o tables.Options) (*tables.Table, error) {
	if f.stream == nil {
		return tables.Open(ctx, f.path, o)
	}
	sides, err := tables.FromStream(ctx, f.stream, o)
	if err != nil {
		return nil, err
	}
	return sides[0], nil
}

// encode makes features of the columns of a block.
func (f *flow) encode(ctx context.Context, t *tables.Table) error {
	e := f.st.Encoder
	if e == nil {
		return nil
	}
	f.strange.add(t, e)
	if f.refuse {
		if err := refuseMissing(t); err != nil {
			return err
		}
	}
	encoded, err := e.Apply(ctx, t)
	if err != nil {
		return err
	}
	*t = *encoded
	return nil
}

// width is the number of features.
func (f *flow) width() int {
	if f.st.Encoder != nil {
		return f.st.Encoder.Width()
	}
	return len(f.st.Columns)
}

// side is the next block, with its identities.
func (f *flow) side(t *tables.Table) (side, error) {
	n := t.Features.Rows
	s := side{domain: arrowio.TargetDomain, x: t.Features}
	switch lo, hi := f.rows, f.rows+n; {
	case f.ids.Features.Rows == 0:
		s.ids = make([]int64, n)
		for i := range s.ids {
			s.ids[i] = int64(lo + i)
		}
	case hi > f.ids.Features.Rows:
		return s, f.changed()
	case f.ids.IDNames != nil:
		s.idNames = f.ids.IDNames[lo:hi]
	default:
		s.ids = f.ids.IDInts[lo:hi]
	}
	f.rows += n
	if f.files {
		s.files = slices.Repeat([]string{t.Name}, n) // a block is of one file
	}
	return s, nil
}

func (f *flow) changed() error {
	return fmt.Errorf("%s: has changed while it was read: run again when nothing writes to it", f.path)
}

// tell says what was read, after it was.
func (f *flow) tell(env stages.Env, source *tables.Table, o Options) {
	env.Logger().Info(fmt.Sprintf("%s: %s of %s", f.path, spelling.Count(f.rows, "target row", "target rows"), spelling.Count(f.width(), "number", "numbers")))
	tellNote(env, f.table)
	if source == nil {
		env.Logger().Info("features: " + nameColumns(f.st.Columns))
	}
	if f.strange != nil {
		if source == nil {
			f.st.doubtSilent(env, f.path, f.strange)
		}
		f.st.tellGaps(env, f.path, arrowio.TargetDomain, f.strange)
	}
	f.st.tellColumns(env, source, f.table, o)
	if f.source != nil {
		for _, text := range doubtsOfSpreads(f.names, f.source, f.spreads) {
			env.Logger().Warn(text)
		}
	}
}
