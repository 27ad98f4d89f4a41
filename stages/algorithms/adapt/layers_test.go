package adapt

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"mars.dev/mars/stages/algorithms/internal/nn"
	"mars.dev/mars/stages/algorithms/onnx"
)

// The graph of a network with all kinds of layers, run as ONNX defines its operators, gives what the
// network gives.
func TestNetworkONNX(t *testing.T) {
	specs, err := nn.ParseLayers("conv 2 6 5 same nobias, maxpool 2, groupnorm 2 6, relu, conv 6 6 3 same nobias, groupnorm 3 6, relu, " +
		"conv 6 6 3 same, groupnorm 1 6, add 5, relu, conv 6 4 3, relu, avgpool, dropout 0.5, linear 4 5, layernorm 5, relu, linear 5 3")
	if err != nil {
		t.Fatal(err)
	}
	const rows = 3
	shape := []int{2, 8, 12}
	n, err := nn.NewNetwork(specs, shape)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range n.Params {
		n.Params[i] = 0.5 * float32(rng.NormFloat64())
	}
	x := make([]float32, rows*n.Inputs)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	g := &onnx.Graph{}
	in := g.Input("x", onnx.Float, append([]int{onnx.Rows}, shape...)...)
	g.Output("y", networkONNX(g, n, "n.", in, shape), onnx.Float, onnx.Rows, n.Outputs)
	got := run(t, g, tensor{append([]int{rows}, shape...), x})
	if !slices.Equal(got.shape, []int{rows, n.Outputs}) {
		t.Fatalf("outputs of the shape %v", got.shape)
	}
	for i, want := range n.NewPass(rows, false, nil).Forward(x, rows) {
		if math.Abs(float64(got.v[i]-want)) > 1e-5*(1+math.Abs(float64(want))) {
			t.Errorf("output %d is %v, and the network's is %v", i, got.v[i], want)
		}
	}
}

// A tensor is what an operator takes or gives, row-major; whole numbers are rounded.
type tensor struct {
	shape []int
	v     []float32
}

func newTensor(shape ...int) tensor { return tensor{shape, make([]float32, volume(shape))} }

func volume(shape []int) int {
	n := 1
	for _, k := range shape {
		n *= k
	}
	return n
}

// run gives the output of a graph for its input.
func run(t *testing.T, g *onnx.Graph, x tensor) (y tensor) {
	t.Helper()
	file, err := (&onnx.Model{Graph: g}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := onnx.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]tensor{parsed.Inputs[0]: x}
	for _, c := range parsed.Tensors {
		v := newTensor(c.Shape...)
		for i := range v.v {
			if c.Type == onnx.Int64 {
				v.v[i] = float32(int64(binary.LittleEndian.Uint64(c.Raw[8*i:])))
			} else {
				v.v[i] = math.Float32frombits(binary.LittleEndian.Uint32(c.Raw[4*i:]))
			}
		}
		values[c.Name] = v
	}
	fields(parsed.Graph, func(field protowire.Number, b []byte, _ uint64) {
		if field != 1 {
			return
		}
		o := newOperator(b)
		for _, name := range o.names {
			in, there := values[name]
			if !there {
				t.Fatalf("%s takes %q, which is nowhere", o.op, name)
			}
			o.in = append(o.in, in)
		}
		if y, err = o.run(); err != nil {
			t.Fatalf("%s: %v", o.op, err)
		}
		values[o.out] = y
	})
	return y
}

// An operator is a node of a graph.
type operator struct {
	op, out string
	names   []string // of in
	in      []tensor
	ints    map[string][]int
	epsilon float64
}

// newOperator reads a NodeProto of onnx.proto.
func newOperator(b []byte) operator {
	o := operator{ints: map[string][]int{}}
	fields(b, func(field protowire.Number, b []byte, _ uint64) {
		switch field {
		case 1:
			o.names = append(o.names, string(b))
		case 2:
			o.out = string(b)
		case 4:
			o.op = string(b)
		case 5:
			name := ""
			fields(b, func(field protowire.Number, b []byte, i uint64) {
				switch field {
				case 1:
					name = string(b)
				case 2:
					o.epsilon = float64(math.Float32frombits(uint32(i)))
				case 3, 8:
					o.ints[name] = append(o.ints[name], int(int64(i)))
				}
			})
		}
	})
	return o
}

// fields calls f with the fields of a protobuf message: its bytes, or its number.
func fields(b []byte, f func(field protowire.Number, b []byte, i uint64)) {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		b = b[n:]
		var part []byte
		var i uint64
		switch kind {
		case protowire.BytesType:
			part, n = protowire.ConsumeBytes(b)
		case protowire.Fixed32Type:
			var bits uint32
			bits, n = protowire.ConsumeFixed32(b)
			i = uint64(bits)
		default:
			i, n = protowire.ConsumeVarint(b)
		}
		b = b[n:]
		f(field, part, i)
	}
}

// run computes the operator as https://onnx.ai/onnx/operators says, of what the graphs of networks use.
func (o operator) run() (tensor, error) {
	x := o.in[0]
	switch o.op {
	case "Identity":
		return x, nil
	case "Relu":
		y := newTensor(x.shape...)
		for i, v := range x.v {
			y.v[i] = max(v, 0)
		}
		return y, nil
	case "Shape":
		y := newTensor(len(x.shape))
		for i, k := range x.shape {
			y.v[i] = float32(k)
		}
		return y, nil
	case "Flatten":
		return tensor{[]int{x.shape[0], volume(x.shape[1:])}, x.v}, nil
	case "Reshape":
		return x.reshape(o.in[1].v)
	case "Add":
		return x.combine(o.in[1], func(a, b float32) float32 { return a + b })
	case "Mul":
		return x.combine(o.in[1], func(a, b float32) float32 { return a * b })
	case "Gemm":
		w, bias := o.in[1], o.in[2].v
		y := newTensor(x.shape[0], w.shape[0])
		if o.ints["transB"][0] != 1 || x.shape[1] != w.shape[1] {
			return y, fmt.Errorf("weights %v, attributes %v", w.shape, o.ints)
		}
		for at := range y.v {
			i, j, width := at/w.shape[0], at%w.shape[0], w.shape[1]
			y.v[at] = bias[j]
			for k := range width {
				y.v[at] += x.v[i*width+k] * w.v[j*width+k]
			}
		}
		return y, nil
	case "Conv":
		bias := make([]float32, o.in[1].shape[0])
		if len(o.in) > 2 {
			bias = o.in[2].v
		}
		return x.convolve(o.in[1], bias, o.ints["pads"])
	case "MaxPool":
		side, step := o.ints["kernel_shape"][0], o.ints["strides"][0]
		height, width := x.shape[2], x.shape[3]
		y := newTensor(x.shape[0], x.shape[1], (height-side)/step+1, (width-side)/step+1)
		for at := range y.v {
			c, top, left := at/y.shape[3]/y.shape[2], at/y.shape[3]%y.shape[2]*step, at%y.shape[3]*step
			y.v[at] = float32(math.Inf(-1))
			for i := range side * side {
				y.v[at] = max(y.v[at], x.v[(c*height+top+i/side)*width+left+i%side])
			}
		}
		return y, nil
	case "GlobalAveragePool":
		y := newTensor(x.shape[0], x.shape[1], 1, 1)
		for i, v := range x.v {
			size := len(x.v) / len(y.v)
			y.v[i/size] += v / float32(size)
		}
		return y, nil
	case "InstanceNormalization":
		scale, bias, size := o.in[1], o.in[2], volume(x.shape[2:])
		if !slices.Equal(scale.shape, x.shape[1:2]) || !slices.Equal(bias.shape, x.shape[1:2]) {
			return x, fmt.Errorf("%v channels, scales %v, biases %v", x.shape[1], scale.shape, bias.shape)
		}
		return x.normalise(size, o.epsilon, func(i int) (float32, float32) { k := i / size % x.shape[1]; return scale.v[k], bias.v[k] }), nil
	case "LayerNormalization":
		size := x.shape[len(x.shape)-1]
		if o.ints["axis"][0] != -1 {
			return x, fmt.Errorf("axis %d", o.ints["axis"][0])
		}
		return x.normalise(size, o.epsilon, func(i int) (float32, float32) { return o.in[1].v[i%size], o.in[2].v[i%size] }), nil
	}
	return x, fmt.Errorf("not known here")
}

// reshape gives x other sizes: 0 is as it was, and one of −1 what is left.
func (x tensor) reshape(sizes []float32) (tensor, error) {
	shape, left := make([]int, len(sizes)), -1
	for i, k := range sizes {
		switch shape[i] = int(k); k {
		case 0:
			shape[i] = x.shape[i]
		case -1:
			shape[i], left = 1, i
		}
	}
	if left >= 0 {
		shape[left] = len(x.v) / volume(shape)
	}
	if volume(shape) != len(x.v) {
		return x, fmt.Errorf("%v becomes %v", x.shape, shape)
	}
	return tensor{shape, x.v}, nil
}

// combine is an operator of two tensors, of which the second is repeated along sizes of 1 and in front.
func (x tensor) combine(by tensor, f func(a, b float32) float32) (tensor, error) {
	y, before := newTensor(x.shape...), len(x.shape)-len(by.shape)
	if before < 0 {
		return y, fmt.Errorf("%v with %v", x.shape, by.shape)
	}
	for k, size := range by.shape {
		if size != 1 && size != x.shape[before+k] {
			return y, fmt.Errorf("%v with %v", x.shape, by.shape)
		}
	}
	for at := range y.v {
		from, rest, step := 0, at, 1
		for k := len(by.shape) - 1; k >= 0; k-- {
			if by.shape[k] > 1 {
				from += rest % x.shape[before+k] * step
			}
			rest, step = rest/x.shape[before+k], step*by.shape[k]
		}
		y.v[at] = f(x.v[at], by.v[from])
	}
	return y, nil
}

// convolve has zeros around an image, of the numbers pads: above, left, below and right.
func (x tensor) convolve(w tensor, bias []float32, pads []int) (tensor, error) {
	channels, height, width, side := x.shape[1], x.shape[2], x.shape[3], w.shape[3]
	y := newTensor(x.shape[0], w.shape[0], height+pads[0]+pads[2]-side+1, width+pads[1]+pads[3]-side+1)
	if w.shape[1] != channels || w.shape[2] != side {
		return y, fmt.Errorf("images %v, kernels %v", x.shape, w.shape)
	}
	for at := range y.v {
		row, out := at/volume(y.shape[1:]), at/volume(y.shape[2:])%y.shape[1]
		top, left := at/y.shape[3]%y.shape[2]-pads[0], at%y.shape[3]-pads[1]
		sum := bias[out]
		for i := range channels * side * side {
			c, r, k := i/side/side, top+i/side%side, left+i%side
			if r >= 0 && r < height && k >= 0 && k < width {
				sum += x.v[((row*channels+c)*height+r)*width+k] * w.v[out*channels*side*side+i]
			}
		}
		y.v[at] = sum
	}
	return y, nil
}

// normalise gives each run of size values the mean 0 and the variance 1, and value i then a scale and an offset.
func (x tensor) normalise(size int, epsilon float64, by func(i int) (scale, offset float32)) tensor {
	y := newTensor(x.shape...)
	for lo := 0; lo < len(x.v); lo += size {
		mean, variance := 0.0, 0.0
		for _, v := range x.v[lo : lo+size] {
			mean += float64(v) / float64(size)
		}
		for _, v := range x.v[lo : lo+size] {
			variance += (float64(v) - mean) * (float64(v) - mean) / float64(size)
		}
		for i := lo; i < lo+size; i++ {
			scale, offset := by(i)
			y.v[i] = scale*float32((float64(x.v[i])-mean)/math.Sqrt(variance+epsilon)) + offset
		}
	}
	return y
}
