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
	Linear    Kind = "linear"  // y = x Wᵀ + b
	Conv      Kind = "conv"    // square kernel, stride 1, no padding unless the same size is asked for
	MaxPool   Kind = "maxpool" // square window, stride its side
	AvgPool   Kind = "avgpool" // the mean of each channel: one number a channel is left
	ReLU      Kind = "relu"
	Dropout   Kind = "dropout"   // inverted: values that stay are divided by 1−rate
	GroupNorm Kind = "groupnorm" // Wu & He 2018; of images
	LayerNorm Kind = "layernorm" // Ba et al. 2016; of plain columns
	Add       Kind = "add"       // adds the input of an earlier layer (He et al. 2016)
)

// A LayerSpec describes one layer. As text it is the kind and the numbers, in the order of
// the fields: "linear 200 3", "linear 200 1 nobias", "conv 1 32 5", "conv 16 16 3 same",
// "maxpool 2", "avgpool", "relu", "dropout 0.5", "groupnorm 4 32", "layernorm 128", "add 5".
type LayerSpec struct {
	Kind    Kind
	Groups  int     // of channels of groupnorm, which share a mean and a variance
	In, Out int     // columns of linear, channels of conv; In alone: channels or columns of a norm
	Side    int     // kernel of conv, window of maxpool
	Back    int     // add: how many layers before this one the layer is whose input is added
	Rate    float64 // dropout
	Same    bool    // conv: zeros around the image keep its size; Side is odd
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
	case GroupNorm:
		text += fmt.Sprintf(" %d %d", s.Groups, s.In)
	case LayerNorm:
		text += fmt.Sprintf(" %d", s.In)
	case Add:
		text += fmt.Sprintf(" %d", s.Back)
	case MaxPool:
		text += fmt.Sprintf(" %d", s.Side)
	case Dropout:
		text += " " + strconv.FormatFloat(s.Rate, 'g', -1, 64)
	}
	if s.Same {
		text += " same"
	}
	if s.NoBias {
		text += " nobias"
	}
	return text
}

// Parameters is the number of the layer's parameters.
func (s LayerSpec) Parameters() int {
	n := s.In * s.Out
	switch s.Kind {
	case Conv:
		n *= s.Side * s.Side
	case GroupNorm, LayerNorm:
		n = 2 * s.In
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
	if s.Kind == Linear || s.Kind == Conv {
		words, s.NoBias = cutWord(words, "nobias")
	}
	if s.Kind == Conv {
		words, s.Same = cutWord(words, "same")
	}
	var numbers []*int
	switch s.Kind {
	case Linear:
		numbers = []*int{&s.In, &s.Out}
	case Conv:
		numbers = []*int{&s.In, &s.Out, &s.Side}
	case GroupNorm:
		numbers = []*int{&s.Groups, &s.In}
	case LayerNorm:
		numbers = []*int{&s.In}
	case Add:
		numbers = []*int{&s.Back}
	case MaxPool:
		numbers = []*int{&s.Side}
	case ReLU, AvgPool:
	case Dropout:
		return parseDropout(s, words)
	default:
		return s, errors.New("its kind is unknown")
	}
	return s, parseNumbers(numbers, words)
}

// cutWord returns the words without the given one, and whether it was among them.
func cutWord(words []string, word string) ([]string, bool) {
	i := slices.Index(words, word)
	if i < 0 {
		return words, false
	}
	return slices.Delete(slices.Clone(words), i, i+1), true
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
