package nn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Arch describes the three networks of domain adaptation, the representation g,
// the classifier h and the critic v, each as a list of layers.
type Arch struct {
	Name    string // what ParseArch was given, "auto" resolved
	Input   []int  // C, H, W of an image or one number of columns
	Classes int
	G, H, V []LayerSpec
}

// ArchNames are the names that ParseArch knows, for help texts. A name that ends in
// a colon is followed by widths.
var ArchNames = []string{"toy", "visda", "office", "digits", "ganin", "digits-gn", "resnet8", "mlp:", "identity", "auto"}

// ParseArch builds the named networks for rows of the given shape (C, H, W of an
// image, or one number of columns) and number of classes:
//
//	toy       d→200→200→200 with ReLU after every layer; h 200→200→C; v 200→200→200→1 without biases
//	visda     d→100→100; h 100→100→C with dropout 0.5; v 100→100→1
//	office    d→100→50; h 50→50→C; v 50→50→1
//	digits    conv 5×5×32, pool, conv 5×5×20, pool, 128; h 128→100→C; v 128→100→10→1
//	ganin     conv 5×5×32, pool, conv 5×5×48, pool; h →100→100→C; v →100→1
//	digits-gn conv 5×5×32, pool, conv 5×5×48, pool, each with group norm, 128 with layer norm; h 128→C; v 128→100→10→1
//	resnet8   seven 3×3 convolutions with group norm, two residual pairs among them, the mean of 64 channels; h 64→C; v 64→100→1
//	mlp:a-b-c a→b→c with ReLU between, a the width of a row; h c→c→C; v c→c→1
//	identity  the features themselves; h linear; v d→100→1
//	auto      for images of a size that they take, ganin in colour and digits otherwise; else mlp:d-100-100
func ParseArch(name string, input []int, classes int) (Arch, error) {
	if err := CheckShape(input); err != nil {
		return Arch{}, err
	}
	if classes < 2 {
		return Arch{}, fmt.Errorf("nn: %d class: a classifier needs at least two", classes)
	}
	a := Arch{Name: resolveAuto(name, input), Input: slices.Clone(input), Classes: classes}
	d := size(input)
	switch a.Name {
	case "toy":
		a.G = layers("linear %d 200, relu, linear 200 200, relu, linear 200 200, relu", d)
		a.H = layers("linear 200 200, relu, linear 200 %d", classes)
		a.V = layers("linear 200 200 nobias, relu, linear 200 200 nobias, relu, linear 200 1 nobias")
	case "visda":
		a.G = layers("linear %d 100, relu, linear 100 100", d)
		a.H = layers("linear 100 100, relu, dropout 0.5, linear 100 %d", classes)
		a.V = layers("linear 100 100, relu, linear 100 1 nobias")
	case "office":
		a.G = layers("linear %d 100, relu, linear 100 50", d)
		a.H = layers("linear 50 50, relu, linear 50 %d", classes)
		a.V = layers("linear 50 50, relu, linear 50 1 nobias")
	case "resnet8":
		if err := a.residual(); err != nil {
			return Arch{}, err
		}
	case "digits", "ganin", "digits-gn":
		if err := a.convolutional(); err != nil {
			return Arch{}, err
		}
	case "identity":
		a.H = layers("linear %d %d", d, classes)
		a.V = layers("linear %d 100, relu, linear 100 1 nobias", d)
	default:
		if err := a.multilayer(); err != nil {
			return Arch{}, err
		}
	}
	return a, nil
}

// CheckShape returns an error unless the shape is one number of columns, or C, H and W of
// an image, and no larger than a network may be.
func CheckShape(shape []int) error {
	if len(shape) != 1 && len(shape) != 3 {
		return fmt.Errorf("nn: input shape %v: want one number of columns, or C, H and W of an image", shape)
	}
	n := 1
	for _, k := range shape {
		if k < 1 || k > maxWidth || n*k > maxWidth {
			return fmt.Errorf("nn: input shape %v: every size must be at least 1, and the product at most %d", shape, maxWidth)
		}
		n *= k
	}
	return nil
}

// resolveAuto picks the architecture that fits the rows.
func resolveAuto(name string, input []int) string {
	switch {
	case name != "auto" && name != "":
		return name
	case len(input) == 3 && pooledTwice(input[1]) > 0 && pooledTwice(input[2]) > 0:
		if input[0] == 3 {
			return "ganin"
		}
		return "digits"
	}
	return fmt.Sprintf("mlp:%d-100-100", size(input))
}

// pooledTwice is the side of an image after two 5×5 convolutions, each with 2×2 pooling
// after it, or 0 if the side is too short, or odd before pooling.
func pooledTwice(side int) int {
	for range 2 {
		if side -= 4; side < 2 || side%2 != 0 {
			return 0
		}
		side /= 2
	}
	return side
}

func (a *Arch) convolutional() error {
	if len(a.Input) != 3 {
		return fmt.Errorf("nn: arch %s: rows are %v columns without an image shape: give images (C, H, W), or choose mlp", a.Name, a.Input)
	}
	h, w := pooledTwice(a.Input[1]), pooledTwice(a.Input[2])
	if h == 0 || w == 0 {
		return fmt.Errorf("nn: arch %s: images of %d×%d are too small or odd for two 5×5 convolutions with 2×2 pooling: resize them, to 28×28 for instance", a.Name, a.Input[1], a.Input[2])
	}
	flat := 48 * h * w
	switch a.Name {
	case "ganin":
		a.G = layers("conv %d 32 5, maxpool 2, relu, conv 32 48 5, maxpool 2, relu", a.Input[0])
		a.H = layers("linear %d 100, relu, linear 100 100, relu, linear 100 %d", flat, a.Classes)
		a.V = layers("linear %d 100, relu, linear 100 1 nobias", flat)
		return nil
	case "digits-gn":
		a.G = layers("conv %d 32 5 nobias, maxpool 2, groupnorm 4 32, relu, conv 32 48 5 nobias, maxpool 2, groupnorm 4 48, relu, "+
			"linear %d 128, layernorm 128, relu", a.Input[0], flat)
		a.H = layers("linear 128 %d", a.Classes)
		a.V = layers("linear 128 100, relu, linear 100 10, relu, linear 10 1 nobias")
		return nil
	}
	a.G = layers("conv %d 32 5, maxpool 2, relu, conv 32 20 5, maxpool 2, relu, linear %d 128, relu", a.Input[0], 20*h*w)
	a.H = layers("linear 128 100, relu, linear 100 %d", a.Classes)
	a.V = layers("linear 128 100, relu, linear 100 10, relu, linear 10 1 nobias")
	return nil
}

// residual is a small residual network (He et al. 2016) that pools instead of striding, so
// that it needs no projections.
func (a *Arch) residual() error {
	if len(a.Input) != 3 || a.Input[1]%4 != 0 || a.Input[2]%4 != 0 {
		return fmt.Errorf("nn: arch %s: rows are %v: give images (C, H, W) with sides that 4 divides, such as 32×32, or choose another architecture", a.Name, a.Input)
	}
	const pair = "conv %[1]d %[1]d 3 same nobias, groupnorm %[2]d %[1]d, relu, conv %[1]d %[1]d 3 same nobias, groupnorm %[2]d %[1]d, add 5, relu"
	a.G = layers("conv %d 16 3 same nobias, groupnorm 2 16, relu, conv 16 32 3 same nobias, maxpool 2, groupnorm 4 32, relu, "+
		fmt.Sprintf(pair, 32, 4)+", conv 32 64 3 same nobias, maxpool 2, groupnorm 8 64, relu, "+fmt.Sprintf(pair, 64, 8)+", avgpool", a.Input[0])
	a.H = layers("linear 64 %d", a.Classes)
	a.V = layers("linear 64 100, relu, linear 100 1 nobias")
	return nil
}

// multilayer reads "mlp:2048-100-100".
func (a *Arch) multilayer() error {
	list, ok := strings.CutPrefix(a.Name, "mlp:")
	if !ok {
		return fmt.Errorf("nn: arch %q is unknown: want one of %s", a.Name, strings.Join(ArchNames, ", "))
	}
	var widths []int
	for _, field := range strings.Split(list, "-") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > maxWidth {
			return fmt.Errorf("nn: arch %q: %q is not a layer width: want numbers joined by dashes, such as mlp:2048-100-100", a.Name, field)
		}
		widths = append(widths, n)
	}
	if d := size(a.Input); len(widths) < 2 || widths[0] != d {
		return fmt.Errorf("nn: arch %q: the first of at least two widths must be the %d columns of a row: try mlp:%d-100-100", a.Name, d, d)
	}
	for i := range len(widths) - 1 {
		if i > 0 {
			a.G = append(a.G, LayerSpec{Kind: ReLU})
		}
		a.G = append(a.G, LayerSpec{Kind: Linear, In: widths[i], Out: widths[i+1]})
	}
	z := widths[len(widths)-1]
	a.H = layers("linear %d %d, relu, linear %d %d", z, z, z, a.Classes)
	a.V = layers("linear %d %d, relu, linear %d 1 nobias", z, z, z)
	return nil
}

// layers formats and parses a specification that is known to be valid.
func layers(format string, args ...any) []LayerSpec {
	specs, err := ParseLayers(fmt.Sprintf(format, args...))
	if err != nil {
		panic(err)
	}
	return specs
}

// size is the number of values of a shape.
func size(shape []int) int {
	n := 1
	for _, k := range shape {
		n *= k
	}
	return n
}
