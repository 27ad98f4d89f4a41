package adapt

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/nn"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// trainerOf is a trainer that has not begun.
func trainerOf(t *testing.T, method string) *trainer {
	t.Helper()
	p, c := quickConfig(t, method)
	arch, err := nn.ParseArch(c.Arch, p.shape(), len(p.Classes))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTrainer(t.Context(), p, c, arch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.pool.stop)
	return tr
}

// What is damaged in a checkpoint is refused by its name, and numbers up to their greatest are taken.
func TestRestoreRefuses(t *testing.T) {
	checkpoints := map[string]safetensors.File{}
	for _, method := range []string{"marsc", SelfTraining} {
		tr := trainerOf(t, method)
		tr.epoch, tr.firstLoss = 1, 1
		if method == SelfTraining {
			tr.begin(t)
		}
		var b bytes.Buffer
		if err := tr.checkpoint(&b); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		checkpoints[method] = f
	}
	for _, c := range []struct {
		method, key, value, want string
	}{
		{"marsc", keySteps + ".g", "[1099511627776,0]", ""},
		{"marsc", keySteps + ".g", "[1099511627777,0]", "metadata mars.steps.g is [1099511627777 0]: want numbers of steps from 0"},
		{"marsc", keySteps + ".v", "?", "metadata mars.steps.v"},
		{"marsc", keyEpoch, "7", ""},
		{"marsc", keyEpoch, "8", "it is of epoch 9, and the training is of 8 epochs: ask for as many at least, or start again"},
		{"marsc", keyEpoch, "?", "metadata mars.epoch"},
		{"marsc", keyFirst, "?", "metadata mars.first_labels"},
		{"marsc", keyFormat, "x", `it is not a checkpoint: metadata mars.format is "x", not "mars-checkpoint-3"`},
		{"marsc", "optimiser.first.g.0.bias", "missing", "tensor optimiser.first.g.0.bias is missing"},
		{SelfTraining, keyFirst, "null", ""},
		{SelfTraining, labelTensor, "3", "row 0 has label 3: want −1 to 2"},
	} {
		f := checkpoints[c.method]
		f.Metadata = map[string]string{c.key: c.value}
		for key, value := range checkpoints[c.method].Metadata {
			if key != c.key {
				f.Metadata[key] = value
			}
		}
		f.Tensors = slices.Clone(f.Tensors)
		if i := slices.IndexFunc(f.Tensors, func(s safetensors.Tensor) bool { return s.Name == c.key }); i >= 0 && c.value == "missing" {
			f.Tensors = slices.Delete(f.Tensors, i, i+1)
		} else if i >= 0 {
			f.Tensors[i].Data = slices.Clone(f.Tensors[i].Data)
			f.Tensors[i].Data[0] = 3
		}
		got := ""
		if err := trainerOf(t, c.method).restore(f); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s: error %q, want %q", c.key, c.value, got, c.want)
		}
	}
}

// Numbers that have no place in a file are an error of it, and nothing is written.
func TestNotANumberIsNotSaved(t *testing.T) {
	nan := math.NaN()
	tr := trainerOf(t, "marsc")
	m := tr.model(0)
	m.Proportions = []float64{nan, 0, 1}
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"model": func(b *bytes.Buffer) error { return m.Save(b) },
		"settings": func(b *bytes.Buffer) error {
			tr := trainerOf(t, "marsc")
			tr.config.Lambda = nan
			if err := tr.restore(safetensors.File{Metadata: map[string]string{keyFormat: checkpointFormat}, Checked: true}); err == nil || !strings.Contains(err.Error(), "NaN") {
				t.Errorf("a checkpoint is read, and the settings have NaN: %v", err)
			}
			return tr.checkpoint(b)
		},
		"proportions": func(b *bytes.Buffer) error {
			tr.proportions = []float64{nan, 0, 1}
			defer func() { tr.proportions = tr.source }()
			return tr.checkpoint(b)
		},
		"critic": func(b *bytes.Buffer) error {
			tr.criticDistance = &nan
			defer func() { tr.criticDistance = nil }()
			return tr.checkpoint(b)
		},
		"labels": func(b *bytes.Buffer) error {
			tr.firstLabels = &LabelFigures{Kept: nan}
			defer func() { tr.firstLabels = nil }()
			return tr.checkpoint(b)
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err == nil || !strings.Contains(err.Error(), "NaN") || b.Len() > 0 {
			t.Errorf("%s: error %v, and %d bytes are written", name, err, b.Len())
		}
	}
}

// Training stops wherever its context ends, also in the middle of the last step.
func TestTrainStops(t *testing.T) {
	p, c := quickConfig(t, "wd")
	c.Epochs, c.StartAlign, c.Iterations, c.CriticSteps, c.Input = 1, 0, 1, 3, InputStandard
	c.DecayFrom, c.AverageFrom = 1, 1
	contexttest.Stops(t, 5, func(ctx context.Context) error {
		_, err := Train(ctx, p, c)
		return err
	})
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := newInput(ended, InputStandard, p.Source); !errors.Is(err, context.Canceled) {
		t.Errorf("columns are standardised: %v", err)
	}
}

// Layers that do not fit are an error of the network that has them.
func TestNetworksThatDoNotFit(t *testing.T) {
	layers := func(text string) []nn.LayerSpec {
		specs, err := nn.ParseLayers(text)
		if err != nil {
			t.Fatal(err)
		}
		return specs
	}
	for want, a := range map[string]nn.Arch{
		"nn: layer 0 (linear 4 3): it takes 4 columns and gets 5": {G: layers("linear 4 3"), H: layers("linear 3 2"), V: layers("linear 3 1")},
		"nn: layer 0 (linear 4 2): it takes 4 columns and gets 3": {G: layers("linear 5 3"), H: layers("linear 4 2"), V: layers("linear 3 1")},
		"nn: layer 0 (linear 4 1): it takes 4 columns and gets 3": {G: layers("linear 5 3"), H: layers("linear 3 2"), V: layers("linear 4 1")},
		"": {G: layers("linear 5 3"), H: layers("linear 3 2"), V: layers("linear 3 1")},
	} {
		a.Input, a.Classes = []int{5}, 2
		got := ""
		if _, err := newNetworks(a, alignWasserstein); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	}
}

// A decision that needs a model's prior is an error of its graph too.
func TestGraphWithoutPrior(t *testing.T) {
	d := labelshift.Balanced
	m := &Model{}
	m.Decision = &d
	if _, err := m.DecideONNX(nil, ""); err == nil || !strings.HasPrefix(err.Error(), "adapt: the model does not say which class proportions its posteriors assume") {
		t.Errorf("error %v", err)
	}
}

// Labels go up to the last class, and each class has rows.
func TestLabelsOfClasses(t *testing.T) {
	p := Problem{Source: dense.New(2, 1), Labels: []int32{0, 1}, Classes: []string{"a", "b"}}
	for want, labels := range map[string][]int32{
		"": {1, 0},
		"adapt: source row 1 has label 2: want 0 to 1":                         {0, 2},
		"adapt: source row 0 has label -1: want 0 to 1":                        {-1, 1},
		"adapt: class 0 (a) has no source rows: leave it out, or give it some": {1, 1},
		"adapt: class 1 (b) has no source rows: leave it out, or give it some": {0, 0},
	} {
		p.Labels = labels
		got := ""
		if err := p.checkLabels(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("labels %v: error %q, want %q", labels, got, want)
		}
	}
}

// A batch none of whose classes has mass counts all rows alike.
func TestBatchWithoutMass(t *testing.T) {
	b := newBatch(4, 0, 2)
	b.weigh(b.class, []float64{0, 1}, true)
	if !slices.Equal(b.class, []float32{.25, .25, .25, .25}) {
		t.Errorf("coefficients %v, want ¼ each", b.class)
	}
}

// A configuration without epochs may be given some.
func TestEpochsOfNone(t *testing.T) {
	var c Config
	c.SetEpochs(5)
	if c.Epochs != 5 || c.StartAlign != 0 || c.WarmUp != 0 {
		t.Errorf("%+v", c)
	}
}

// Rows that go through the networks in several blocks come out as they do alone, as they are or changed.
func TestBlocksOfRows(t *testing.T) {
	m := trainerOf(t, "wd").model(0)
	p := formulaProblem([]int{5}, 2*inferenceRows+3, oracleClasses)
	z := m.Embed(p.Source)
	classes := dense.New(z.Rows, 3)
	m.classifyInto(classes, z)
	for name, all := range map[string]blas32.General{"classes": m.Predict(p.Source), "of embeddings": classes, "changed by nothing": m.PredictAugmented(p.Source, nil, 0)} {
		for i := range p.Source.Rows {
			if alone := m.Predict(dense.Rows(p.Source, i, i+1)); !slices.Equal(alone.Data, dense.Row(all, i)) {
				t.Fatalf("%s: row %d has %v, and %v alone", name, i, dense.Row(all, i), alone.Data)
			}
		}
	}
}

// A training of fewer epochs does not go on from one of more.
func TestResumeWithFewerEpochs(t *testing.T) {
	p, c := quickConfig(t, "source")
	c.Decay = 1
	state := filepath.Join(t.TempDir(), "state")
	c.Checkpoint = keepIn(state)
	mustTrain(t, p, c)
	c.ResumeFile, c.Epochs = state, 7
	want := "adapt: resume: " + state + ": it is of epoch 8, and the training is of 7 epochs: ask for as many at least, or start again"
	if _, err := Train(t.Context(), p, c); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
