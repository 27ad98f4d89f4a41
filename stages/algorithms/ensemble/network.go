package ensemble

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// The network is d→100→100→C. Its inputs are prepared, and stay as they are: principal
// components of little variance are mostly noise.
const (
	hidden               = 100
	learningRate         = 1e-3
	beta1                = 0.9
	weightDecay          = 0.01
	batch                = 64
	trainedRows          = 30_000 // in all epochs
	minEpochs, maxEpochs = 15, 40
)

var networkKind = kind{name: "network", train: (*Tuned).trainNetwork, get: getNetwork}

// network is a network of the classes that had rows when it was trained.
type network struct {
	model   *adapt.Model // nil if that is one class
	present []int        // rising
	inputs  int
	classes int
}

func (t *Tuned) trainNetwork(ctx context.Context, x blas32.General, labels []int32) (scorer, error) {
	present, number := renumber(labels, t.Classes)
	n := network{present: present, inputs: x.Cols, classes: t.Classes}
	if len(present) == 1 {
		return n, ctx.Err()
	}
	c, err := adapt.Recipe(fmt.Sprintf("mlp:%d-%d", x.Cols, hidden), []int{x.Cols}, adapt.ScheduleDefault)
	if err != nil {
		return nil, err
	}
	c.Optimiser, c.LearningRate, c.Beta1, c.WeightDecay = adapt.Adam, learningRate, beta1, weightDecay
	c.Batch, c.Seed, c.Jobs, c.Input = batch, t.seed, 1, adapt.InputAsIs // x is prepared
	c.SetEpochs(max(minEpochs, min(maxEpochs, trainedRows/x.Rows)))
	n.model, err = adapt.Train(ctx, adapt.Problem{Source: x, Labels: number, Classes: numbers(len(present))}, c)
	return n, err
}

func (n network) posteriors(x blas32.General) blas32.General {
	all := dense.New(x.Rows, n.classes)
	if n.model == nil {
		for i := range all.Rows {
			dense.Row(all, i)[n.present[0]] = 1
		}
		return all
	}
	p := n.model.Predict(x)
	for i := range p.Rows {
		for j, k := range n.present {
			dense.Row(all, i)[k] = dense.Row(p, i)[j]
		}
	}
	return all
}

func (n network) width() int { return n.inputs }

// networkHeader is what the metadata say of a network beyond its own.
type networkHeader struct {
	Present []int `json:"present"`
	Inputs  int   `json:"inputs"`
}

// headerKey is its key, after the prefix of the network.
const headerKey = "classifier"

// put saves the model as a file of its own and adds what is in it.
func (n network) put(f *safetensors.File, prefix string) error {
	if err := f.PutJSON(prefix+headerKey, networkHeader{n.present, n.inputs}); err != nil || n.model == nil {
		return err
	}
	var b bytes.Buffer
	if err := n.model.Save(&b); err != nil {
		return err
	}
	own, err := safetensors.Read(&b)
	if err != nil {
		return err
	}
	for _, t := range own.Tensors {
		t.Name = prefix + t.Name
		f.Tensors = append(f.Tensors, t)
	}
	for key, value := range own.Metadata {
		f.Metadata[prefix+key] = value
	}
	return nil
}

func getNetwork(f *safetensors.File, prefix string, classes int) (scorer, error) {
	var h networkHeader
	if err := f.GetJSON(prefix+headerKey, &h); err != nil {
		return nil, err
	}
	if len(h.Present) == 0 || !rising(h.Present, classes) || h.Inputs < 1 {
		return nil, fmt.Errorf("metadata %s%s: want rising numbers of %d classes, from 0, and at least 1 input: it has %v and %d", prefix, headerKey, classes, h.Present, h.Inputs)
	}
	n := network{present: h.Present, inputs: h.Inputs, classes: classes}
	if len(h.Present) == 1 {
		return n, nil
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, part(f, prefix)); err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(prefix, ".")
	var err error
	if n.model, err = adapt.Load(&b, name); err != nil {
		return nil, err
	}
	if c, d := len(n.model.Classes), n.model.Width(); c != len(h.Present) || d != h.Inputs {
		return nil, fmt.Errorf("%s: the network has %d inputs and %d classes: metadata %s%s says %d and %d", name, d, c, prefix, headerKey, h.Inputs, len(h.Present))
	}
	return n, nil
}

// part is the file of all in f whose names begin with prefix, without it.
func part(f *safetensors.File, prefix string) safetensors.File {
	p := safetensors.File{Metadata: map[string]string{}}
	for _, t := range f.Tensors {
		if name, found := strings.CutPrefix(t.Name, prefix); found {
			t.Name = name
			p.Tensors = append(p.Tensors, t)
		}
	}
	for key, value := range f.Metadata {
		if name, found := strings.CutPrefix(key, prefix); found {
			p.Metadata[name] = value
		}
	}
	return p
}

// rising reports whether index are some of the numbers 0 to n−1 in rising order.
func rising(index []int, n int) bool {
	last := -1
	for _, k := range index {
		if k <= last || k >= n {
			return false
		}
		last = k
	}
	return true
}

// renumber numbers the classes that have rows.
func renumber(labels []int32, classes int) (present []int, number []int32) {
	of := make([]int32, classes)
	for k := range of {
		of[k] = -1
	}
	for _, y := range labels {
		of[y] = 0
	}
	for k, n := range of {
		if n == 0 {
			of[k] = int32(len(present))
			present = append(present, k)
		}
	}
	for _, y := range labels {
		number = append(number, of[y])
	}
	return present, number
}

// numbers are the names of n classes for a network.
func numbers(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}
