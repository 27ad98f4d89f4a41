package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/validate"
	"mars.dev/mars/stages/internal/stream"
	"mars.dev/mars/tables/write"
)

// Scores are what predictions are worth by themselves, without the truth: the higher, the
// better. They compare labels of the same target.
type Scores struct {
	Rows   int                 `json:"rows"`              // of the target
	Held   int                 `json:"held_out"`          // source rows that were not trained on
	Scores map[string]*float64 `json:"scores"`            // by name; null where there is none
	Why    map[string]string   `json:"missing,omitempty"` // why there is none
}

// scoreNames are the scores of predictions; the others take the training.
var scoreNames = []string{validate.EntropyScore, validate.DensityScore, validate.ImportanceScore, validate.DeepScore}

// Score scores the posteriors of all of in, which it holds in memory.
func Score(ctx context.Context, env stages.Env, in arrowio.Stream) (*Scores, error) {
	r, c := &stream.Rows{Env: env, Stream: in}, env.Columns
	if err := r.Require("run mars-train or mars-predict before, and write .arrow, which keeps posteriors", c.Probability); err != nil {
		return nil, err
	}
	meta, err := r.Meta()
	if err != nil {
		return nil, err
	}
	g := scored{Rows: r, classes: meta.Classes, subject: validate.Subject{Seed: env.Seed}}
	g.held = r.Has(c.Unseen) && r.Has(c.Label) && r.Has(c.Features) && r.Has(c.Domain)
	if err := r.Each(ctx, g.add); err != nil {
		return nil, err
	}
	if g.subject.TargetPosteriors.Rows == 0 {
		return nil, r.EmptyDomain(arrowio.TargetDomain)
	}
	return g.scores(ctx)
}

// scored gathers what scores look at.
type scored struct {
	*stream.Rows
	classes []string
	held    bool // the stream has what the scores of source rows need
	subject validate.Subject
}

func (g *scored) add(rec arrow.Record) error {
	c, s := g.Columns, &g.subject
	domains, err := g.Domains(rec)
	if err != nil {
		return err
	}
	posteriors, err := arrowio.VectorColumn(rec, c.Probability)
	if err != nil {
		return err
	}
	if width := s.TargetPosteriors.Cols + s.HeldPosteriors.Cols; width > 0 && rec.NumRows() > 0 && posteriors.Width != max(s.TargetPosteriors.Cols, s.HeldPosteriors.Cols) {
		return g.Fail(c.Probability, fmt.Errorf("rows of %d posteriors follow others", posteriors.Width), "")
	}
	for i, d := range domains {
		if d == arrowio.TargetDomain || g.held {
			if err := g.check(posteriors.Row(i), i); err != nil {
				return err
			}
		}
		if d == arrowio.TargetDomain && !g.held {
			stream.AppendRow(&s.TargetPosteriors, posteriors.Row(i))
		}
	}
	if !g.held {
		return nil
	}
	return g.addFeatures(rec, domains, posteriors)
}

// check refuses what are no posteriors.
func (g *scored) check(row []float32, i int) error {
	sum := 0.0
	for _, p := range row {
		if p < 0 {
			return g.Fail(g.Columns.Probability, fmt.Errorf("row %d of its batch has the posterior %v", i+1, p), "write shares from 0 to 1 that sum to 1")
		}
		sum += float64(p)
	}
	const rounding = 1e-3
	if math.Abs(sum-1) > rounding {
		return g.Fail(g.Columns.Probability, fmt.Errorf("row %d of its batch has posteriors that sum to %.4g", i+1, sum), "write shares from 0 to 1 that sum to 1")
	}
	return nil
}

// addFeatures adds the features of both domains, the posteriors of the target and what is known of
// source rows that were not trained on. Rows without any value are left out.
func (g *scored) addFeatures(rec arrow.Record, domains []arrowio.Domain, posteriors arrowio.Vectors) error {
	c, s := g.Columns, &g.subject
	features, err := arrowio.VectorColumnWithGaps(rec, c.Features)
	if err != nil {
		return err
	}
	if width := max(s.Source.Cols, s.Held.Cols, s.Target.Cols); width > 0 && features.Rows > 0 && features.Width != width {
		return g.Fail(c.Features, fmt.Errorf("rows of %d numbers follow rows of %d", features.Width, width), "")
	}
	unseen, err := arrowio.IntColumn(rec, c.Unseen)
	if err != nil {
		return err
	}
	labels, err := arrowio.LabelColumn(rec, c.Label, g.classes)
	if err != nil {
		return err
	}
	for i, d := range domains {
		switch {
		case features.Missing(i):
		case d == arrowio.TargetDomain:
			stream.AppendRow(&s.Target, features.Row(i))
			stream.AppendRow(&s.TargetPosteriors, posteriors.Row(i))
		case unseen.Null(i) || unseen.Values[i] == 0:
			stream.AppendRow(&s.Source, features.Row(i))
		case labels.Null(i) || labels.Values[i] < 0 || int(labels.Values[i]) >= posteriors.Width:
			return g.Fail(c.Label, fmt.Errorf("row %d of its batch is a source row without a label that its %d posteriors know", i+1, posteriors.Width), "")
		default:
			stream.AppendRow(&s.Held, features.Row(i))
			stream.AppendRow(&s.HeldPosteriors, posteriors.Row(i))
			s.HeldLabels = append(s.HeldLabels, labels.Values[i])
		}
	}
	return nil
}

func (g *scored) scores(ctx context.Context) (*Scores, error) {
	s := &Scores{Rows: g.subject.TargetPosteriors.Rows, Held: g.subject.Held.Rows, Scores: map[string]*float64{}}
	if g.subject.Source.Rows == 0 && s.Held > 0 {
		return nil, g.Fail(g.Columns.Unseen, errors.New("all source rows are marked"), "mark those that were not trained on")
	}
	for _, name := range scoreNames {
		v, err := g.subject.Score(ctx, name)
		switch {
		case err == nil:
			s.Scores[name] = &v
		case ctx.Err() != nil:
			return nil, ctx.Err()
		default:
			s.Scores[name] = nil
			if s.Why == nil {
				s.Why = map[string]string{}
			}
			s.Why[name] = errors.Unwrap(err).Error() // without the name
		}
	}
	return s, nil
}

// WriteTable writes s for a person to read.
func (s *Scores) WriteTable(w io.Writer) error {
	var b bytes.Buffer // which takes all, so that only w can fail
	s.table(&b)
	_, err := b.WriteTo(w)
	return err
}

func (s *Scores) table(w *bytes.Buffer) {
	fmt.Fprintf(w, "scores without the truth, of %d target rows and %d source rows that were not trained on (higher is better)\n", s.Rows, s.Held)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range scoreNames {
		if v := s.Scores[name]; v != nil {
			fmt.Fprintf(tw, "%s\t%s\n", name, strconv.FormatFloat(*v, 'f', 4, 64))
		} else {
			fmt.Fprintf(tw, "%s\tnone: %s\n", name, s.Why[name])
		}
	}
	tw.Flush()
}

// WriteJSON writes s as one object.
func (s *Scores) WriteJSON(w io.Writer) error { return write.Object(w, s) }

// Save writes s to a file: as JSON whole, and in the other formats a row a score.
func (s *Scores) Save(ctx context.Context, path string, f write.Format) error {
	return write.SaveReport(ctx, path, f, s.WriteJSON, func() (arrow.Record, error) {
		var values []*float64
		for _, name := range scoreNames {
			values = append(values, s.Scores[name])
		}
		var t arrowio.Table
		t.Add("score", arrowio.NewStringArray(scoreNames))
		t.AddNullable("value", arrowio.NewDoublesOrNull(values))
		return t.Record(arrowio.Meta{}), nil
	})
}
