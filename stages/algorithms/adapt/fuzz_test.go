package adapt

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/nn"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// anyChecksum is the content of a safetensors file as if its checksum were right, so
// that a fuzzer gets to the checks behind it.
func anyChecksum(input []byte) (safetensors.File, error) {
	f, err := safetensors.Read(bytes.NewReader(bytes.Replace(input, []byte("mars.checksum"), []byte("none.checksum"), 1)))
	f.Checked = true
	return f, err
}

// A model that is loaded has finite weights and can be used.
func FuzzModel(f *testing.F) {
	for _, method := range []string{"source", "marsc"} {
		p, c := quickConfig(f, method)
		c.Epochs = 3
		f.Add(save(f, mustTrain(f, p, c)))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		file, err := anyChecksum(input)
		if err != nil {
			return
		}
		l := loader{file: file}
		m, err := l.model()
		if err != nil || m.Width() > 100 {
			return
		}
		if p := m.Predict(dense.New(2, m.Width())); p.Cols != len(m.Classes) {
			t.Fatalf("%d×%d posteriors of %d classes", p.Rows, p.Cols, len(m.Classes))
		}
	})
}

// checkpointOf is a checkpoint after some epochs.
func checkpointOf(tb testing.TB, method string) (input []byte, p Problem, c Config) {
	p, c = quickConfig(tb, method)
	c.Jobs = 1
	path := filepath.Join(tb.TempDir(), "state")
	c.Checkpoint, c.CheckpointEvery = keepIn(path), 1
	stop := errors.New("stop")
	c.OnEpoch = func(m EpochMetrics) error {
		if m.Epoch == 6 {
			return stop
		}
		return nil
	}
	if _, err := Train(context.Background(), p, c); !errors.Is(err, stop) {
		tb.Fatal(err)
	}
	c.OnEpoch, c.Checkpoint = nil, nil
	input, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return input, p, c
}

// What is resumed from a changed checkpoint is refused or trains on without a panic.
func FuzzCheckpoint(f *testing.F) {
	input, p, c := checkpointOf(f, "marsg")
	f.Add(input)
	arch, err := nn.ParseArch(c.Arch, p.shape(), len(p.Classes))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		file, err := anyChecksum(input)
		if err != nil {
			return
		}
		tr, err := newTrainer(context.Background(), p, c, arch)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.pool.stop()
		if tr.restore(file) == nil {
			_, _ = tr.train(context.Background())
		}
	})
}

// Any change of a checkpoint is refused.
func TestDamagedCheckpoints(t *testing.T) {
	input, p, c := checkpointOf(t, "marsg")
	resume := func(content []byte) error {
		c.ResumeFile = filepath.Join(t.TempDir(), "damaged")
		if err := os.WriteFile(c.ResumeFile, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Train(context.Background(), p, c)
		return err
	}
	for at := 3; at < len(input); at += len(input) / 50 {
		changed := bytes.Clone(input)
		changed[at] ^= 1
		if resume(changed) == nil {
			t.Errorf("byte %d changed: resumed", at)
		}
	}
	for _, tc := range []struct{ old, new, want string }{
		{`"mars.epoch":"5"`, `"mars.epoch":"9"`, "of epoch 10, and the training is of 8 epochs"},
		{`"mars.epoch":"5"`, `"mars.epoch":"-1"`, "want an epoch from 0"},
		{`"mars.steps.v":"[`, `"mars.steps.v":"[-`, "want numbers of steps"},
		{`"mars.steps.g":"[`, `"mars.steps.g":"[9999999999999`, "want numbers of steps"},
		{`"mars.proportions.target":"[`, `"mars.proportions.target":"[-`, "want a number from 0 to 1"},
		{`"mars.proportions.target":"[`, `"mars.proportions.target":"null","x":"[`, "other proportions"},
		{`"mars.losses":"`, `"mars.losses":"-`, "want a finite loss"},
	} {
		file, err := anyChecksum(bigger(input, tc.old, tc.new))
		if err != nil {
			t.Fatal(tc.new, err)
		}
		var b bytes.Buffer
		if err := safetensors.Write(&b, file); err != nil {
			t.Fatal(err)
		}
		if err := resume(b.Bytes()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.new, err, tc.want)
		}
	}
}

// bigger replaces text in the header, whose length changes with it.
func bigger(input []byte, old, new string) []byte {
	out := bytes.Replace(input, []byte(old), []byte(new), 1)
	n := len(out) - len(input) + int(input[0]) + int(input[1])<<8
	out[0], out[1] = byte(n), byte(n>>8)
	return out
}
