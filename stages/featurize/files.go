package featurize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/featurize/shift"
	"mars.dev/mars/stages/internal/sketches"
	"mars.dev/mars/tables"
)

// SideOptions say what to read of one domain and how to prepare it.
type SideOptions struct {
	Path   string         // "": the domain is left out
	Stream arrowio.Stream // read instead of the file Path, which is its name; nil for none
	piped  *tables.Piped  // the same, of an input that is no Arrow stream
	Format tables.Options
	// Column is a column of this side alone, of which Domains are the values of the rows that are read; "" for
	// none. It is no feature.
	Column  string
	Domains []string // see Options.Domain
	// Sketch is read instead of the file Path, which is its name, or its names; nil for none.
	Sketch *sketches.Sketch
	Images ImageOptions

	Rows        int    // rows to draw; 0: all, or the most that Proportions allow
	MaxRows     int    // the most rows to draw if Rows is 0; 0: no limit
	Proportions string // see shift.ParseProportions, or shift.Random; "": those of the data
	Fractions   string // kept of each class before rows are drawn, see shift.ParseFractions; "": all
}

// Options of reading files.
type Options struct {
	Source, Target SideOptions

	// Domain is a column of the tables that says which domain a row is of; "" if each
	// file is one domain. Source and Target name its values in their Domains, nil for
	// "source" and "target", and may be one file.
	Domain string

	// FileColumn is the name of a column of the stream with the path of each row's file; ""
	// for none.
	FileColumn string

	// BatchFiles makes each file of the source a batch, as Source.Format.Batch makes the rows of
	// one value of a column.
	BatchFiles bool

	// Levels are columns of the source that say of which class a row is at each level, the coarsest first
	// and the label column last; nil: there are none. Tree is a table that says the same, a row a class, in
	// the order of its columns; "" for none.
	Levels []string
	Tree   string

	// Image is a column of the tables with the paths of images, which are the rows; "" for
	// none, or that of the state.
	Image string

	// Disjoint draws target rows from those that the source has not drawn, where both
	// come from one file.
	Disjoint bool
	Classes  []string // keep only these, in this order; nil: all that the source has
	Truth    bool     // write the target's labels as truth
	// DropUnlabelled leaves out source rows without a label, which are an error otherwise.
	DropUnlabelled bool
	Nameless       bool // nobody will see the identities of rows
	// Standardize says by whose rows features are scaled: "source", "domain" or "none"; "" is
	// "none", but "source" where Scale says how.
	Standardize string
	Scale       scale.Method    // how features are scaled; "": by mean and deviation
	Transform   scale.Transform // of features that are numbers, before they are scaled
	Save        string          // state file to write; "" for none
	Load        string          // state file that replaces Images, Classes, Transform, Standardize and Scale
	// Prepared, of the column of features that a model was trained on
	// (arrowio.PreparationKey), and Classes replace them too; "" does not.
	Prepared string
	Preview  Preview
	Mixed    MixedOptions
}

var domains = []arrowio.Domain{arrowio.SourceDomain, arrowio.TargetDomain}

// Files reads source and target and writes the stream.
func Files(ctx context.Context, env stages.Env, o Options, out arrowio.Sink) error {
	totals, err := o.openSketches(env)
	if err != nil {
		return err
	}
	if o.Standardize == "" && o.Scale != "" && o.Scale != scale.Moments {
		o.Standardize = "source"
	}
	st, err := o.recipe(&env)
	if err != nil {
		return err
	}
	if o.Image != "" {
		st.Pictures.Column = o.Image
	}
	o.Mixed.MaxCategories = cmp.Or(o.Mixed.MaxCategories, DefaultMaxCategories)
	if err := o.readLevels(ctx); err != nil {
		return err
	}
	memory := arrowio.NewBudget(0)
	o.Source.Format.Memory, o.Target.Format.Memory = memory, memory
	if st.Columns != nil && o.Source.Path == "" {
		closePipe, err := o.Target.openPipe(ctx)
		if err != nil {
			return err
		}
		defer closePipe()
	}
	d, err := read(ctx, env, o, st)
	if err != nil {
		return err
	}
	d.totals = totals
	st.warnWithoutNumbers(env, o)
	if err := st.standardize(ctx, env, d, o); err != nil {
		return err
	}
	if o.Save != "" {
		sum, err := st.save(o.Save, d.width())
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
	d.doubts = st.doubts
	if err := d.write(ctx, env, out); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // a million columns take their time to be told of
		return err
	}
	if d.flow != nil {
		d.flow.tell(env, d.source, o)
	}
	return nil
}

// recipe is what is known of it before any row is read: that of a state or a model, or
// what the options say. What these know already is no option any more.
func (o *Options) recipe(env *stages.Env) (st *recipe, err error) {
	switch {
	case o.Prepared != "":
		st, err = parseRecipe(o.Prepared, o.Classes)
		o.Classes = nil
	case o.Load != "":
		var sum string
		if st, sum, err = loadRecipe(o.Load); err == nil {
			env.KeepState(o.Load, sum)
		}
	default:
		st = &recipe{Source: o.Source.Images, Target: o.Target.Images, Classes: o.Classes}
		st.chosen = o.Source.Format.Columns != nil || o.Target.Format.Columns != nil
		st.Compensate = o.Source.Format.Compensate || o.Target.Format.Compensate
		if !o.Transform.None() {
			st.Transform = &o.Transform
		}
		return st, nil
	}
	if err != nil {
		return nil, err
	}
	st.chosen, st.learnt = true, true
	o.Source.Format.Compensated, o.Target.Format.Compensated = st.Compensate, st.Compensate
	return st, nil
}

// read reads both sides, with one shape and one set of classes.
func read(ctx context.Context, env stages.Env, o Options, st *recipe) (*dataset, error) {
	if o.Source.Path == "" && o.Target.Path == "" {
		return nil, errors.New("there is nothing to read: give --source FILE, --target FILE or both")
	}
	d := &dataset{classes: st.Classes, truth: o.Truth && o.Target.Path != "", files: o.FileColumn, batches: o.BatchFiles || o.Source.Format.Batch != ""}
	if err := checkFileColumn(env, o.FileColumn); err != nil {
		return nil, err
	}
	if o.Disjoint && o.Domain != "" {
		return nil, errors.New("the rows of two domains of a column are disjoint: leave --disjoint out, or --domain-column")
	}
	if o.Disjoint && (o.Source.Path != o.Target.Path || o.Source.Path == "") {
		return nil, errors.New("disjoint rows are drawn from one file: name it as --source and as --target")
	}
	sides, err := readAll(ctx, env, o, st, d)
	if err != nil {
		return nil, err
	}
	source, target := sides[arrowio.SourceDomain], sides[arrowio.TargetDomain]
	d.source = source
	if d.flow == nil {
		st.tellColumns(env, source, target, o)
	} else if tellable(source) && len(source.Columns) == len(d.flow.spreads) {
		d.flow.names = source.Columns
		if d.flow.source, err = ownSpreads(source, d.flow.options.Memory); err != nil { // as it was read
			return nil, err
		}
	}
	if err := warnOfNumbers(ctx, env, source, o.Source.Format.Memory); err != nil {
		return nil, err
	}
	st.tellRaw(env, source)
	if err := warnOfCopies(ctx, env, source, o.Source.Format.Memory); err != nil {
		return nil, err
	}
	doubts, err := doubtsOfSides(source, target, o.Source.Format.Memory)
	if err != nil {
		return nil, err
	}
	for _, text := range doubts {
		st.doubt(env, text)
	}
	if err := st.encodeBoth(ctx, env, sides); err != nil {
		return nil, err
	}
	st.tellEncoder(env)
	if err := st.explain(o.Mixed.Explain, source, target); err != nil {
		return nil, err
	}
	if d.classes == nil && sides[arrowio.SourceDomain] != nil {
		d.classes = tables.Classes(sides[arrowio.SourceDomain].Labels)
		if i := slices.IndexFunc(d.classes, func(name string) bool { return !utf8.ValidString(name) }); i >= 0 {
			return nil, fmt.Errorf("%s: the label %q is not valid UTF-8: mend what wrote it", sides[arrowio.SourceDomain].Name, d.classes[i])
		}
		if err := env.CheckClasses(len(d.classes)); err != nil {
			return nil, fmt.Errorf("%s: %w", sides[arrowio.SourceDomain].Name, err)
		}
		if one, other, found := spelling.Twins(d.classes); found {
			st.doubt(env, fmt.Sprintf("%s: the labels %s are taken for two classes: if they are one, write them alike", sides[arrowio.SourceDomain].Name, spelling.Both(one, other)))
		}
	}
	st.Classes = d.classes
	if err := o.levels(ctx, env, d, sides[arrowio.SourceDomain]); err != nil {
		return nil, err
	}
	for _, domain := range domains {
		if t := sides[domain]; t != nil {
			if err := d.addSide(ctx, env, t, domain, o, st); err != nil {
				return nil, err
			}
		}
	}
	return d, d.sameShape(o)
}

// checkFileColumn refuses a name that the stream has already.
func checkFileColumn(env stages.Env, name string) error {
	c := env.Columns
	if name != "" && slices.Contains([]string{c.ID, c.Domain, c.Label, c.Truth, c.Features}, name) {
		return fmt.Errorf("--file-column %s: the stream has a column of that name: choose another", name)
	}
	return nil
}

func (o *Options) side(domain arrowio.Domain) *SideOptions {
	if domain == arrowio.SourceDomain {
		return &o.Source
	}
	return &o.Target
}

// readAll reads the tables of both sides: in one pass if they are of one input. A target
// that can flow becomes d.flow instead.
func readAll(ctx context.Context, env stages.Env, o Options, st *recipe, d *dataset) (map[arrowio.Domain]*tables.Table, error) {
	sides := map[arrowio.Domain]*tables.Table{}
	var given []arrowio.Domain
	for _, domain := range domains {
		if o.side(domain).Path != "" {
			given = append(given, domain)
		}
	}
	groups := make([][]arrowio.Domain, 0, 2)
	if o.Domain != "" && len(given) == 2 && o.Source.Path == o.Target.Path {
		groups = append(groups, given)
	} else {
		for _, domain := range given {
			groups = append(groups, []arrowio.Domain{domain})
		}
	}
	for _, group := range groups {
		if group[0] == arrowio.TargetDomain && o.flows(ctx, st) {
			var err error
			if d.flow, err = newFlow(ctx, env, o, st, sides[arrowio.SourceDomain]); err != nil {
				return nil, err
			}
			if d.flow != nil {
				continue
			}
		}
		read, err := readSides(ctx, env, group, o, st, sides[arrowio.SourceDomain])
		if group[0] == arrowio.TargetDomain && st.resizeTarget(env, sides[arrowio.SourceDomain], read, err, o) {
			read, err = readSides(ctx, env, group, o, st, sides[arrowio.SourceDomain])
		}
		if err != nil {
			return nil, err
		}
		for k, domain := range group {
			t := read[k]
			sides[domain] = t
			what := "numbers"
			if st.Encoder != nil && !st.Encoder.Plain() {
				what = "columns"
			}
			env.Logger().Info(fmt.Sprintf("%s: %d %s rows of %d %s", t.Name, t.Features.Rows, domain, t.Features.Cols, what))
			tellNote(env, t)
		}
		if others := read[0].Others(); others != "" && o.Domain != "" {
			env.Logger().Info(read[0].Name + ": " + others)
		}
	}
	source, target := sides[arrowio.SourceDomain], sides[arrowio.TargetDomain]
	st.dropLost(env, source, target)
	if source != nil && target != nil && st.Encoder != nil && !st.learnt {
		g := newGaps(len(st.Encoder.Columns))
		g.add(target)
		st.likeTarget(env, g, source, target.Name, o.Mixed.Indicator)
	}
	if st.Columns != nil && len(sides) > 0 {
		env.Logger().Info("features: " + nameColumns(st.Columns))
	}
	return sides, nil
}

// tellNote says how a table was read, if it is to be said.
func tellNote(env stages.Env, t *tables.Table) {
	if t.Note != "" {
		env.Logger().Info(t.Name + ": " + t.Note)
	}
	if t.Doubt != "" {
		env.Logger().Warn(t.Name + ": " + t.Doubt)
	}
}

// readSides reads the sides that are of one input, with its columns in the order of those
// before, so that a feature has the same index in both domains.
func readSides(ctx context.Context, env stages.Env, group []arrowio.Domain, o Options, st *recipe, source *tables.Table) ([]*tables.Table, error) {
	so := o.side(group[0])
	f := so.Format
	f.Domain, f.NoLabels = cmp.Or(o.Domain, so.Column), o.hidesLabels(group[0])
	f.OptionalLabel = o.optionalLabels(group[0])
	f.OptionalID = group[0] == arrowio.SourceDomain && len(group) == 1 && o.Target.Path != ""
	for _, domain := range group {
		f.Parts = append(f.Parts, tables.Part{Name: domain.String(), Values: o.side(domain).Domains, NoLabels: o.hidesLabels(domain), Fit: st.images(domain).Fit})
	}
	f.Learnt = st.learnt
	st.reads(&f, group[0], source)
	f.Image, f.Fit, f.Colour = st.Pictures.Column, st.images(group[0]).Fit, st.Pictures.Colour
	f.Mixed = (st.Columns == nil || st.Encoder != nil) && f.Image == ""
	if st.Columns != nil {
		f.Columns, f.Exclude, f.Categorical = st.Columns, nil, nil
	}
	if st.Encoder != nil {
		f.Fields = st.Encoder.Fields()
	}
	var inLists *tables.MissingColumns // these may be in a column of lists
	f.Lacking = func(t *tables.Options, lacking *tables.MissingColumns) bool {
		switch {
		case st.dropAbsent(env, source, lacking, inputName(so.Path)):
			t.Fields = st.Encoder.Fields()
		case so.Format.Columns == nil && source != nil && len(lacking.Both(st.Columns)) == 0:
			inLists = lacking
			t.Columns, t.Fields, t.Mixed = nil, nil, false
		default:
			return false
		}
		return true
	}
	sides, err := open(ctx, so, f)
	lacking := inLists
	if (errors.As(err, &lacking) || err == nil && lacking != nil && sides[0].Columns != nil) && so.Format.Columns == nil {
		return nil, o.lacks(so.Path, lacking, st.Columns)
	}
	if err != nil {
		return nil, err
	}
	if so.Column != "" {
		sides[0].Name += fmt.Sprintf(", %s %s", so.Column, strings.Join(so.Domains, ", "))
	}
	for k, domain := range group {
		if domain == arrowio.SourceDomain && o.DropUnlabelled {
			if sides[k], err = dropUnlabelled(ctx, env, sides[k]); err != nil {
				return nil, err
			}
		}
		if domain == arrowio.SourceDomain && (o.BatchFiles || o.Source.Format.Batch != "") {
			if sides[k], err = dropChosen(ctx, env, sides[k], so); err != nil {
				return nil, err
			}
		}
		if err := checkLabels(sides[k], domain, o.hidesLabels(domain) || o.optionalLabels(domain), func() []string { return o.otherColumns(ctx, domain) }); err != nil {
			if o.oneFile() {
				err = fmt.Errorf("%w; the file is source and target: if a column says which domain a row is of, name it with --domain-column", err)
			}
			return nil, err
		}
	}
	if o.Mixed.RefuseMissing {
		for _, t := range sides {
			if err := refuseMissing(t); err != nil {
				return nil, fmt.Errorf("%s: %w", t.Name, err)
			}
		}
	}
	if t := sides[0]; t.Pictures && t.Shape[0] == 3 && (group[0] == arrowio.SourceDomain || o.Source.Path == "") {
		st.Pictures.Colour = true
	}
	if st.Columns == nil && sides[0].Columns != nil {
		if err := st.learn(ctx, env, sides, group[0], o); err != nil {
			return nil, err
		}
	}
	if f.Centres == nil {
		st.Centres = sides[0].Centres
	}
	return sides, nil
}

// openPipe looks at what an input holds that can be read but once: rows of an Arrow stream
// need not all be held.
func (so *SideOptions) openPipe(ctx context.Context) (done func(), err error) {
	if so.Stream != nil || so.Format.Labels != "" || !tables.IsPiped(so.Path) {
		return func() {}, nil
	}
	p, err := tables.OpenPiped(ctx, so.Path, so.Format)
	if err != nil {
		return nil, err
	}
	if so.Stream, err = p.Arrow(); err != nil {
		p.Close()
		return nil, err
	}
	if so.Stream == nil {
		so.piped = p
	}
	return func() { p.Close() }, nil
}

func open(ctx context.Context, so *SideOptions, f tables.Options) ([]*tables.Table, error) {
	if so.Stream != nil {
		return tables.FromStream(ctx, so.Stream, f)
	}
	if so.piped != nil {
		return so.piped.ReadParts(ctx, f)
	}
	return tables.OpenParts(ctx, so.Path, f)
}

// oneFile reports whether all rows of one file are source and target at once.
func (o *Options) oneFile() bool {
	if o.Domain != "" || o.Disjoint || o.Source.Path == "" || o.Target.Path == "" {
		return false
	}
	if o.Source.Path == o.Target.Path {
		return true
	}
	a, errA := os.Stat(o.Source.Path)
	b, errB := os.Stat(o.Target.Path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// hidesLabels reports whether the labels of a domain are not read. Those of the target are
// only if the truth is to be written or rows are chosen by class.
func (o *Options) hidesLabels(domain arrowio.Domain) bool {
	return domain == arrowio.TargetDomain && !o.Truth && o.Target.Proportions == "" && o.Target.Fractions == "" && o.Classes == nil
}

// optionalLabels reports whether the labels of a domain are looked at if there are any: the
// classes that are kept are those of the source, and of the target's rows only where it has
// labels.
func (o *Options) optionalLabels(domain arrowio.Domain) bool {
	return domain == arrowio.TargetDomain && !o.Truth && o.Target.Proportions == "" && o.Target.Fractions == "" && o.Classes != nil
}

// lacks is the error of a table that lacks some of the columns which the source, or a model,
// has.
func (o *Options) lacks(path string, e *tables.MissingColumns, columns []string) error {
	name, source := inputName(path), inputName(o.Source.Path)
	switch {
	case source == "" && (o.Load != "" || o.Prepared != ""):
		return fmt.Errorf("%s: has no column %s, which the rows that were learnt on have (the columns of %s are %s): give it the column, or learn without it%s", name, e.Names(), name, nameColumns(e.Header), e.Hint)
	case source == "" || source == name:
		return fmt.Errorf("%s: %w", name, e)
	}
	advice := "they have no feature column in common: rename columns, or name others with --columns"
	if both := e.Both(columns); len(both) > 0 {
		advice = fmt.Sprintf("both have %s: use these alone with --columns %s, or give %s the others", nameColumns(both), shell(both), name)
	}
	return fmt.Errorf("%s: has no column %s, which %s has (the columns of %s are %s); %s%s", name, e.Names(), source, name, nameColumns(e.Header), advice, e.Hint)
}

// inputName is what messages call an input.
func inputName(path string) string {
	if path == "-" {
		return tables.StandardInput
	}
	return path
}

// shell is a list of names as a shell takes them.
func shell(names []string) string {
	if len(names) > maxNamed {
		return "…"
	}
	text := strings.Join(names, ",")
	if strings.ContainsAny(text, " \t'\"$`\\&|;<>()*?[]#~") {
		return strconv.Quote(text)
	}
	return text
}

// dropUnlabelled is the table without the rows that have no label, which people are told.
func dropUnlabelled(ctx context.Context, env stages.Env, t *tables.Table) (*tables.Table, error) {
	n := t.Features.Rows
	var labelled []int
	for i, label := range t.Labels {
		if label != "" {
			labelled = append(labelled, i)
		}
	}
	switch {
	case t.Labels == nil || len(labelled) == n:
		return t, nil
	case len(labelled) == 0:
		return nil, fmt.Errorf("%s: none of its %d rows has a label: check the column of labels", t.Name, n)
	}
	env.Logger().Warn(fmt.Sprintf("%s: %d of %d rows have no label, and are left out", t.Name, n-len(labelled), n))
	return t.Gather(ctx, labelled)
}

// checkLabels returns an error if there are no labels where there have to be some.
func checkLabels(t *tables.Table, domain arrowio.Domain, hidden bool, other func() []string) error {
	if t.Labels == nil && !hidden {
		advice := "name the label column with --label" + likelyLabels(t, other()) + ", or the file with --" + domain.String() + "-labels"
		if ext := filepath.Ext(t.Name); ext == ".npz" || ext == ".mat" {
			advice = "name them behind the features, as in x" + ext + ":X,y, or the file with --" + domain.String() + "-labels"
		}
		if domain == arrowio.TargetDomain {
			return fmt.Errorf("%s: has no labels, which --truth, --target-proportions and --classes need: %s", t.Name, advice)
		}
		return fmt.Errorf("%s: has no labels: %s", t.Name, advice)
	}
	if domain == arrowio.SourceDomain {
		if i := slices.Index(t.Labels, ""); i >= 0 {
			return fmt.Errorf("%s: %s: the source row has no label: label it or drop the row (--missing-labels drop leaves out all such rows)", t.Name, t.Place(i))
		}
	}
	return nil
}

// addSide chooses the rows of a table and prepares them for the stream.
func (d *dataset) addSide(ctx context.Context, env stages.Env, t *tables.Table, domain arrowio.Domain, o Options, st *recipe) error {
	memory := o.side(domain).Format.Memory
	if err := memory.Take(int64(t.Features.Rows) * rowCost); err != nil {
		return fmt.Errorf("%s: its %d rows: %w", t.Name, t.Features.Rows, tables.Limited(err))
	}
	chosen, labels, err := d.choose(ctx, env, t, domain, o)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	whole := t
	if t, err = t.Gather(ctx, chosen); err != nil {
		return err
	}
	shape, err := st.images(domain).apply(ctx, t, env.Seed, memory)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, tables.Limited(err))
	}
	if err := st.transform(ctx, t); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	if domain == arrowio.SourceDomain && o.Disjoint {
		d.taken = chosen
	}
	s := side{domain: domain, x: t.Features, labels: labels, ids: t.IDInts, idNames: t.IDNames, shape: shape}
	if s.ids == nil && s.idNames == nil {
		s.ids = make([]int64, len(chosen))
		for i, row := range chosen {
			s.ids[i] = int64(whole.In(row))
		}
	}
	if d.files != "" {
		s.files = make([]string, len(chosen))
		for i, row := range chosen {
			s.files[i] = whole.File(row)
		}
	}
	if d.batches && domain == arrowio.SourceDomain {
		if s.batches, err = o.batches(whole, chosen); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	d.sides, d.shape = append(d.sides, s), shape
	return nil
}

// batches are those of the chosen rows of the source.
func (o *Options) batches(t *tables.Table, chosen []int) ([]string, error) {
	names := make([]string, len(chosen))
	for i, row := range chosen {
		if o.BatchFiles {
			if names[i] = t.File(row); o.Source.Format.LabelFromFile { // a file has one class
				names[i] = filepath.Dir(names[i])
			}
			continue
		}
		if names[i] = t.Batches[row]; names[i] == "" {
			return nil, fmt.Errorf("%s, column %q: says no batch: fill it or drop the row", t.Place(row), o.Source.Format.Batch)
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return name != names[0] }) {
		switch {
		case o.BatchFiles && o.Source.Format.LabelFromFile:
			return nil, errors.New("is one folder, so one batch, as each file has one class (--label-from-file): give the files of each batch a folder of their own, or leave --batch-files out")
		case o.BatchFiles:
			return nil, errors.New("is one file, so one batch: give several, or leave --batch-files out")
		}
		return nil, fmt.Errorf("column %q: all rows are of batch %q: name a column with several values, or leave --batch-column out", o.Source.Format.Batch, names[0])
	}
	return names, nil
}

// rowCost is the memory of a row beside its table: its index, identity and class, and the name of
// that.
const rowCost = 8 + 8 + 4 + 16

// choose returns the rows that are kept, by class and proportions, and their
// classes.
func (d *dataset) choose(ctx context.Context, env stages.Env, t *tables.Table, domain arrowio.Domain, o Options) (chosen []int, labels []int32, err error) {
	chosen = make([]int, t.Features.Rows)
	for i := range chosen {
		chosen[i] = i
	}
	if t.Labels != nil && o.Classes != nil {
		if chosen, err = tables.Select(t.Labels, o.Classes); err != nil {
			return nil, nil, err
		}
	}
	if chosen = without(chosen, d.taken); len(chosen) == 0 {
		return nil, nil, errors.New("the source has drawn all rows: draw fewer with --source-rows")
	}
	if t.Labels != nil {
		if labels, err = tables.Index(tables.Chosen(t.Labels, chosen), d.classes, func(i int) string { return t.Place(chosen[i]) }); err != nil {
			return nil, nil, err
		}
	}
	so := o.side(domain)
	if so.Fractions != "" {
		if chosen, labels, err = d.thin(ctx, env, domain, so.Fractions, chosen, labels); err != nil {
			return nil, nil, fmt.Errorf("--%s-fractions: %w", domain, err)
		}
	}
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
	return tables.Chosen(chosen, drawn), tables.Chosen(labels, drawn), nil
}

// thin keeps fractions of the classes of the chosen rows.
func (d *dataset) thin(ctx context.Context, env stages.Env, domain arrowio.Domain, text string, chosen []int, labels []int32) ([]int, []int32, error) {
	if labels == nil {
		return nil, nil, errors.New("the rows have no labels to choose by: give them labels")
	}
	fractions, err := shift.ParseFractions(text, d.classes)
	if err != nil {
		return nil, nil, err
	}
	kept, err := shift.Thin(ctx, labels, fractions, env.Seed^uint64(domain)<<32)
	if err == nil && len(kept) == 0 {
		err = errors.New("no rows are left: keep some of a class that has rows")
	}
	return tables.Chosen(chosen, kept), tables.Chosen(labels, kept), err
}

// without returns the rows or names that are not taken.
func without[T comparable](all, taken []T) []T {
	if len(taken) == 0 {
		return all
	}
	gone := tables.SetOf(taken)
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return gone[v] })
}

// inChannels names what images of so many channels are.
func inChannels(n int) string {
	switch n {
	case 1:
		return "grey"
	case 3:
		return "in colour"
	}
	return fmt.Sprintf("of %d channels", n)
}

// sameShape returns an error if the rows of the two domains differ in width.
func (d *dataset) sameShape(o Options) error {
	if len(d.sides) < 2 || d.sides[0].x.Cols == d.sides[1].x.Cols {
		return nil
	}
	a, b := d.sides[0], d.sides[1]
	images := len(a.shape) == 3 && len(b.shape) == 3
	switch {
	case images && a.shape[0] != b.shape[0]:
		return fmt.Errorf("images of %s are %s and those of %s %s: give --grey to make those in colour grey, or --colour to repeat the channel of grey ones",
			o.Source.Path, inChannels(a.shape[0]), o.Target.Path, inChannels(b.shape[0]))
	case images:
		return fmt.Errorf("images of %s are %d×%d and those of %s %d×%d: give --target-resize %dx%d, or bring them to one shape with --source-resize, --source-pad and --target-pad",
			o.Source.Path, a.shape[1], a.shape[2], o.Target.Path, b.shape[1], b.shape[2], a.shape[1], a.shape[2])
	}
	return fmt.Errorf("a row of %s has %d numbers and one of %s has %d: bring images to one shape with --source-resize, --target-resize and --source-pad, --target-pad, and name the common columns of tables with --columns",
		o.Source.Path, a.x.Cols, o.Target.Path, b.x.Cols)
}
