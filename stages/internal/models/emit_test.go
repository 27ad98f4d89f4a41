package models

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

// sink keeps the text of some columns, and fails after some batches.
type sink struct {
	room int
	rows []string
}

var errFull = errors.New("the disk is full")

func (s *sink) Begin(*arrow.Schema) error {
	if s.room < 0 {
		return errFull
	}
	return nil
}

func (s *sink) Write(rec arrow.Record) error {
	if s.room--; s.room < 0 {
		return errFull
	}
	for i := range int(rec.NumRows()) {
		row := []string{}
		for _, name := range []string{"predicted_class", "probability", "typicality"} {
			for _, j := range rec.Schema().FieldIndices(name) {
				text, _ := arrowio.Cell(rec.Column(j), i)
				row = append(row, text)
			}
		}
		s.rows = append(s.rows, strings.Join(row, " "))
	}
	return nil
}

func (*sink) Close() error { return nil }
func (*sink) Fail(error)   {}

func target(values ...float32) *stream.Rows {
	var table arrowio.Table
	table.Add("features", arrowio.NewVectorArray(arrowio.Vectors{Data: values, Rows: len(values), Width: 1}))
	rec := table.Record(arrowio.Meta{})
	return &stream.Rows{Env: stages.Env{Columns: arrowio.DefaultColumns()}, Stream: arrowio.NewBatches("test", rec.Schema(), rec)}
}

// labeller takes a number for the posterior of the first class, and is as typical.
func labeller() *Labeller {
	return &Labeller{Classes: classes, Width: 1,
		Predict: func(_ context.Context, x blas32.General) (p blas32.General, err error) {
			p = blas32.General{Rows: x.Rows, Cols: 2, Stride: 2}
			for _, v := range x.Data {
				p.Data = append(p.Data, v, 1-v)
			}
			return p, nil
		},
		Decide:     func(blas32.General) error { return nil },
		Typicality: func(_ context.Context, x, _ blas32.General) ([]float32, error) { return slices.Clone(x.Data), nil },
	}
}

// A row without any value gets the target's shares, or those that the posteriors carry, or the same of each class.
func TestEmit(t *testing.T) {
	nan := float32(math.NaN())
	for _, test := range []struct {
		shares, prior []float64
		want          string
	}{{[]float64{.25, .75}, []float64{.5, .5}, "[0.25, 0.75]"}, {nil, []float64{.125, .875}, "[0.125, 0.875]"}, {nil, nil, "[0.5, 0.5]"}} {
		l, out := labeller(), &sink{room: 1}
		l.Shares, l.Prior = test.shares, test.prior
		if err := l.Emit(t.Context(), target(.75, nan, .125), out, arrowio.Meta{}); err != nil {
			t.Fatal(err)
		}
		if want := []string{"left [0.75, 0.25] 0.75", " " + test.want + " ", "right [0.125, 0.875] 0.125"}; !slices.Equal(out.rows, want) {
			t.Errorf("got %q\nwant %q", out.rows, want)
		}
	}
}

// An error of whatever labels rows, reads or writes them comes back.
func TestErrorsOfEmit(t *testing.T) {
	fails := errors.New("it fails")
	wide := arrowio.NewVectorArray(arrowio.Vectors{Data: make([]float32, 2), Rows: 1, Width: 2})
	var table arrowio.Table
	table.Add("features", wide)
	rec := table.Record(arrowio.Meta{})
	for _, test := range []struct {
		name   string
		change func(l *Labeller)
		in     *stream.Rows
		room   int
		want   string
	}{
		{"posteriors", func(l *Labeller) {
			l.Predict = func(context.Context, blas32.General) (blas32.General, error) { return blas32.General{}, fails }
		}, target(.5), 1, "it fails"},
		{"a decision", func(l *Labeller) { l.Decide = func(blas32.General) error { return fails } }, target(.5), 1, "it fails"},
		{"typicality", func(l *Labeller) {
			l.Typicality = func(context.Context, blas32.General, blas32.General) ([]float32, error) {
				return []float32{1}, fails
			}
		}, target(.5), 1, "it fails"},
		{"levels", func(l *Labeller) { l.Levels = "7" }, target(.5), 1, "test: mars.levels: json: cannot unmarshal number into Go value of type []levels.written: drop or repair the key"},
		{"rows", func(*Labeller) {}, &stream.Rows{Env: target().Env, Stream: arrowio.NewBatches("test", rec.Schema(), rec)}, 1, `test: column "features": rows have 2 numbers, and the model takes 1: featurize these rows as those that the model was trained on`},
		{"the beginning", func(*Labeller) {}, target(.5), -1, errFull.Error()},
		{"a full disk", func(*Labeller) {}, target(.5), 0, errFull.Error()},
	} {
		l := labeller()
		test.change(l)
		if err := l.Emit(t.Context(), test.in, &sink{room: test.room}, arrowio.Meta{}); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v\nwant %s", test.name, err, test.want)
		}
	}
}

// What is wrong with the rows ends a fit.
func TestErrorsOfFit(t *testing.T) {
	if _, err := FitHedge(t.Context(), target(1, float32(math.Inf(1))), "features", classes, hedge.Options{}); err == nil || !strings.HasPrefix(err.Error(), `test: column "features": row 2: `) {
		t.Errorf("got %v", err)
	}
}

// A matched mixture is read as it was saved, and its decision is as it is asked for.
func TestMixtureFiles(t *testing.T) {
	save := func(change func(table *state.Table)) string {
		path := filepath.Join(t.TempDir(), "m.arrow")
		if _, err := SaveMixture(path, matched(t)); err != nil {
			t.Fatal(err)
		}
		table, _, err := state.LoadTable(path, stateKind)
		if err != nil {
			t.Fatal(err)
		}
		change(table)
		if _, err := table.Save(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, decision := range []string{"", "accuracy", "balanced", "none"} {
		l, _, err := Load(t.Context(), save(func(*state.Table) {}), decision)
		if err != nil || !slices.Equal(l.Classes, classes) {
			t.Errorf("%q: %v", decision, err)
		}
	}
	for name, test := range map[string]struct {
		change func(table *state.Table)
		want   string
	}{
		"use":        {func(table *state.Table) { table.SetMeta(adapt.KeyDecision, "best") }, ": metadata "},
		"classes":    {func(table *state.Table) { table.SetMeta(adapt.KeyClasses, "{") }, ": metadata mars.classes: unexpected end of JSON input: train it again"},
		"proportion": {func(table *state.Table) { table.SetMeta(adapt.KeyProportions, "[1]") }, ": gmmot: 2 Gaussian components with 2 classes, 1 proportions of 2 classes: fit again"},
	} {
		path := save(test.change)
		if _, _, err := Load(t.Context(), path, ""); err == nil || !strings.HasPrefix(err.Error(), path+test.want) {
			t.Errorf("%s: got %v\nwant %s", name, err, test.want)
		}
	}
	other := filepath.Join(t.TempDir(), "other.arrow")
	if _, err := state.NewTable("cluster", 0).Save(other); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(t.Context(), other, ""); err == nil || err.Error() != other+": this is the state of mars-cluster: give the file that mars-train --save wrote" {
		t.Errorf("got %v", err)
	}
	one := state.NewTable(stateKind, 1)
	for _, key := range []string{adapt.KeyClasses, adapt.KeyProportions} {
		one.SetMeta(key, "[]")
	}
	one.AddInts("class", []int32{0})
	path := filepath.Join(t.TempDir(), "one.arrow")
	if _, err := one.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(t.Context(), path, ""); err == nil || err.Error() != path+`: column "proportion" is missing: save it again` {
		t.Errorf("got %v", err)
	}
}

// Models of mixtures of classes make no decision, and none is asked of them.
func TestUnmixFiles(t *testing.T) {
	x, labels := line()
	m, err := unmix.Fit(t.Context(), x, labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	m.Proportions = []float64{.5, .5}
	path := saved(t, m)
	for decision, want := range map[string]string{"": "", "none": "", "balanced": path + ": a model of the method unmix says what rows are made of, which --decision balanced does not change: leave it out"} {
		_, _, err := Load(t.Context(), path, decision)
		if text := fmt.Sprint(err); err == nil && want != "" || err != nil && text != want {
			t.Errorf("%q: %v", decision, err)
		}
	}
}

// A decision that is asked for takes the place of the model's.
func TestDecisionOfModel(t *testing.T) {
	m := trained(t)
	m.Prior, m.Proportions = []float64{.25, .75}, []float64{.75, .25}
	path := saved(t, m)
	got := map[string]float32{}
	for _, decision := range []string{"none", "accuracy", "balanced"} {
		l, _, err := Load(t.Context(), path, decision)
		if err != nil {
			t.Fatal(err)
		}
		p := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{.5, .5}}
		if err := l.Decide(p); err != nil {
			t.Fatal(err)
		}
		got[decision] = p.Data[0]
	}
	// Posteriors times what the target's shares are of the prior, or divided by the prior.
	for decision, want := range map[string]float32{"none": .5, "accuracy": .9, "balanced": .75} {
		if math.Abs(float64(got[decision]-want)) > 1e-6 {
			t.Errorf("%s gives %v, want %v", decision, got[decision], want)
		}
	}
}

// A file that begins as ONNX does and goes on otherwise is damaged.
func TestCutONNX(t *testing.T) {
	path := exported(t, tensors(t, nil), func(*origin) {})
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content[:len(content)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(t.Context(), path, ""); err == nil || err.Error() != path+": onnx: the file is damaged or cut short" {
		t.Errorf("got %v", err)
	}
}
