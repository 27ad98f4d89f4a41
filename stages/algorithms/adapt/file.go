package adapt

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/nn"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// Keys of a model's metadata, for other formats of models too. Those that a
// stream of rows has as well hold what they hold there.
const (
	KeyClasses     = "mars.classes"
	KeyMethod      = "mars.method"
	KeyProportions = "mars.proportions.target"
	KeyProvenance  = "mars.provenance"
	KeyDecision    = "mars.decision"
	KeyVectors     = "mars.vectors"
	KeyPreparation = "mars.preparation"
	KeyLevels      = "mars.levels"
	KeyPrior       = "mars.prior"
)

const (
	keyFormat = "mars.format"
	keyArch   = "mars.arch"
	keyInput  = "mars.input"  // C,H,W or d
	keyLayers = "mars.layers" // followed by .g, .h or .v: nn.FormatLayers
	keySeed   = "mars.seed"
	keyEpoch  = "mars.epoch"

	modelFormat  = "mars-model-1"
	offsetTensor = "input.offset" // x enters g as (x − offset)·scale
	scaleTensor  = "input.scale"
	rowTensor    = "input.row" // ε: x enters g as (x − μ)/(σ + ε), by its own mean and deviation
)

// Save writes the model as a safetensors file. The weights have PyTorch's names for three
// nn.Sequential g, h and v ("g.0.weight", out×in). The scaling of the input is in
// "input.offset" and "input.scale": x enters g as (x − offset)·scale. If rows are scaled by
// their own mean μ and deviation σ instead, "input.row" holds ε of (x − μ)/(σ + ε). The rest
// is in the metadata.
func (m *Model) Save(w io.Writer) error {
	f, err := m.file()
	if err != nil {
		return err
	}
	return safetensors.Write(w, f)
}

func (m *Model) file() (safetensors.File, error) {
	f := safetensors.File{Metadata: map[string]string{
		keyFormat: modelFormat, keyArch: m.arch.Name, KeyMethod: m.Method, keySeed: strconv.FormatUint(m.Seed, 10), keyEpoch: strconv.Itoa(m.Epoch),
	}}
	m.Use.Put(f.Metadata)
	err := errors.Join(f.PutJSON(KeyClasses, m.Classes), f.PutJSON(keyInput, m.arch.Input))
	if m.Prior != nil {
		err = errors.Join(err, f.PutJSON(KeyPrior, m.Prior))
	}
	if m.Proportions != nil {
		err = errors.Join(err, f.PutJSON(KeyProportions, m.Proportions))
	}
	if err != nil {
		return f, fmt.Errorf("adapt: %w", err)
	}
	for i, net := range m.all() {
		f.Metadata[keyLayers+"."+networkNames[i]] = nn.FormatLayers(net.Specs)
		f.Tensors = append(f.Tensors, exportAll(networkNames[i]+".", net, net.Params)...)
	}
	if len(m.input.scale) > 0 {
		f.Tensors = append(f.Tensors, vector(offsetTensor, m.input.offset), vector(scaleTensor, m.input.scale))
	}
	if m.input.byRow {
		f.Tensors = append(f.Tensors, vector(rowTensor, []float32{rowEpsilon}))
	}
	return f, nil
}

// exportAll returns the network's tensors with the values of params, which is laid out as
// its Params.
func exportAll(prefix string, net *nn.Network, params []float32) []safetensors.Tensor {
	var tensors []safetensors.Tensor
	for _, t := range net.Tensors {
		tensors = append(tensors, safetensors.Tensor{Name: tensorName(prefix, t), Shape: t.Shape, Data: net.Export(t, params)})
	}
	return tensors
}

func tensorName(prefix string, t nn.Tensor) string {
	return prefix + strconv.Itoa(t.Layer) + "." + t.Name
}

func vector(name string, values []float32) safetensors.Tensor {
	return safetensors.Tensor{Name: name, Shape: []int{len(values)}, Data: values}
}

// Load reads what Save writes. name names the input in errors. The whole file is checked
// first, the shapes of its tensors against its layers, and its weights for NaN and
// infinities.
func Load(r io.Reader, name string) (*Model, error) {
	f, err := safetensors.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := loader{file: f}
	m, err := l.model()
	if err == nil {
		err = l.checkUsed()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// loader reads a model from a file and counts the tensors that it uses.
type loader struct {
	file safetensors.File
	used int
}

func (l *loader) model() (*Model, error) {
	if got := l.file.Metadata[keyFormat]; got != modelFormat {
		return nil, fmt.Errorf("it is not a model of mars-embed or mars-train: metadata %s is %q, not %q", keyFormat, got, modelFormat)
	}
	m := &Model{Method: l.file.Metadata[KeyMethod]}
	var epoch int64
	err := errors.Join(
		l.file.GetJSON(KeyClasses, &m.Classes), l.file.GetJSON(keyInput, &m.arch.Input),
		l.file.GetJSON(keySeed, &m.Seed), l.file.GetJSON(keyEpoch, &epoch))
	if _, there := l.file.Metadata[KeyProportions]; there {
		err = errors.Join(err, l.file.GetJSON(KeyProportions, &m.Proportions))
	}
	if err != nil {
		return nil, err
	}
	m.Epoch, m.arch.Name, m.arch.Classes = int(epoch), l.file.Metadata[keyArch], len(m.Classes)
	if m.Proportions != nil {
		if err := checkProportions(m.Proportions, len(m.Classes)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(l.use(m), l.networks(m)); err != nil {
		return nil, err
	}
	return m, l.input(m)
}

// networks makes the networks that the metadata describes and sets their weights.
func (l *loader) networks(m *Model) error {
	if err := nn.CheckShape(m.arch.Input); err != nil {
		return err
	}
	specs := []*[]nn.LayerSpec{&m.arch.G, &m.arch.H, &m.arch.V}
	nets := []**nn.Network{&m.g, &m.h, &m.v}
	input := m.arch.Input
	for i, letter := range networkNames {
		text, there := l.file.Metadata[keyLayers+"."+letter]
		if !there && letter == "v" {
			break // the model was trained without alignment
		}
		var err error
		if *specs[i], err = nn.ParseLayers(text); err != nil {
			return err
		}
		if err := l.checkSize(letter, *specs[i]); err != nil {
			return err
		}
		if *nets[i], err = nn.NewNetwork(*specs[i], input); err != nil {
			return fmt.Errorf("network %s: %w", letter, err)
		}
		if err := l.fill(letter+".", *nets[i], (*nets[i]).Params); err != nil {
			return err
		}
		input = []int{m.g.Outputs}
	}
	if m.h.Outputs != len(m.Classes) {
		return fmt.Errorf("network h has %d outputs for %d classes", m.h.Outputs, len(m.Classes))
	}
	return nil
}

// checkSize returns an error if the layers have more weights than the file, so that a
// damaged file cannot make the program allocate any amount of memory.
func (l *loader) checkSize(letter string, specs []nn.LayerSpec) error {
	var there, wanted int
	for _, t := range l.file.Tensors {
		if strings.HasPrefix(t.Name, letter+".") {
			there += len(t.Data)
		}
	}
	for _, s := range specs {
		if wanted += s.Parameters(); wanted > there {
			return fmt.Errorf("network %s: its layers have more than the %d weights in the file", letter, there)
		}
	}
	return nil
}

// fill sets params, which is laid out as the network's Params, from the file.
func (l *loader) fill(prefix string, net *nn.Network, params []float32) error {
	for _, t := range net.Tensors {
		name := tensorName(prefix, t)
		got, there := l.file.Get(name)
		if !there {
			return fmt.Errorf("tensor %s is missing", name)
		}
		if !slices.Equal(got.Shape, t.Shape) {
			return fmt.Errorf("tensor %s has shape %v: its layer wants %v", name, got.Shape, t.Shape)
		}
		if !dense.Finite(got.Data) {
			return fmt.Errorf("tensor %s holds NaN or infinity", name)
		}
		net.Import(t, params, got.Data)
		l.used++
	}
	return nil
}

// input reads the scaling of the input.
func (l *loader) input(m *Model) error {
	if row, there := l.file.Get(rowTensor); there {
		if len(row.Data) != 1 || row.Data[0] != rowEpsilon {
			return fmt.Errorf("tensor %s: want the one value %g", rowTensor, rowEpsilon)
		}
		m.input.byRow = true
		l.used++
	}
	offset, there := l.file.Get(offsetTensor)
	scale, both := l.file.Get(scaleTensor)
	if !there && !both {
		return nil
	}
	n := len(offset.Data)
	if n != len(scale.Data) || (n != 1 && n != m.Width()) {
		return fmt.Errorf("tensors %s and %s: want 1 or %d values in both", offsetTensor, scaleTensor, m.Width())
	}
	if !dense.Finite(offset.Data) || !dense.Finite(scale.Data) {
		return fmt.Errorf("tensors %s and %s hold NaN or infinity", offsetTensor, scaleTensor)
	}
	m.input.offset, m.input.scale = offset.Data, scale.Data
	l.used += 2
	return nil
}

// checkUsed returns an error if the file has tensors that belong to no layer.
func (l *loader) checkUsed() error {
	if rest := len(l.file.Tensors) - l.used; rest > 0 {
		return fmt.Errorf("%d tensors belong to none of its layers: another program's file?", rest)
	}
	return nil
}
