package stream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables"
)

// Samples are the vectors of both domains, in the order of their rows. Where rows are
// held out (see Rows.HoldOut), Held and HeldLabels have those of the source, and Source,
// Labels and SourceWeight the others.
type Samples struct {
	Classes        []string
	Source, Target blas32.General
	Labels         []int32 // of the source rows; nil unless asked for
	SourceWeight   []float32
	Batches        []int32  // of the source rows, indices of BatchNames; nil where the stream names none
	BatchNames     []string // in the order in which they come
	TargetMatched  arrowio.Ints
	TargetRows     int // that there are, kept or not
	TargetMissing  int // of these, how many have no value at all: none of them is kept
	Held           blas32.General
	HeldLabels     []int32
}

// MissingShare is the share of the target's rows that have no value at all.
func (s *Samples) MissingShare() float64 {
	return float64(s.TargetMissing) / float64(max(s.TargetRows, 1))
}

// Want says what Gather keeps.
type Want struct {
	Vector         string // column of vectors
	Source, Target bool   // domains whose vectors are kept
	Labels         bool   // source labels
	Start          bool   // weight and matched, where the stream has them
	Batches        bool   // of the source rows, where the stream has them
	MaxTarget      int    // target rows that are kept; of more a random sample; 0: all
}

// Gather reads one pass of in. A domain that is wanted and has no row is an
// error, and so is a class that has none where labels are wanted.
func (r *Rows) Gather(ctx context.Context, classes []string, want Want) (*Samples, error) {
	g := gatherer{Rows: r, want: want, samples: &Samples{Classes: classes}, batches: map[string]int32{}, rng: rand.New(rand.NewPCG(r.Seed, streamSample))}
	if r.held != nil {
		r.held.restart(r.Seed, len(classes))
	}
	if err := r.Each(ctx, g.add); err != nil {
		return nil, err
	}
	g.samples.TargetRows = g.rows[arrowio.TargetDomain] + g.samples.TargetMissing
	if err := g.check(); err != nil {
		return nil, err
	}
	return g.samples, g.checkLost(want.Vector, g.width, g.samples.Source.Data, g.samples.Held.Data, g.samples.Target.Data)
}

type gatherer struct {
	*Rows
	want    Want
	samples *Samples
	width   int
	rows    [2]int     // by domain
	rng     *rand.Rand // of the sample
	batches map[string]int32
}

func (g *gatherer) add(rec arrow.Record) error {
	if rec.NumRows() == 0 {
		return nil
	}
	vectors, err := arrowio.VectorColumnWithGaps(rec, g.want.Vector)
	if err != nil {
		return err
	}
	if g.width > 0 && vectors.Width != g.width {
		return g.Fail(g.want.Vector, fmt.Errorf("rows of %d numbers follow rows of %d", vectors.Width, g.width), "")
	}
	if g.width == 0 && g.want.Vector == g.Columns.Features {
		if at := tables.Crowded(rec, g.want.Vector, vectors.Width); at != "" {
			g.Logger().Warn(fmt.Sprintf("%s: column %q: the numbers of a row that are so close together, and so far from 0, that float32 does not tell them apart: %s: take a number near them off first, or give them as columns of a table", g.Name(), g.want.Vector, at))
		}
	}
	g.width = vectors.Width
	domains, err := g.Domains(rec)
	if err != nil {
		return err
	}
	var labels []int32
	if g.want.Labels {
		if labels, err = g.Labels(rec, domains, g.samples.Classes); err != nil {
			return err
		}
	}
	trained, target := places(domains, arrowio.SourceDomain), places(domains, arrowio.TargetDomain)
	if g.held != nil {
		if trained, err = g.setApart(rec, domains, labels, vectors); err != nil {
			return err
		}
	}
	// Nothing is learnt of rows without any value.
	trained, some := slices.DeleteFunc(trained, vectors.Missing), len(target)
	target = slices.DeleteFunc(target, vectors.Missing)
	g.samples.TargetMissing += some - len(target)
	g.keep(vectors, trained, target)
	if g.want.Labels {
		g.samples.Labels = appendOf(g.samples.Labels, labels, trained)
	}
	if g.want.Batches && arrowio.HasColumn(rec.Schema(), g.Columns.Batch) {
		if err := g.addBatches(rec, trained); err != nil {
			return err
		}
	}
	if g.want.Start {
		return g.addStart(rec, trained, target)
	}
	return nil
}

// addBatches keeps which batch each source row is of.
func (g *gatherer) addBatches(rec arrow.Record, source []int) error {
	names, err := arrowio.StringColumn(rec, g.Columns.Batch)
	if err != nil {
		return err
	}
	for _, i := range source {
		name := names.Values[i]
		if name == "" {
			return g.Fail(g.Columns.Batch, errors.New("a source row has no batch"), "say of each which batch it is of, or drop the column")
		}
		k, ok := g.batches[name]
		if !ok {
			k = int32(len(g.batches))
			g.batches[strings.Clone(name)] = k
			g.samples.BatchNames = append(g.samples.BatchNames, strings.Clone(name))
		}
		g.samples.Batches = append(g.samples.Batches, k)
	}
	return nil
}

// setApart keeps the rows that are held out, and returns the places of the other source
// rows.
func (g *gatherer) setApart(rec arrow.Record, domains []arrowio.Domain, labels []int32, vectors arrowio.Vectors) (others []int, err error) {
	marks, err := g.held.marks(g.Rows, rec, domains, labels)
	if err != nil {
		return nil, err
	}
	for _, i := range places(domains, arrowio.SourceDomain) {
		if !marks[i] {
			others = append(others, i)
			continue
		}
		if !vectors.Missing(i) {
			AppendRow(&g.samples.Held, vectors.Row(i))
			g.samples.HeldLabels = append(g.samples.HeldLabels, labels[i])
		}
	}
	return others, nil
}

// keep keeps the rows at those places.
func (g *gatherer) keep(vectors arrowio.Vectors, source, target []int) {
	g.rows[arrowio.SourceDomain] += len(source)
	if g.want.Source {
		for _, i := range source {
			AppendRow(&g.samples.Source, vectors.Row(i))
		}
	}
	for _, i := range target {
		g.rows[arrowio.TargetDomain]++
		if g.want.Target {
			g.keepTarget(vectors.Row(i))
		}
	}
}

// streamSample is the stream of random numbers that draws the sample.
const streamSample = 0x5a3e

// keepTarget keeps a target row, or a fair sample of them (algorithm R: Vitter 1985).
func (g *gatherer) keepTarget(row []float32) {
	target, limit := &g.samples.Target, g.want.MaxTarget
	if limit == 0 || target.Rows < limit {
		AppendRow(target, row)
		return
	}
	if i := g.rng.IntN(g.rows[arrowio.TargetDomain]); i < limit {
		copy(target.Data[i*target.Stride:], row)
	}
}

func (g *gatherer) addStart(rec arrow.Record, source, target []int) error {
	s, names := g.samples, g.Columns
	if arrowio.HasColumn(rec.Schema(), names.Weight) {
		weights, err := arrowio.FloatColumn(rec, names.Weight)
		if err != nil {
			return err
		}
		s.SourceWeight = appendOf(s.SourceWeight, weights, source)
	}
	if arrowio.HasColumn(rec.Schema(), names.Matched) {
		matched, err := arrowio.IntColumn(rec, names.Matched)
		if err != nil {
			return err
		}
		valid := matched.Valid
		if valid == nil {
			valid = slices.Repeat([]bool{true}, int(rec.NumRows()))
		}
		s.TargetMatched.Values = appendOf(s.TargetMatched.Values, matched.Values, target)
		s.TargetMatched.Valid = appendOf(s.TargetMatched.Valid, valid, target)
	}
	return nil
}

func (g *gatherer) check() error {
	switch {
	case g.rows[arrowio.SourceDomain] == 0 && g.samples.Held.Rows > 0:
		return g.Fail(g.Columns.Unseen, errors.New("all source rows are held out, so none is left to train on"), "hold fewer rows out, or drop the column")
	case g.rows[arrowio.SourceDomain] == 0 && (g.want.Source || g.want.Labels):
		return g.EmptyDomain(arrowio.SourceDomain)
	case g.rows[arrowio.TargetDomain] == 0 && g.samples.TargetMissing > 0:
		return g.Fail(g.want.Vector, errors.New("no target row has a value"), "give rows that have values in these columns")
	case g.rows[arrowio.TargetDomain] == 0 && g.want.Target:
		return g.EmptyDomain(arrowio.TargetDomain)
	}
	if g.want.Labels {
		return g.CheckClasses(g.samples.Classes, Counts(g.samples.Labels, len(g.samples.Classes)))
	}
	return nil
}

// EmptyDomain is the error of a stream that lacks rows of a domain.
func (r *Rows) EmptyDomain(domain arrowio.Domain) error {
	return r.Fail("", fmt.Errorf("there are no %s rows", domain), fmt.Sprintf("give rows whose domain is %q", domain.String()))
}

// Counts is the number of rows of each class.
func Counts(labels []int32, classes int) []int {
	counts := make([]int, classes)
	for _, label := range labels {
		counts[label]++
	}
	return counts
}

// Shares divides counts by their sum, which must not be 0.
func Shares(counts []int) []float64 {
	total := 0
	for _, n := range counts {
		total += n
	}
	p := make([]float64, len(counts))
	for k, n := range counts {
		p[k] = float64(n) / float64(total)
	}
	return p
}

// CheckClasses reports classes that cannot be learnt: fewer than two, or one
// without a source row.
func (r *Rows) CheckClasses(classes []string, counts []int) error {
	if len(classes) < 2 {
		return r.Fail("", fmt.Errorf("the source rows have %d class", len(classes)), "give labelled rows of at least two classes")
	}
	var missing []string
	for k, n := range counts {
		if n == 0 {
			missing = append(missing, strconv.Quote(classes[k]))
		}
	}
	if missing != nil {
		return r.Fail("", fmt.Errorf("no source row has class %s", strings.Join(missing, ", ")),
			"give labelled rows of every class, or leave the class out (mars-featurize --classes)")
	}
	return nil
}

// AppendRow adds a row to the end of m.
func AppendRow(m *blas32.General, row []float32) {
	m.Data = append(m.Data, row...)
	m.Rows++
	m.Cols, m.Stride = len(row), len(row)
}

// places are those of the rows of a domain.
func places(domains []arrowio.Domain, domain arrowio.Domain) []int {
	var at []int
	for i, d := range domains {
		if d == domain {
			at = append(at, i)
		}
	}
	return at
}

// appendOf adds the values at those places.
func appendOf[T any](to, values []T, places []int) []T {
	for _, i := range places {
		to = append(to, values[i])
	}
	return to
}
