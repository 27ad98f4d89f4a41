package ensemble

import (
	"fmt"

	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// metadataKey, after a prefix, is the key of an ensemble's header.
const metadataKey = "ensemble"

// header is what the metadata say of an ensemble.
type header struct {
	Classes int           `json:"classes"`
	Members []calibration `json:"members"`
}

// calibration is that of a member.
type calibration struct {
	Name        string    `json:"name"`
	Temperature float64   `json:"temperature"`
	Bias        []float64 `json:"bias"`
}

// Put adds the model to a file. The names of its tensors and the keys of its
// metadata begin with prefix, so that a file can hold several: "plain." gives
// "plain.logistic.weights".
func (m *Model) Put(f *safetensors.File, prefix string) error {
	h := header{Classes: m.Classes}
	for _, k := range m.members {
		h.Members = append(h.Members, calibration{k.name, k.calibrator.Temperature, k.calibrator.Bias})
		if err := k.put(f, prefix+k.name+"."); err != nil {
			return err
		}
	}
	return f.PutJSON(prefix+metadataKey, h)
}

// Get reads what Put has added with the same prefix. It checks the shapes of
// tensors against each other, and values for NaN and infinities. Its errors name
// the tensor or the key, but not the file.
func Get(f *safetensors.File, prefix string) (*Model, error) {
	var h header
	if err := f.GetJSON(prefix+metadataKey, &h); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("metadata %s%s: %w", prefix, metadataKey, err)
	}
	m := &Model{Classes: h.Classes}
	for _, c := range h.Members {
		s, err := getMember(f, prefix, c.Name, h.Classes)
		if err != nil {
			return nil, err
		}
		m.members = append(m.members, trained{s, c.Name, &labelshift.Calibrator{Temperature: c.Temperature, Bias: c.Bias}})
	}
	for _, k := range m.members {
		if k.width() != m.Width() {
			return nil, fmt.Errorf("%s%s takes rows of %d columns: %s%s takes %d", prefix, k.name, k.width(), prefix, m.members[0].name, m.Width())
		}
	}
	return m, nil
}

func (h header) check() error {
	if h.Classes < 1 {
		return fmt.Errorf("%d classes: want at least 1", h.Classes)
	}
	var names []string
	for _, c := range h.Members {
		names = append(names, c.Name)
		if len(c.Bias) != h.Classes {
			return fmt.Errorf("%s: %d biases for %d classes", c.Name, len(c.Bias), h.Classes)
		}
		if !(c.Temperature > 0) {
			return fmt.Errorf("%s: the temperature is %g: want a positive number", c.Name, c.Temperature)
		}
	}
	_, err := Options{Members: append([]string{}, names...)}.members()
	return err
}

func getMember(f *safetensors.File, prefix, name string, classes int) (scorer, error) {
	prefix += name + "."
	switch name {
	case logisticName:
		return getLinear(f, prefix, classes)
	case kernelName:
		return getRidge(f, prefix, classes)
	default:
		return getNetwork(f, prefix, classes)
	}
}
