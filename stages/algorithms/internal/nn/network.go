package nn

import (
	"errors"
	"fmt"
	"slices"
)

// A Network is a list of layers and their parameters. The passes that run it share
// it; only an optimiser writes Params.
type Network struct {
	Specs   []LayerSpec
	Inputs  int       // columns of a row going in
	Outputs int       // columns of a row coming out
	Params  []float32 // of all layers, in order: weights, then biases
	Tensors []Tensor  // where each layer's parameters lie in Params

	blocks []block
}

// A Tensor is the weights or the biases of one layer. In Params a linear layer's weights
// are in×out, which its products read fastest; PyTorch keeps them out×in.
type Tensor struct {
	Layer  int    // index in Specs, which is the index in PyTorch's nn.Sequential
	Name   string // weight or bias
	Shape  []int  // PyTorch's
	Offset int    // first element in Params
	Size   int
}

// A block is a layer and the pooling and ReLU after it, which are computed together.
type block struct {
	layer        LayerSpec
	index        int // of layer in Specs
	relu         bool
	pool         bool
	in, out      []int  // shapes of a row
	weight, bias Tensor // of Size 0 if there is none
	from         int    // add: the block whose input is added
}

// NewNetwork returns a network for rows of the given shape, with all parameters 0. The
// error names the first layer that does not fit the output of the one before it.
func NewNetwork(specs []LayerSpec, input []int) (*Network, error) {
	n := &Network{Specs: slices.Clone(specs), Inputs: size(input)}
	shape := input
	for i := 0; i < len(specs); {
		b, err := n.plan(i, shape)
		if err != nil {
			return nil, fmt.Errorf("nn: layer %d (%s): %w", i, specs[i], err)
		}
		n.blocks = append(n.blocks, b)
		shape = b.out
		i += b.length()
	}
	n.Outputs = size(shape)
	n.Params = make([]float32, n.end())
	return n, nil
}

// length is the number of layers in the block.
func (b block) length() int {
	k := 1
	if b.pool {
		k++
	}
	if b.relu && b.layer.Kind != ReLU {
		k++
	}
	return k
}

// plan fits the block that starts at layer i to rows of the given shape.
func (n *Network) plan(i int, in []int) (block, error) {
	b := block{layer: n.Specs[i], index: i, in: in, out: in}
	var err error
	switch b.layer.Kind {
	case Linear:
		err = n.planLinear(&b)
	case Conv:
		err = n.planConv(&b)
	case GroupNorm:
		err = n.planGroupNorm(&b)
	case LayerNorm:
		err = n.planLayerNorm(&b)
	case Add:
		err = n.planAdd(&b)
	case AvgPool:
		err = planAvgPool(&b)
	case MaxPool:
		err = errors.New("pooling is computed with the convolution before it: there is none")
	case ReLU:
		b.relu = true
	}
	joins := b.layer.Kind != Dropout && b.layer.Kind != AvgPool // with a ReLU after it
	if next := i + b.length(); err == nil && joins && next < len(n.Specs) && n.Specs[next].Kind == ReLU {
		b.relu = true
	}
	return b, err
}

func (n *Network) planLinear(b *block) error {
	l := b.layer
	if l.In != size(b.in) {
		return fmt.Errorf("it takes %d columns and gets %d", l.In, size(b.in))
	}
	b.out = []int{l.Out}
	n.addParameters(b, []int{l.Out, l.In})
	return nil
}

func (n *Network) planConv(b *block) error {
	l := b.layer
	if len(b.in) != 3 || b.in[0] != l.In {
		return fmt.Errorf("it takes images of %d channels and gets rows of shape %v", l.In, b.in)
	}
	height, width := b.in[1]-l.Side+1, b.in[2]-l.Side+1
	if l.Same {
		if l.Side%2 == 0 {
			return fmt.Errorf("only kernels of an odd side keep the image's size: this one has %d", l.Side)
		}
		height, width = b.in[1], b.in[2]
	}
	if height < 1 || width < 1 {
		return fmt.Errorf("its kernel is larger than the image of %d×%d", b.in[1], b.in[2])
	}
	if next := b.index + 1; next < len(n.Specs) && n.Specs[next].Kind == MaxPool {
		if side := n.Specs[next].Side; side != 2 || height%2 != 0 || width%2 != 0 {
			return fmt.Errorf("its output of %d×%d cannot be pooled by %d: only even sides by 2", height, width, side)
		}
		b.pool, height, width = true, height/2, width/2
	}
	b.out = []int{l.Out, height, width}
	n.addParameters(b, []int{l.Out, l.In, l.Side, l.Side})
	return nil
}

func (n *Network) planGroupNorm(b *block) error {
	l := b.layer
	if len(b.in) != 3 || b.in[0] != l.In {
		return fmt.Errorf("it takes images of %d channels and gets rows of shape %v", l.In, b.in)
	}
	if l.In%l.Groups != 0 {
		return fmt.Errorf("%d channels do not fall into %d groups of one size", l.In, l.Groups)
	}
	n.addParameters(b, []int{l.In})
	return nil
}

func (n *Network) planLayerNorm(b *block) error {
	if b.layer.In != size(b.in) {
		return fmt.Errorf("it takes %d columns and gets %d", b.layer.In, size(b.in))
	}
	b.out = []int{b.layer.In}
	n.addParameters(b, []int{b.layer.In})
	return nil
}

func planAvgPool(b *block) error {
	if len(b.in) != 3 {
		return fmt.Errorf("it takes images and gets rows of shape %v", b.in)
	}
	b.out = []int{b.in[0], 1, 1}
	return nil
}

func (n *Network) planAdd(b *block) error {
	b.from = slices.IndexFunc(n.blocks, func(o block) bool { return o.index == b.index-b.layer.Back })
	if b.from < 0 {
		return errors.New("no layer, or one that is computed with the layer before it, is that far back")
	}
	if from := n.blocks[b.from].in; !slices.Equal(from, b.in) {
		return fmt.Errorf("it gets rows of shape %v, and is to add rows of shape %v", b.in, from)
	}
	return nil
}

// addParameters gives the block weights of PyTorch's shape, outputs first, and a bias.
func (n *Network) addParameters(b *block, shape []int) {
	b.weight = Tensor{Layer: b.index, Name: "weight", Shape: shape, Offset: n.end(), Size: size(shape)}
	n.Tensors = append(n.Tensors, b.weight)
	if !b.layer.NoBias {
		b.bias = Tensor{Layer: b.index, Name: "bias", Shape: shape[:1], Offset: n.end(), Size: shape[0]}
		n.Tensors = append(n.Tensors, b.bias)
	}
}

// end is the number of parameters in all tensors so far.
func (n *Network) end() int {
	if len(n.Tensors) == 0 {
		return 0
	}
	last := n.Tensors[len(n.Tensors)-1]
	return last.Offset + last.Size
}

// of returns the tensor's part of a slice laid out as Params.
func (t Tensor) of(params []float32) []float32 { return params[t.Offset : t.Offset+t.Size] }

// Export returns a copy of the tensor's values in PyTorch's order.
func (n *Network) Export(t Tensor, params []float32) []float32 {
	values := slices.Clone(t.of(params))
	if n.transposed(t) {
		transpose(values, t.of(params), t.Shape[1], t.Shape[0])
	}
	return values
}

// Import sets the tensor in params from values in PyTorch's order.
func (n *Network) Import(t Tensor, params, values []float32) {
	if len(values) != t.Size {
		panic("nn: Import: wrong number of values")
	}
	copy(t.of(params), values)
	if n.transposed(t) {
		transpose(t.of(params), values, t.Shape[0], t.Shape[1])
	}
}

func (n *Network) transposed(t Tensor) bool {
	return t.Name == "weight" && n.Specs[t.Layer].Kind == Linear
}

// transpose writes the rows×cols matrix src into dst as cols×rows.
func transpose(dst, src []float32, rows, cols int) {
	for i := range rows {
		for j := range cols {
			dst[j*rows+i] = src[i*cols+j]
		}
	}
}

// InputSize is the number of values that go into a layer, which must not be pooling or a ReLU
// that is computed with the layer before it.
func (n *Network) InputSize(layer int) int {
	b := slices.IndexFunc(n.blocks, func(b block) bool { return b.index == layer })
	return size(n.blocks[b].in)
}

// Clone returns a network with parameters of its own.
func (n *Network) Clone() *Network {
	clone := *n
	clone.Params = slices.Clone(n.Params)
	return &clone
}
