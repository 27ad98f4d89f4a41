package train

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/validate"
	"mars.dev/mars/stages/internal/stream"
)

// rowsOf is a stream of two clouds a class, whose classes have names and no metadata. The
// source has counts rows of each class; unseen, if there is any, marks the first rows.
func rowsOf(counts []int, unseen []bool) *arrowio.Batches {
	rng := rand.New(rand.NewPCG(1, 2))
	var data []float32
	var domains []arrowio.Domain
	labels := array.NewStringBuilder(memory.DefaultAllocator)
	add := func(k int, domain arrowio.Domain, shift float64) {
		data = append(data, float32(5*k)+float32(rng.NormFloat64()+shift), float32(rng.NormFloat64()+shift))
		domains = append(domains, domain)
		if domain == arrowio.SourceDomain {
			labels.Append(fmt.Sprint("class ", k))
		} else {
			labels.AppendNull()
		}
	}
	for k, n := range counts {
		for range n {
			add(k, arrowio.SourceDomain, 0)
		}
		for range 30 {
			add(k, arrowio.TargetDomain, .5)
		}
	}
	fields := []arrow.Field{{Name: "features", Type: arrowio.VectorType(2)}, {Name: "domain", Type: arrow.BinaryTypes.String}, {Name: "label", Type: arrow.BinaryTypes.String, Nullable: true}}
	columns := []arrow.Array{arrowio.NewVectorArray(arrowio.Vectors{Data: data, Rows: len(domains), Width: 2}), arrowio.NewDomainArray(domains), labels.NewArray()}
	if unseen != nil {
		b := array.NewBooleanBuilder(memory.DefaultAllocator)
		b.AppendValues(append(slices.Clone(unseen), make([]bool, len(domains)-len(unseen))...), nil)
		fields, columns = append(fields, arrow.Field{Name: "unseen", Type: arrow.FixedWidthTypes.Boolean}), append(columns, b.NewArray())
	}
	schema := arrow.NewSchema(fields, nil)
	return arrowio.NewBatches("rows", schema, array.NewRecord(schema, columns, int64(len(domains))))
}

// kept is a sink that keeps the schema.
type kept struct{ schema *arrow.Schema }

func (k *kept) Begin(s *arrow.Schema) error { k.schema = s; return nil }
func (k *kept) Write(arrow.Record) error    { return nil }
func (k *kept) Close() error                { return nil }
func (k *kept) Fail(error)                  {}

func chooseOf(t *testing.T, c Choice, in arrowio.Stream) (*arrowio.Selection, string, error) {
	t.Helper()
	var log strings.Builder
	var out kept
	env := stages.Env{Columns: arrowio.DefaultColumns(), Log: slog.New(slog.NewTextHandler(&log, nil)), Step: arrowio.Step{Stage: "mars-train"}}
	if err := Select(c)(t.Context(), env, in, &out); err != nil {
		return nil, log.String(), err
	}
	meta, err := arrowio.ReadMeta(out.schema)
	if err != nil {
		t.Fatal(err)
	}
	return meta.Provenance[0].Selection, log.String(), nil
}

func candidates(options ...Options) (c []Candidate) {
	for i, o := range options {
		c = append(c, Candidate{Settings: []Setting{{"method", fmt.Sprint(i)}}, Options: o})
	}
	return c
}

// A class of one row is never held out, and rows that are marked are.
func TestHeldOutRows(t *testing.T) {
	marked := make([]bool, 10)
	marked[0], marked[3] = true, true
	for name, c := range map[string]struct {
		rows *arrowio.Batches
		held []int // rows of each class
	}{
		"one in five":           {rowsOf([]int{20, 7, 1}, nil), []int{4, 1, 0}},
		"those that are marked": {rowsOf([]int{10, 7, 5}, marked), []int{2, 0, 0}},
		"no row that is marked": {rowsOf([]int{20, 7, 1}, make([]bool, 10)), []int{4, 1, 0}},
	} {
		spool := arrowio.NewSpool(c.rows, 0)
		tr := &trials{env: stages.Env{Columns: arrowio.DefaultColumns()}, spool: spool, data: map[string]*stream.Samples{}}
		s, err := tr.gather(t.Context(), tr.env, "features")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		held, sum := make([]int, 3), 0
		for _, y := range s.HeldLabels {
			held[y]++
		}
		for _, n := range c.held {
			sum += n
		}
		if least := held[0] >= c.held[0]-1 && held[2] == c.held[2]; !least || s.Held.Rows != len(s.HeldLabels) || s.Held.Rows < sum-1 {
			t.Errorf("%s: held out are %v, about %v", name, held, c.held)
		}
	}
}

// Names of classes need no metadata, and a class that few rows have takes part.
func TestSelectOfNamedClasses(t *testing.T) {
	c := Choice{Candidates: candidates(Options{Method: gmmot.Method}, Options{Method: "hedge", Classifiers: []string{"logistic"}}), Scores: validate.Names}
	selection, log, err := chooseOf(t, c, rowsOf([]int{30, 30, 2}, nil))
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	for _, candidate := range selection.Candidates {
		if candidate.Failed != "" {
			t.Errorf("%v failed: %s", candidate.Settings, candidate.Failed)
		}
		for name, v := range candidate.Scores {
			if math.IsNaN(v) || (name == validate.Reversed || name == validate.Circular) && v < .6 {
				t.Errorf("%v has the score %s %v", candidate.Settings, name, v)
			}
		}
	}
}

// One in which nothing can be held out has no reverse score, and says why; others do.
func TestNothingToHoldOut(t *testing.T) {
	c := Choice{Candidates: candidates(Options{Method: gmmot.Method}), Scores: []string{validate.Reversed}}
	if _, _, err := chooseOf(t, c, rowsOf([]int{1, 1}, nil)); err == nil || !strings.Contains(err.Error(), "no source row is held out") {
		t.Errorf("the error is %v", err)
	}
}

// The first of equal scores is chosen, a failure never, and the greatest otherwise.
func TestBest(t *testing.T) {
	failed := errors.New("it failed")
	of := func(v float64) outcome { return outcome{scores: map[string]float64{"dev": v}} }
	for name, c := range map[string]struct {
		outcomes []outcome
		want     int
	}{
		"the greatest":          {[]outcome{of(-2), of(-1), of(-3)}, 1},
		"the first of equals":   {[]outcome{of(1), of(2), of(2)}, 1},
		"not one that failed":   {[]outcome{{failed: failed}, of(-9)}, 1},
		"the only one of three": {[]outcome{{failed: failed}, of(-9), {failed: failed}}, 1},
	} {
		choice := Choice{Candidates: make([]Candidate, len(c.outcomes)), Scores: []string{"dev"}}
		if got, err := choice.best(c.outcomes); err != nil || got != c.want {
			t.Errorf("%s: took %d, %v", name, got, err)
		}
	}
	two := func(first, second float64) outcome {
		return outcome{scores: map[string]float64{"dev": first, "entropy": second}}
	}
	if got, err := (Choice{Candidates: make([]Candidate, 3), Scores: []string{"dev", "entropy"}}).best([]outcome{two(1, 5), two(3, 0), two(2, 9)}); err != nil || got != 1 {
		t.Errorf("of two scores the first chooses: took %d, %v", got, err)
	}
	choice := Choice{Candidates: make([]Candidate, 2), Scores: []string{"dev"}}
	if _, err := choice.best([]outcome{{failed: failed}, {failed: failed}}); !errors.Is(err, failed) {
		t.Errorf("all failed, and the error is %v", err)
	}
}

// The end of the context is no failure of a candidate.
func TestSelectStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := Choice{Candidates: candidates(Options{Method: gmmot.Method}), Scores: []string{validate.Reversed}}
	err := Select(c)(ctx, stages.Env{Columns: arrowio.DefaultColumns()}, rowsOf([]int{9, 9}, nil), &kept{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// Settings are numbers where they are finite numbers, as which JSON can hold them, and text otherwise.
func TestSettingsOfCandidates(t *testing.T) {
	c := Candidate{Settings: []Setting{{"epochs", "4"}, {"rate", "1e-3"}, {"decision", "balanced"}, {"top", "Inf"}, {"least", "-Inf"}, {"none", "NaN"}}}
	want := map[string]any{"epochs": 4., "rate": .001, "decision": "balanced", "top": "Inf", "least": "-Inf", "none": "NaN"}
	got := c.settings()
	for flag, value := range want {
		if got[flag] != value {
			t.Errorf("%s is %v, want %v", flag, got[flag], value)
		}
	}
	if text := c.String(); text != "epochs=4 rate=1e-3 decision=balanced top=Inf least=-Inf none=NaN" {
		t.Errorf("they are written %s", text)
	}
}
