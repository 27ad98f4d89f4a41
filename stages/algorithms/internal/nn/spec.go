package nn

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind names a layer.
type Kind string

// The kinds of layers. Their arithmetic and the order of their parameters are PyTorch's.
const (
	Linear  Kind = "linear"  // y = x Wᵀ + b
	Conv    Kind = "conv"    // square kernel, stride 1, no padding
	MaxPool Kind = "maxpool" // square window, stride its side
	ReLU    Kind = "relu"
	Dropout Kind = "dropout" // inverted: values that stay are divided by 1−rate
)

// A LayerSpec describes one layer. As text it is the kind and the numbers, in the order of
// the fields: "linear 200 3", "linear 200 1 nobias", "conv 1 32 5", "maxpool 2", "relu",
// "dropout 0.5".
type LayerSpec struct {
	Kind    Kind
	In, Out int     // columns of linear, channels of conv
	Side    int     // kernel of conv, window of maxpool
	Rate    float64 // dropout
	NoBias  bool
}

// maxWidth bounds a layer's width, so that a damaged model file cannot make the program
// allocate any amount of memory.
const maxWidth = 1 << 20

// String returns the layer as text that ParseLayers reads.
func (s LayerSpec) String() string {
	text := string(s.Kind)
	switch s.Kind {
	case Linear:
		text += fmt.Sprintf(" %d %d", s.In, s.Out)
	case Conv:
		text += fmt.Sprintf(" %d %d %d", s.In, s.Out, s.Side)
	case MaxPool:
		text += fmt.Sprintf(" %d", s.Side)
	case Dropout:
		text += " " + strconv.FormatFloat(s.Rate, 'g', -1, 64)
	}
	if s.NoBias {
		text += " nobias"
	}
	return text
}

// Parameters is the number of the layer's parameters.
func (s LayerSpec) Parameters() int {
	n := s.In * s.Out
	if s.Kind == Conv {
		n *= s.Side * s.Side
	}
	if !s.NoBias {
		n += s.Out
	}
	return n
}

// FormatLayers returns a network as one line: its layers joined by commas.
func FormatLayers(specs []LayerSpec) string {
	texts := make([]string, len(specs))
	for i, s := range specs {
		texts[i] = s.String()
	}
	return strings.Join(texts, ", ")
}

// ParseLayers reads what FormatLayers returns. An empty text is a network without layers,
// which is the identity.
func ParseLayers(text string) ([]LayerSpec, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var specs []LayerSpec
	for _, field := range strings.Split(text, ",") {
		s, err := parseLayer(strings.Fields(field))
		if err != nil {
			return nil, fmt.Errorf("nn: layer %q: %w", strings.TrimSpace(field), err)
		}
		specs = append(specs, s)
	}
	return specs, nil
}

func parseLayer(words []string) (LayerSpec, error) {
	if len(words) == 0 {
		return LayerSpec{}, errors.New("it is empty")
	}
	s := LayerSpec{Kind: Kind(words[0])}
	words = words[1:]
	if i := slices.Index(words, "nobias"); i >= 0 && (s.Kind == Linear || s.Kind == Conv) {
		s.NoBias = true
		words = slices.Delete(slices.Clone(words), i, i+1)
	}
	var numbers []*int
	switch s.Kind {
	case Linear:
		numbers = []*int{&s.In, &s.Out}
	case Conv:
		numbers = []*int{&s.In, &s.Out, &s.Side}
	case MaxPool:
		numbers = []*int{&s.Side}
	case ReLU:
	case Dropout:
		return parseDropout(s, words)
	default:
		return s, errors.New("its kind is unknown")
	}
	return s, parseNumbers(numbers, words)
}

func parseDropout(s LayerSpec, words []string) (LayerSpec, error) {
	if len(words) != 1 {
		return s, errors.New("want one rate")
	}
	rate, err := strconv.ParseFloat(words[0], 64)
	if err != nil || !(rate >= 0 && rate < 1) {
		return s, errors.New("the rate must be in [0, 1)")
	}
	s.Rate = rate
	return s, nil
}

func parseNumbers(numbers []*int, words []string) error {
	if len(words) != len(numbers) {
		return fmt.Errorf("want %d numbers, got %d", len(numbers), len(words))
	}
	for i, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > maxWidth {
			return fmt.Errorf("%q is not a size from 1 to %d", word, maxWidth)
		}
		*numbers[i] = n
	}
	return nil
}
