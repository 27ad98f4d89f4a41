package train

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
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
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/algorithms/validate"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/stages/internal/stream"
	"mars.dev/mars/stages/internal/streamtest"
)

var env = stages.Env{Columns: arrowio.DefaultColumns(), Jobs: 1, Step: arrowio.Step{Stage: "mars-train"}}

// networks trains networks for an epoch.
func networks(method string) Options {
	once := func(c *adapt.Config) { c.Epochs, c.StartAlign, c.Batch = 1, 0, 60 }
	return Options{Method: method, Arch: "mlp:2-4-3", Schedule: adapt.ScheduleDefault, Tune: []func(*adapt.Config){once}}
}

// ways are the methods, each quick.
func ways() map[string]Options {
	heldOut := networks("marsc")
	heldOut.Proportions = "em"
	given := networks("marsc")
	given.Proportions, given.Given = "given", func([]string) ([]float64, error) { return []float64{.3, .7}, nil }
	return map[string]Options{
		"source":         networks("source"),
		"wd":             networks("wd"),
		"marsc":          networks("marsc"),
		"held out":       heldOut,
		"given":          given,
		translate.Method: networks(translate.Method),
		selftrain.Method: networks(selftrain.Method),
		gmmot.Method:     {Method: gmmot.Method},
		hedge.Method:     {Method: hedge.Method, Classifiers: []string{"logistic"}, Assume: []string{"balance"}},
		unmix.Method:     {Method: unmix.Method},
	}
}

// labelsOf are labels of the first rows of a target, as somebody writes them in the table of mars ask.
func labelsOf(t *testing.T, in *arrowio.Batches, names ...string) Labels {
	t.Helper()
	in.Rewind()
	defer in.Rewind()
	r := &stream.Rows{Env: env, Stream: in}
	target, err := sheet.NewTarget(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Each(t.Context(), func(rec arrow.Record) error { _, err := target.Add(rec); return err }); err != nil {
		t.Fatal(err)
	}
	plan, text := sheet.Plan{Uniform: len(names), Target: target.Letters()}, "drawn,label\n"
	for i, name := range names {
		row := sheet.Row{Draw: ppi.Draw{Row: i, Probability: .1}, Order: i + 1, ID: fmt.Sprint(i)}
		text += plan.Code(row) + "," + name + "\n"
	}
	path := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	filled, err := sheet.Read(t.Context(), path, "label")
	if err != nil {
		t.Fatal(err)
	}
	return Labels{Sheet: filled}
}

// Whatever fails while a method trains and labels, its error comes back.
func TestErrorsComeBack(t *testing.T) {
	in := rowsOf([]int{20, 20}, nil)
	for name, o := range ways() {
		t.Run(name, func(t *testing.T) {
			streamtest.Fails(t, env, in, Fit(o))
			if name != hedge.Method { // which takes long, and is looked at in its own package
				streamtest.Stops(t, env, in, Fit(o))
			}
		})
	}
	labelled := Options{Method: hedge.Method, Classifiers: []string{"logistic"}, Assume: []string{"balance"}, KeepAll: true, Labels: labelsOf(t, in, "class 0", "new")}
	t.Run("labels", func(t *testing.T) { streamtest.Fails(t, env, in, Fit(labelled)) })
	for _, score := range []string{validate.Reversed, validate.MixedScore} {
		c := Choice{Candidates: candidates(ways()[unmix.Method]), Scores: []string{score}}
		streamtest.StopsAt(t, func(ctx context.Context) error {
			in.Rewind()
			return Select(c)(ctx, env, in, &streamtest.Sink{})
		})
	}
	for name, score := range map[string]string{gmmot.Method: validate.Reversed, "given": validate.Circular, unmix.Method: validate.MixedScore} {
		c := Choice{Candidates: candidates(ways()[name]), Scores: []string{score}}
		t.Run("choice of "+name, func(t *testing.T) {
			streamtest.Fails(t, env, in, Select(c))
			streamtest.Stops(t, env, in, Select(c))
		})
	}
}

// grey are rows of 64 numbers from 0 to 1, of which nothing says whether they are images.
func grey() *arrowio.Batches {
	const n = 24
	rng := rand.New(rand.NewPCG(4, 4))
	data, domains, labels := make([]float32, 64*n), make([]arrowio.Domain, n), make([]int32, n)
	for i := range data {
		data[i] = rng.Float32()
	}
	for i := range domains {
		domains[i], labels[i] = arrowio.Domain(i%2), int32(i/2%2)
	}
	var table arrowio.Table
	table.Add("features", arrowio.NewVectorArray(arrowio.Vectors{Data: data, Rows: n, Width: 64}))
	table.Add("domain", arrowio.NewDomainArray(domains))
	table.Add("label", arrowio.NewIntArray(labels, nil))
	rec := table.Record(arrowio.Meta{})
	return arrowio.NewBatches("rows", rec.Schema(), rec)
}

// What training cannot be done with is refused, and the error says what it is.
func TestRefused(t *testing.T) {
	rows := func() *arrowio.Batches { return rowsOf([]int{20, 20}, nil) }
	change := func(name string, f func(*Options)) Options {
		o := ways()[name]
		f(&o)
		return o
	}
	missing := filepath.Join(t.TempDir(), "missing", "file")
	arch := func(o *Options) { o.Arch = "mlp" }
	decision := func(o *Options) { o.Decision = "fair" }
	labels := labelsOf(t, rows(), "class 0", "new")
	third := func(_ int, rec arrow.Record) arrow.Array {
		return arrowio.NewIntArray(slices.Repeat([]int32{2}, int(rec.NumRows())), nil)
	}
	for name, c := range map[string]struct {
		in   *arrowio.Batches
		o    Options
		want string
	}{
		"a method":                     {rows(), Options{Method: "none"}, `method "none" is unknown`},
		"an architecture":              {rows(), change("source", arch), `arch "mlp"`},
		"one of translate":             {rows(), change(translate.Method, arch), `arch "mlp"`},
		"one of self-training":         {rows(), change(selftrain.Method, arch), `arch "mlp"`},
		"an estimator":                 {rows(), change("marsc", func(o *Options) { o.Proportions = "none" }), `rows: `},
		"a decision of networks":       {rows(), change("source", decision), `"fair"`},
		"one of a mixture":             {rows(), change(gmmot.Method, decision), `"fair"`},
		"one of assumptions":           {rows(), change(hedge.Method, decision), `"fair"`},
		"changes of no images":         {rows(), change("source", func(o *Options) { o.Augment = "flip" }), `rows: column "features": `},
		"changes of no row":            {rows(), change(hedge.Method, func(o *Options) { o.Augment = "flip" }), "changes no row at random"},
		"no model to start from":       {rows(), change("source", func(o *Options) { o.Initial = missing }), missing},
		"no place for metrics":         {rows(), change("source", func(o *Options) { o.Metrics = missing }), missing},
		"no place for the model":       {rows(), change("source", func(o *Options) { o.Save = missing }), missing},
		"no labels":                    {rows(), change("source", func(o *Options) { o.Labels = Labels{Sheet: &sheet.Filled{Path: "labels.csv"}} }), "labels.csv: no row has a label"},
		"vectors of nothing":           {streamtest.With(rows(), "features", streamtest.Empty), ways()["source"], `rows: column "features": rows have no numbers`},
		"nothing to unmix":             {streamtest.With(rows(), "features", streamtest.Empty), ways()[unmix.Method], `rows: column "features": rows have no numbers`},
		"metadata":                     {streamtest.WithMeta(rows(), map[string]string{arrowio.ClassesKey: "x"}), ways()[gmmot.Method], arrowio.ClassesKey},
		"labels of another target":     {grey(), change("source", func(o *Options) { o.Labels, o.Shape = labels, []int{64} }), "has rows of another target"},
		"a new class in a model":       {rows(), change(hedge.Method, func(o *Options) { o.Labels, o.KeepAll, o.Save = labels, true, missing }), "leave --save out"},
		"a matched class there is not": {streamtest.With(rows(), "matched", third), ways()["marsc"], "a target row was matched with class 2, and there are 2"},
		"no column of labels":          {streamtest.Without(rows(), "label"), ways()["source"], `rows: there is no column "label" (`},
		"another shape":                {rows(), change("source", func(o *Options) { o.Shape = []int{3} }), "a shape of 3 is 3 numbers, and the rows have 2"},
		"rows that may be images":      {grey(), change("source", func(o *Options) { o.Arch = "mlp:64-4-3" }), "give --shape"},
	} {
		t.Run(name, func(t *testing.T) { streamtest.Refuses(t, env, c.in, Fit(c.o), c.want) })
	}
	for name, c := range map[string]struct {
		in   *arrowio.Batches
		c    Choice
		want string
	}{
		"no place for the report": {rows(), Choice{Candidates: candidates(ways()[gmmot.Method]), Scores: []string{validate.EntropyScore}, Report: missing}, missing},
		"no column of labels":     {streamtest.Without(rows(), "label"), Choice{Candidates: candidates(ways()[gmmot.Method]), Scores: []string{validate.EntropyScore}}, `there is no column "label"`},
		"a matched class there is not": {streamtest.With(rows(), "matched", third), Choice{Candidates: candidates(ways()["marsc"]), Scores: []string{validate.EntropyScore}},
			"the only candidate, method=0, failed: rows: a target row was matched with class 2, and there are 2"},
	} {
		t.Run("choice: "+name, func(t *testing.T) { streamtest.Refuses(t, env, c.in, Select(c.c), c.want) })
	}
}

// A shape that is given says what rows are, also of those that a candidate is trained on.
func TestShapeOfRows(t *testing.T) {
	o := networks("source")
	o.Arch, o.Shape = "mlp:64-4-3", []int{64}
	for name, stage := range map[string]stages.Func{"fit": Fit(o), "choice": Select(Choice{Candidates: candidates(o), Scores: []string{validate.EntropyScore}})} {
		if err := stage(t.Context(), env, grey(), &streamtest.Sink{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Labels without a new class go into a model that is saved.
func TestLabelsOfKnownClasses(t *testing.T) {
	in := rowsOf([]int{20, 20}, nil)
	o := ways()["source"]
	o.Labels, o.Save = labelsOf(t, in, "class 0"), filepath.Join(t.TempDir(), "model")
	if err := Fit(o)(t.Context(), env, in, &streamtest.Sink{}); err != nil {
		t.Error(err)
	}
}

// Of a training that diverged the model after its last good epoch is kept, the first one too.
func TestKeep(t *testing.T) {
	in := rowsOf([]int{20, 20}, nil)
	model, _, err := learn(t.Context(), &stream.Rows{Env: env, Stream: arrowio.NewSpool(in, 0)}, networks("source"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "model")
	diverged := func(good int) error { return &adapt.DivergedError{Epoch: good + 1, LastGood: good, Reason: "x"} }
	other := errors.New("other")
	for name, c := range map[string]struct {
		model *adapt.Model
		path  string
		cause error
		want  string // after the cause
		kept  bool
	}{
		"first epoch":   {model, path, diverged(0), "; the last good model, of epoch 1, is kept in " + path, true},
		"third epoch":   {model, path, diverged(2), "; the last good model, of epoch 3, is kept in " + path, true},
		"no epoch":      {model, path, diverged(-1), "; no epoch went well, so no model is kept", false},
		"no path":       {model, "", diverged(0), "", false},
		"no model":      {nil, path, diverged(0), "", false},
		"another cause": {model, path, other, "", false},
		"no folder":     {model, filepath.Join(folder, "missing", "model"), diverged(0), "\n" + filepath.Join(folder, "missing"), false},
	} {
		os.Remove(path)
		err := keep(c.model, c.path, c.cause)
		_, there := os.Stat(path)
		if !errors.Is(err, c.cause) || !strings.HasPrefix(err.Error(), c.cause.Error()+c.want) || (c.want == "") != (err.Error() == c.cause.Error()) || (there == nil) != c.kept {
			t.Errorf("%s: the error is %v, and a file: %v", name, err, there == nil)
		}
	}
}

// p_T is the shares of the classes that target rows were matched with. One that there is not is refused.
func TestStartProportions(t *testing.T) {
	for name, c := range map[string]struct {
		matched []int32
		want    []float64
		err     bool
	}{
		"first and last class": {[]int32{0, 1, 1, 1}, []float64{.25, .75}, false},
		"none":                 {nil, nil, false},
		"below the first":      {[]int32{0, -1}, nil, true},
		"above the last":       {[]int32{0, 2}, nil, true},
	} {
		s := &stream.Samples{Classes: []string{"a", "b"}, TargetMatched: arrowio.Ints{Values: c.matched}}
		p, err := startProportions(&stream.Rows{Stream: rowsOf([]int{1}, nil)}, s)
		if !slices.Equal(p, c.want) || (err != nil) != c.err {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

// Two rows of the target have a distance, and one has none.
func TestDistanceOfFewRows(t *testing.T) {
	in := rowsOf([]int{20, 20}, nil)
	o := networks("wd")
	r := &stream.Rows{Env: env, Stream: arrowio.NewSpool(in, 0)}
	model, _, err := learn(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Rewind(); err != nil {
		t.Fatal(err)
	}
	p, _, err := gather(t.Context(), r, o, true)
	if err != nil {
		t.Fatal(err)
	}
	for rows, want := range map[int]bool{1: false, 2: true} {
		p.Target.Rows = rows
		j := &job{problem: *p, unmoved: p.Source}
		if got := j.bound(t.Context(), env, model, []float64{.5, .5}, nil); (got != nil) != want {
			t.Errorf("%d rows: the bound is %v", rows, got)
		}
		if got := j.translation(t.Context(), env, []float64{.5, .5}); (got != nil) != want {
			t.Errorf("%d rows: the translation is %v", rows, got)
		}
	}
}

// A training back from labels that the target got begins at the source's shares of the
// classes among these labels, where the training there began at shares.
func TestBackStartsAtTheShares(t *testing.T) {
	in := rowsOf([]int{20, 10, 30}, nil)
	for _, way := range []string{"marsc", "given"} {
		var starts [][]float64
		o := ways()[way]
		o.Tune = append(o.Tune, func(c *adapt.Config) { starts = append(starts, c.StartProportions) })
		tr := &trials{env: env, spool: arrowio.NewSpool(in, 0), data: map[string]*stream.Samples{}}
		rows, err := tr.gather(t.Context(), env, "features")
		if err != nil {
			t.Fatal(err)
		}
		there := made{samples: rows, column: "features", source: rows.Source, labels: rows.Labels, target: rows.Target, classes: rows.Classes}
		if way == "marsc" {
			there.start = []float64{.2, .3, .5}
		}
		labels := make([]int32, rows.Target.Rows) // none is of the last class
		for i := range labels {
			labels[i] = int32(i % 3 % 2)
		}
		if _, err := tr.back(t.Context(), env, o, there, labels); err != nil {
			t.Fatal(err)
		}
		counts := stream.Counts(rows.Labels, 3)
		want := float64(counts[0]) / float64(counts[0]+counts[1])
		if len(starts) != 1 || len(starts[0]) != 2 || math.Abs(starts[0][0]-want) > 1e-6 || math.Abs(starts[0][1]-(1-want)) > 1e-6 {
			t.Errorf("%s: begins at %v, want %v first", way, starts, want)
		}
	}
}

// A score that labels rows gets the error of its context.
func TestSubjectStops(t *testing.T) {
	tr := &trials{env: env, spool: arrowio.NewSpool(rowsOf([]int{20, 20}, nil), 0), data: map[string]*stream.Samples{}}
	rows, err := tr.gather(t.Context(), env, "features")
	if err != nil {
		t.Fatal(err)
	}
	s, err := tr.train(t.Context(), env, ways()[gmmot.Method], "features", rows)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Predict(ctx, rows.Target); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, _, err := s.Back(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of the way back is %v", err)
	}
}

// A choice trains back from the shares of the source where the stream has weights.
func TestChoiceOfWeightedRows(t *testing.T) {
	var starts [][]float64
	o := ways()["marsc"]
	o.Tune = append(o.Tune, func(c *adapt.Config) { starts = append(starts, c.StartProportions) })
	in := streamtest.With(rowsOf([]int{20, 20}, nil), "weight", func(_ int, rec arrow.Record) arrow.Array {
		return arrowio.NewFloatArray(append(slices.Repeat([]float32{1.5}, 20), slices.Repeat([]float32{.5}, int(rec.NumRows())-20)...))
	})
	if err := Select(Choice{Candidates: candidates(o), Scores: []string{validate.Circular}})(t.Context(), env, in, &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{.75, .5, .75} { // there, back, and on all rows
		if len(starts) != 3 || len(starts[i]) != 2 || math.Abs(starts[i][0]-want) > 1e-6 {
			t.Fatalf("the trainings begin at %v", starts)
		}
	}
}

// An estimate by the classifier's mistakes calibrates its posteriors, on the rows that are held out.
func TestEstimateIsCalibrated(t *testing.T) {
	x := blobs([]int{40, 20}, []float64{0, 1})
	labels := append(make([]int32, 40), slices.Repeat([]int32{1}, 20)...)
	posteriors := func(x blas32.General) blas32.General { // too sure
		p := blas32.General{Rows: x.Rows, Cols: 2, Stride: 2}
		for i := range x.Rows {
			v := float32(1 / (1 + math.Exp(float64(-40*(x.Data[i]-.4)))))
			p.Data = append(p.Data, 1-v, v)
		}
		return p
	}
	target := blobs([]int{30, 30}, []float64{.1, .9})
	s := adapt.Snapshot{Classes: 2, Source: x, Labels: labels, Target: target, Predict: posteriors, TargetPosteriors: func() blas32.General { return posteriors(target) }}
	rows := &stream.Samples{Held: blobs([]int{8, 8}, []float64{.2, .8}), HeldLabels: append(make([]int32, 9), slices.Repeat([]int32{1}, 7)...)}
	estimate, err := ways()["held out"].estimator(env, nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := estimate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	of := func(c *labelshift.Calibration) []float64 {
		found, err := labelshift.Estimate(t.Context(), "em", labelshift.Inputs{Problem: mte.Problem{Labels: rows.HeldLabels, Target: mte.InMemory(target), Classes: 2},
			SourcePosteriors: posteriors(rows.Held), TargetPosteriors: posteriors(target), Calibration: c})
		if err != nil {
			t.Fatal(err)
		}
		return found.Proportions
	}
	bcts := labelshift.BCTS
	if want, without := of(&bcts), of(nil); !slices.Equal(got, want) || slices.Equal(got, without) {
		t.Errorf("p_T is %v, want %v; without calibration it is %v", got, want, without)
	}
}

// The panel of estimators is asked where it is wanted.
func TestPanel(t *testing.T) {
	for _, want := range []bool{false, true} {
		o := ways()[translate.Method]
		o.Panel = want
		var out streamtest.Sink
		if err := Fit(o)(t.Context(), env, rowsOf([]int{20, 20}, nil), &out); err != nil {
			t.Fatal(err)
		}
		text, _ := out.Schema.Metadata().GetValue(arrowio.DiagnosticsKey)
		if got := strings.Contains(text, `"estimators"`); got != want {
			t.Errorf("panel %v: the diagnostics are %s", want, text)
		}
	}
}

// A candidate that fails is in the report and the provenance with its error. Nothing is said of scores that are alike where only one can be chosen.
func TestOneOfTwoCandidates(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.arrow")
	c := Choice{Candidates: candidates(Options{Method: "none"}, Options{Method: gmmot.Method}), Scores: []string{validate.EntropyScore}, Report: report}
	selection, log, err := chooseOf(t, c, rowsOf([]int{20, 20}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if failed := selection.Candidates[0].Failed; !strings.Contains(failed, `method "none" is unknown`) || selection.Candidates[1].Failed != "" {
		t.Errorf("the candidates are %+v", selection.Candidates)
	}
	if strings.Contains(log, "same score") {
		t.Errorf("of one candidate is said\n%s", log)
	}
	r, err := arrowio.Open(report, arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	failed, err := arrowio.StringColumn(rec, "failed")
	if err != nil || !strings.Contains(failed.Values[0], `method "none" is unknown`) || !failed.Null(1) {
		t.Errorf("the report has %v, %v", failed, err)
	}
	c.Candidates = candidates(Options{Method: gmmot.Method}, Options{Method: gmmot.Method})
	if _, log, err = chooseOf(t, c, rowsOf([]int{20, 20}, nil)); err != nil || !strings.Contains(log, "all candidates have the same score") {
		t.Errorf("of two that are alike is said\n%s\n%v", log, err)
	}
}

// The settings of networks are those that the options and the rows ask for.
func TestSettings(t *testing.T) {
	vectors := env
	vectors.Columns.Features, vectors.Columns.Embedding = "none", "features"
	for name, c := range map[string]struct {
		env   stages.Env
		o     Options
		right func(adapt.Config) bool
	}{
		"features":  {env, ways()[translate.Method], func(c adapt.Config) bool { return c.Input == adapt.InputStandard }},
		"embedding": {vectors, ways()[translate.Method], func(c adapt.Config) bool { return c.Input == adapt.InputAsIs }},
	} {
		c.o.Tune = append(c.o.Tune, func(config *adapt.Config) {
			if !c.right(*config) {
				t.Errorf("%s: the settings are %+v", name, config)
			}
		})
		if err := Fit(c.o)(t.Context(), c.env, rowsOf([]int{20, 20}, nil), &streamtest.Sink{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A batch that is smaller than the number of classes is warned of, one of that size is not.
func TestSmallBatch(t *testing.T) {
	for batch, want := range map[int]bool{2: true, 3: false} {
		var log strings.Builder
		env := env
		env.Log = slog.New(slog.NewTextHandler(&log, nil))
		o := networks("source")
		o.Tune = append(o.Tune, func(c *adapt.Config) { c.Batch = batch })
		if err := Fit(o)(t.Context(), env, rowsOf([]int{20, 20, 20}, nil), &streamtest.Sink{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "cannot have all 3 classes"); got != want {
			t.Errorf("a batch of %d: warned %v\n%s", batch, got, &log)
		}
	}
}

// A line names six classes, and says how many more there are.
func TestTogether(t *testing.T) {
	for n, want := range map[int]string{
		1: "a (2.0 %)",
		6: "f (7.0 %), e (6.0 %), d (5.0 %), c (4.0 %), b (3.0 %), a (2.0 %)",
		7: "g (8.0 %), f (7.0 %), e (6.0 %), d (5.0 %), c (4.0 %), b (3.0 %), 1 more class",
		8: "h (9.0 %), g (8.0 %), f (7.0 %), e (6.0 %), d (5.0 %), c (4.0 %), 2 more classes",
	} {
		var shares []float64
		for k := range n {
			shares = append(shares, .02+.01*float64(k))
		}
		if got := together(strings.Split("abcdefgh"[:n], ""), shares); got != want {
			t.Errorf("%d classes: %s, want %s", n, got, want)
		}
	}
}
