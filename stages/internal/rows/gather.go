package rows

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars/arrowio"
	"mars/stages"
)

// Samples are the vectors of both domains, in the order of their rows.
type Samples struct {
	Classes        []string
	Source, Target blas32.General
	Labels         []int32 // of the source rows; nil unless asked for
	SourceWeight   []float32
	TargetMatched  arrowio.Ints
}

// Want says what Gather keeps.
type Want struct {
	Vector         string // column of vectors
	Source, Target bool   // domains whose vectors are kept
	Labels         bool   // source labels
	Start          bool   // weight and matched, where the stream has them
}

// Gather reads one pass of in. A domain that is wanted and has no row is an
// error, and so is a class that has none where labels are wanted.
func Gather(ctx context.Context, env stages.Env, in arrowio.Source, classes []string, want Want) (*Samples, error) {
	g := gatherer{env: env, in: in, want: want, samples: &Samples{Classes: classes}, width: -1}
	if err := Each(ctx, in, g.add); err != nil {
		return nil, err
	}
	return g.samples, g.check()
}

type gatherer struct {
	env     stages.Env
	in      arrowio.Source
	want    Want
	samples *Samples
	width   int
	rows    [2]int // by domain
}

func (g *gatherer) add(rec arrow.Record) error {
	if rec.NumRows() == 0 {
		return nil
	}
	vectors, err := arrowio.VectorColumn(rec, g.want.Vector)
	if err != nil {
		return err
	}
	if g.width >= 0 && vectors.Width != g.width {
		return g.fail("rows of %d numbers follow rows of %d", vectors.Width, g.width)
	}
	g.width = vectors.Width
	domains, err := Domains(rec, g.env)
	if err != nil {
		return err
	}
	for i, domain := range domains {
		g.keep(domain, vectors.Row(i))
	}
	if g.want.Labels {
		labels, err := Labels(rec, domains, g.samples.Classes, g.in, g.env)
		if err != nil {
			return err
		}
		g.samples.Labels = appendOf(g.samples.Labels, labels, domains, arrowio.SourceDomain)
	}
	if g.want.Start {
		return g.addStart(rec, domains)
	}
	return nil
}

func (g *gatherer) keep(domain arrowio.Domain, row []float32) {
	g.rows[domain]++
	switch {
	case domain == arrowio.SourceDomain && g.want.Source:
		AppendRow(&g.samples.Source, row)
	case domain == arrowio.TargetDomain && g.want.Target:
		AppendRow(&g.samples.Target, row)
	}
}

func (g *gatherer) addStart(rec arrow.Record, domains []arrowio.Domain) error {
	s, names := g.samples, g.env.Columns
	if arrowio.HasColumn(rec.Schema(), names.Weight) {
		weights, err := arrowio.FloatColumn(rec, names.Weight)
		if err != nil {
			return err
		}
		s.SourceWeight = appendOf(s.SourceWeight, weights, domains, arrowio.SourceDomain)
	}
	if arrowio.HasColumn(rec.Schema(), names.Matched) {
		matched, err := arrowio.IntColumn(rec, names.Matched)
		if err != nil {
			return err
		}
		valid := matched.Valid
		if valid == nil {
			valid = slices.Repeat([]bool{true}, len(domains))
		}
		s.TargetMatched.Values = appendOf(s.TargetMatched.Values, matched.Values, domains, arrowio.TargetDomain)
		s.TargetMatched.Valid = appendOf(s.TargetMatched.Valid, valid, domains, arrowio.TargetDomain)
	}
	return nil
}

func (g *gatherer) check() error {
	switch {
	case g.rows[arrowio.SourceDomain] == 0 && (g.want.Source || g.want.Labels):
		return EmptyDomain(g.in, arrowio.SourceDomain)
	case g.rows[arrowio.TargetDomain] == 0 && g.want.Target:
		return EmptyDomain(g.in, arrowio.TargetDomain)
	}
	if g.want.Labels {
		return CheckClasses(g.in, g.samples.Classes, Counts(g.samples.Labels, len(g.samples.Classes)))
	}
	return nil
}

func (g *gatherer) fail(format string, args ...any) error {
	return &arrowio.Error{Input: g.in.Name(), Offset: -1, Batch: -1, Column: g.want.Vector, Err: fmt.Errorf(format, args...)}
}

// EmptyDomain is the error of a stream that lacks rows of a domain.
func EmptyDomain(in arrowio.Source, domain arrowio.Domain) error {
	return &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1,
		Err: fmt.Errorf("there are no %s rows", domain), Advice: fmt.Sprintf("give rows whose domain is %q", domain.String())}
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
func CheckClasses(in arrowio.Source, classes []string, counts []int) error {
	fail := func(advice, format string, args ...any) error {
		return &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1, Err: fmt.Errorf(format, args...), Advice: advice}
	}
	if len(classes) < 2 {
		return fail("give labelled rows of at least two classes", "the source rows have %d class", len(classes))
	}
	var missing []string
	for k, n := range counts {
		if n == 0 {
			missing = append(missing, strconv.Quote(classes[k]))
		}
	}
	if missing != nil {
		return fail("give labelled rows of every class, or leave the class out (mars-featurize --classes)",
			"no source row has class %s", strings.Join(missing, ", "))
	}
	return nil
}

// AppendRow adds a row to the end of m.
func AppendRow(m *blas32.General, row []float32) {
	m.Data = append(m.Data, row...)
	m.Rows++
	m.Cols, m.Stride = len(row), len(row)
}

func appendOf[T any](to, values []T, domains []arrowio.Domain, domain arrowio.Domain) []T {
	for i, d := range domains {
		if d == domain {
			to = append(to, values[i])
		}
	}
	return to
}
