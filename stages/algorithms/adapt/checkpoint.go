package adapt

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/nn"
	"mars.dev/mars/stages/algorithms/safetensors"
)

const (
	checkpointFormat = "mars-checkpoint-3"

	keyRun    = "mars.run"          // fingerprint of problem and configuration
	keyLosses = "mars.losses"       // the first class loss, by which divergence is judged
	keyCritic = "mars.critic"       // the critic's distance in the last epoch, or null
	keyFirst  = "mars.first_labels" // figures of the first pseudo-labels, or null
	keySteps  = "mars.steps"        // followed by .g, .h or .v: updates and averaged updates
)

// checkpoint writes the state of training after the current epoch: the networks, their
// averages and the optimisers' state. Random numbers need no state: they start again from
// the seed and the epoch every epoch.
func (t *trainer) checkpoint(w io.Writer) error {
	run, err := t.fingerprint()
	if err != nil {
		return err
	}
	f := safetensors.File{Metadata: map[string]string{
		keyFormat: checkpointFormat, keyRun: run, keyEpoch: strconv.Itoa(t.epoch), keyLosses: strconv.FormatFloat(t.firstLoss, 'g', -1, 64),
	}}
	if err := errors.Join(f.PutJSON(KeyProportions, t.proportions), f.PutJSON(keyCritic, t.criticDistance), f.PutJSON(keyFirst, t.firstLabels)); err != nil {
		return err
	}
	for i, l := range t.learners {
		letter := networkNames[i]
		f.Metadata[keySteps+"."+letter] = fmt.Sprintf("[%d,%d]", l.optimiser.Step, l.averaged)
		for _, s := range l.state() {
			f.Tensors = append(f.Tensors, exportAll(s.prefix+letter+".", l.net, s.values)...)
		}
	}
	if t.pseudo != nil {
		f.Tensors = append(f.Tensors, t.pseudo.tensors()...)
	}
	return safetensors.Write(w, f)
}

// stateVector is a part of a learner's state, laid out as its parameters.
type stateVector struct {
	prefix string
	values []float32
}

func (l *learner) state() []stateVector {
	all := []stateVector{
		{"", l.net.Params}, {"average.", l.average}, {"optimiser.first.", l.optimiser.First}, {"optimiser.second.", l.optimiser.Second},
	}
	return slices.DeleteFunc(all, func(s stateVector) bool { return len(s.values) == 0 })
}

// resume sets the state of training from a checkpoint.
func (t *trainer) resume(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("adapt: resume: %w", err)
	}
	defer file.Close()
	f, err := safetensors.Read(bufio.NewReader(file))
	if err == nil {
		err = t.restore(f)
	}
	if err != nil {
		return fmt.Errorf("adapt: resume: %s: %w", path, err)
	}
	return nil
}

func (t *trainer) restore(f safetensors.File) error {
	if got := f.Metadata[keyFormat]; got != checkpointFormat {
		return fmt.Errorf("it is not a checkpoint: metadata %s is %q, not %q", keyFormat, got, checkpointFormat)
	}
	if !f.Checked {
		return errors.New("it has no checksum: it is damaged: start again without it")
	}
	run, err := t.fingerprint()
	if err != nil {
		return err
	}
	if f.Metadata[keyRun] != run {
		return errors.New("it was written with other data or settings: give the same, or start again")
	}
	l := loader{file: f}
	if err := t.restoreProgress(&l); err != nil {
		return err
	}
	if err := l.file.GetJSON(keyFirst, &t.firstLabels); err != nil {
		return err
	}
	for i := range t.learners {
		if err := t.restoreLearner(&l, i); err != nil {
			return err
		}
	}
	if err := t.restorePseudo(&l); err != nil {
		return err
	}
	t.epoch++
	return l.checkUsed()
}

// restoreProgress sets how far training had come.
func (t *trainer) restoreProgress(l *loader) error {
	var epoch int
	var proportions []float64
	var loss float64
	var critic *float64
	err := errors.Join(l.file.GetJSON(keyEpoch, &epoch), l.file.GetJSON(KeyProportions, &proportions), l.file.GetJSON(keyLosses, &loss), l.file.GetJSON(keyCritic, &critic))
	if err != nil {
		return err
	}
	switch {
	case epoch < 0:
		return fmt.Errorf("metadata %s is %d: want an epoch from 0", keyEpoch, epoch)
	case epoch >= t.config.Epochs:
		return fmt.Errorf("it is of epoch %d, and the training is of %d epochs: ask for as many at least, or start again", epoch+1, t.config.Epochs)
	case math.IsNaN(loss) || math.IsInf(loss, 0) || loss < 0:
		return fmt.Errorf("metadata %s is %v: want a finite loss", keyLosses, loss)
	case critic != nil && (math.IsNaN(*critic) || math.IsInf(*critic, 0)):
		return fmt.Errorf("metadata %s is %v: want a finite distance", keyCritic, *critic)
	case (proportions == nil) != (t.proportions == nil):
		return fmt.Errorf("metadata %s: this run has other proportions", KeyProportions)
	case proportions != nil:
		if err := checkProportions(proportions, len(t.proportions)); err != nil {
			return fmt.Errorf("metadata %s: %w", KeyProportions, err)
		}
	}
	t.epoch, t.proportions, t.firstLoss, t.criticDistance = epoch, proportions, loss, critic
	return nil
}

// maxSteps is the greatest number of updates that a checkpoint may tell of.
const maxSteps = 1 << 40

func (t *trainer) restoreLearner(l *loader, i int) error {
	learner := t.learners[i]
	var steps [2]int
	if err := l.file.GetJSON(keySteps+"."+networkNames[i], &steps); err != nil {
		return err
	}
	if steps[0] < 0 || steps[0] > maxSteps || steps[1] < 0 || steps[1] > steps[0] {
		return fmt.Errorf("metadata %s.%s is %v: want numbers of steps from 0", keySteps, networkNames[i], steps)
	}
	learner.optimiser.Step, learner.averaged = steps[0], steps[1]
	if learner.averaged > 0 {
		learner.average = make([]float32, len(learner.net.Params))
	}
	for _, s := range learner.state() {
		if err := l.fill(s.prefix+networkNames[i]+".", learner.net, s.values); err != nil {
			return err
		}
	}
	for _, v := range learner.optimiser.Second {
		if v < 0 {
			return fmt.Errorf("network %s: Adam's second moments hold %v: want numbers from 0", networkNames[i], v)
		}
	}
	return nil
}

// fingerprint identifies everything that the bits of a run depend on: the data, the
// configuration and the networks. The number of epochs is part of it only if the learning
// rate depends on it.
func (t *trainer) fingerprint() (string, error) {
	if t.run != "" {
		return t.run, nil
	}
	c := t.config
	if c.Decay == 1 {
		c.Epochs, c.DecayFrom = 0, 0
	}
	settings, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("adapt: configuration: %w", err)
	}
	h := sha256.New()
	h.Write(settings)
	for _, net := range t.all() {
		fmt.Fprintln(h, nn.FormatLayers(net.Specs))
	}
	fmt.Fprintf(h, "%q %v\n", t.problem.Classes, t.problem.shape())
	t.input.hash(h.Write)
	if c.Initial != nil {
		for _, net := range c.Initial.all() {
			hashFloats(h.Write, net.Params)
		}
	}
	for _, x := range []blas32.General{t.problem.Source, t.problem.Target} {
		hashRows(h.Write, x)
	}
	_ = binary.Write(h, binary.LittleEndian, t.problem.Labels) // a hash's Write never fails
	t.run = hex.EncodeToString(h.Sum(nil))
	return t.run, nil
}

func hashRows(write func([]byte) (int, error), x blas32.General) {
	for i := range x.Rows {
		hashFloats(write, x.Data[i*x.Stride:i*x.Stride+x.Cols])
	}
}

func hashFloats(write func([]byte) (int, error), values []float32) {
	bytes := make([]byte, 0, 4*len(values))
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
	}
	_, _ = write(bytes) // a hash's Write never fails
}

func (in input) hash(write func([]byte) (int, error)) {
	hashFloats(write, in.offset)
	hashFloats(write, in.scale)
	_, _ = write(fmt.Appendln(nil, in.byRow, len(in.offset)))
}
