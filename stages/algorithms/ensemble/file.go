package ensemble

import (
	"fmt"
	"math"

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
	// Weight is the member's in the mean; where no member has one they weigh alike.
	Weight float64 `json:"weight,omitempty"`
}

// Put adds the model to a file. The names of its tensors and the keys of its
// metadata begin with prefix, so that a file can hold several: "plain." gives
// "plain.logistic.weights".
func (m *Model) Put(f *safetensors.File, prefix string) error {
	h := header{Classes: m.Classes}
	for _, k := range m.members {
		h.Members = append(h.Members, calibration{k.name, k.calibrator.Temperature, k.calibrator.Bias, k.weight})
		if err := k.put(f, prefix+k.name+"."); err != nil {
			return err
		}
	}
	return f.PutJSON(prefix+metadataKey, h)
}

// In reports whether a file has a model under the prefix.
func In(f *safetensors.File, prefix string) bool {
	_, there := f.Metadata[prefix+metadataKey]
	return there
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
	h.weigh()
	for _, c := range h.Members {
		s, err := kindOf(c.Name).get(f, prefix+c.Name+".", h.Classes)
		if err != nil {
			return nil, err
		}
		m.members = append(m.members, trained{s, c.Name, &labelshift.Calibrator{Temperature: c.Temperature, Bias: c.Bias}, c.Weight})
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
		if !(c.Weight >= 0 && c.Weight <= 1) {
			return fmt.Errorf("%s: the weight is %g: want a number from 0 to 1", c.Name, c.Weight)
		}
		if !(c.Temperature > 0) {
			return fmt.Errorf("%s: the temperature is %g: want a positive number", c.Name, c.Temperature)
		}
	}
	if sum := h.weights(); sum != 0 && math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("the sum of the weights is %g: want 1", sum)
	}
	_, err := Options{Members: append([]string{}, names...)}.members()
	return err
}

// weigh gives members of models without weights the same.
func (h header) weigh() {
	if h.weights() > 0 {
		return
	}
	for i := range h.Members {
		h.Members[i].Weight = 1 / float64(len(h.Members))
	}
}

// weights is the sum of the members' weights.
func (h header) weights() (sum float64) {
	for _, c := range h.Members {
		sum += c.Weight
	}
	return sum
}
