package proportions

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/responses"
)

// preparedAs are metadata of rows with two columns.
func preparedAs(first, second string) []string {
	return []string{arrowio.PreparationKey, `{"version":1,"columns":["` + first + `","` + second + `"]}`}
}

// savedModel is the file of a model of rows, and the report of it.
func savedModel(t *testing.T) (string, *Report) {
	t.Helper()
	r, err := Estimate(t.Context(), env, rows(apart(), arrowio.Meta{}, preparedAs("a", "b")...), quick)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model")
	if err := r.SaveModel(path); err != nil {
		t.Fatal(err)
	}
	if err := r.SaveModel(filepath.Join(path, "none")); err == nil {
		t.Error("a model that cannot be written is no error")
	}
	return path, r
}

// fails tests that an error is there, and says something.
func fails(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v\nwant %s", name, err, want)
	}
}

// A model in a file answers as its fit did, with intervals of any level.
func TestFromModel(t *testing.T) {
	path, fit := savedModel(t)
	again, err := FromModel(path, fit.Interval.Level)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := FromModel(path, .1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Proportions.Estimated, fit.Proportions.Estimated) || again.TargetRows != 12 || again.Interval.Level != .9 || narrow.Interval.Level != .1 {
		t.Errorf("%v of %d rows, %v and %v; want %v of 12", again.Proportions, again.TargetRows, again.Interval, narrow.Interval, fit.Proportions)
	}
	if again.Interval.Upper[0] <= narrow.Interval.Upper[0] {
		t.Errorf("an interval of 90 %% is %v, and one of 10 %% is %v", again.Interval, narrow.Interval)
	}
	_, err = FromModel("nothing", .9)
	fails(t, "no model", err, "nothing")
}

// Sums over the rows of the fit say what the fit says.
func TestFromSums(t *testing.T) {
	path, fit := savedModel(t)
	m, sum, err := models.LoadHedge(path)
	if err != nil {
		t.Fatal(err)
	}
	point, err := m.Start()
	if err != nil {
		t.Fatal(err)
	}
	values, err := arrowio.VectorColumn(batch(t, rows(apart(), arrowio.Meta{})), "features")
	if err != nil {
		t.Fatal(err)
	}
	sums := m.NewSums()
	if err := m.Respond(t.Context(), sums, point, m.Prepare(blas32.General{Rows: 12, Cols: 2, Stride: 2, Data: values.Data[24:]})); err != nil {
		t.Fatal(err)
	}
	all := responses.New(responses.Header{Model: sum, Classes: m.Classes, Pass: 3, Point: point}, "part", sums)
	file := filepath.Join(t.TempDir(), "sums")
	if err := all.Save(file); err != nil {
		t.Fatal(err)
	}
	r, err := FromSums(path, file, .9)
	if err != nil {
		t.Fatal(err)
	}
	if d := floats.Distance(r.Proportions.Estimated, fit.Proportions.Estimated, 1); d > 1e-6 || r.TargetRows != 12 || r.EveryRow.Passes != 3 || r.EveryRow.Parts != 1 {
		t.Errorf("%v of %d rows, %+v; want %v of 12", r.Proportions.Estimated, r.TargetRows, r.EveryRow, fit.Proportions.Estimated)
	}
	_, err = FromSums("nothing", file, .9)
	fails(t, "no model", err, "nothing")
	_, err = FromSums(path, path, .9)
	fails(t, "no sums", err, path)
	_, err = FromSums(path, file, 2)
	fails(t, "no level", err, file+": hedge: an interval of level 2: give one between 0 and 1")
	_, _, err = fit.OfSums(&responses.Responses{Header: all.Header})
	fails(t, "sums of no part", err, "there are no rows")
	fit.Interval.Level = 2
	_, _, err = fit.OfSums(all)
	fails(t, "no level of a report", err, "an interval of level 2")
}

// Labels of a target that a model has not seen answer for it.
func TestOfModel(t *testing.T) {
	path, _ := savedModel(t)
	in := rows(apart(), arrowio.Meta{})
	o := Options{Level: .8, Labels: labelsOf(t, in, "0", "1", "0", "1", "0", "1")}
	r, err := OfModel(t.Context(), env, in, path, o)
	if err != nil {
		t.Fatal(err)
	}
	if d := math.Abs(r.Proportions.Estimated[0] - .5); d > .1 || r.TargetRows != 12 || r.Interval.Level != .8 || r.Labelled.Rows != 6 {
		t.Errorf("%v of %d rows, level %v, %+v; want about a half", r.Proportions.Estimated, r.TargetRows, r.Interval.Level, r.Labelled)
	}
	_, err = OfModel(t.Context(), env, in, "nothing", o)
	fails(t, "no model", err, "nothing")
	_, err = OfModel(t.Context(), env, rows(apart().with("features", nil), arrowio.Meta{}), path, o)
	fails(t, "no features", err, `rows: there is no column "features" (there are "domain", "label", "truth"): begin with mars-featurize`)
	_, err = OfModel(t.Context(), env, rows(apart(), arrowio.Meta{}, preparedAs("a", "c")...), path, o)
	fails(t, "other features", err, `rows: column "features": `)
	other := o
	other.Labels = labelsOf(t, rows(apart().with("id", arrowio.NewStringArray(strings.Fields(strings.Repeat("x ", 24)))), arrowio.Meta{}), "0")
	_, err = OfModel(t.Context(), env, rows(apart(), arrowio.Meta{}), path, other)
	fails(t, "labels of another target", err, "has rows of another target than rows")
	failsAnywhere(t, "a model", func(in arrowio.Stream) error {
		_, err := OfModel(t.Context(), env, in, path, o)
		return err
	})
}
