package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func network(tb testing.TB, layers string, input ...int) *Network {
	tb.Helper()
	specs, err := ParseLayers(layers)
	if err != nil {
		tb.Fatal(err)
	}
	n, err := NewNetwork(specs, input)
	if err != nil {
		tb.Fatal(err)
	}
	n.Init(rand.New(rand.NewPCG(3, 3)))
	return n
}

func randomRows(n int) []float32 {
	rng := rand.New(rand.NewPCG(9, 9))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// A block that computes several layers together gives the same as the layers one by one:
// pooling, bias and ReLU commute.
func TestBlocksAgreeWithSingleLayers(t *testing.T) {
	whole := network(t, "conv 2 3 3, maxpool 2, relu, linear 12 4, relu", 2, 6, 6)
	parts := []*Network{network(t, "conv 2 3 3", 2, 6, 6), network(t, "relu", 48), network(t, "linear 12 4", 12), network(t, "relu", 4)}
	copy(parts[0].Params, whole.Params)
	copy(parts[2].Params, whole.Params[len(parts[0].Params):])
	const rows = 3
	x := randomRows(rows * 72)
	y := x
	for i, n := range parts {
		y = slices.Clone(n.NewPass(rows, false, nil).Forward(y, rows))
		if i == 1 {
			y = pooled(y, rows*3, 4, 4)
		}
	}
	got := whole.NewPass(rows, false, nil).Forward(x, rows)
	for i := range y {
		if math.Abs(float64(got[i]-y[i])) > 1e-6 {
			t.Fatalf("value %d: %g at once, %g one by one", i, got[i], y[i])
		}
	}
}

// A batch gives the same as its rows one by one, forward and backward, on images with odd
// sides, with channels that do not fill a tile, and with a group that is not full.
func TestConvolutionsOfAnyShape(t *testing.T) {
	for _, test := range []struct {
		layers string
		shape  []int
	}{
		{"conv 3 5 3, relu, conv 5 9 2", []int{3, 7, 9}},
		{"conv 1 6 5, maxpool 2, relu, conv 6 3 4, maxpool 2", []int{1, 14, 14}},
		{"conv 2 7 3 nobias, maxpool 2, conv 7 4 1, relu", []int{2, 6, 8}},
		{"relu, conv 2 1 2, dropout 0, conv 1 2 5", []int{2, 6, 7}},
		{"conv 1 1 5, conv 1 1 1", []int{1, 5, 5}},
	} {
		n := network(t, test.layers, test.shape...)
		for _, tensor := range n.Tensors {
			if tensor.Name == "bias" {
				clear(tensor.of(n.Params))
			}
		}
		for i := range n.Params {
			n.Params[i] *= 20
		}
		const rows = 11
		x, dy := randomRows(rows*n.Inputs), randomRows(rows*n.Outputs)
		all := n.NewPass(rows, true, nil)
		y := slices.Clone(all.Forward(x, rows))
		dx := slices.Clone(all.Backward(slices.Clone(dy), rows, true))
		one := n.NewPass(1, true, nil)
		for i := range rows {
			near(t, test.layers+": output", y[i*n.Outputs:(i+1)*n.Outputs], one.Forward(x[i*n.Inputs:(i+1)*n.Inputs], 1))
			near(t, test.layers+": gradient of the input", dx[i*n.Inputs:(i+1)*n.Inputs],
				one.Backward(slices.Clone(dy[i*n.Outputs:(i+1)*n.Outputs]), 1, true))
		}
		near(t, test.layers+": gradient", all.Grads, one.Grads)
		checkEuler(t, n, test.layers, x, y, dy, dx, all.Grads)
	}
}

// Norms, residual connections and means of channels give the same for a batch as for its
// rows one by one: nothing depends on the other rows.
func TestNormsKnowNoOtherRow(t *testing.T) {
	for _, test := range []struct {
		layers string
		shape  []int
	}{
		{"groupnorm 1 3", []int{3, 3, 5}},
		{"conv 2 6 3 same nobias, groupnorm 3 6, relu, conv 6 4 3, groupnorm 4 4", []int{2, 5, 7}},
		{"linear 9 7, layernorm 7, relu, linear 7 7 nobias, layernorm 7, add 2", []int{9}},
		{"conv 1 4 5 nobias, maxpool 2, groupnorm 2 4, relu, conv 4 4 3 same, add 1, relu, conv 4 4 1, add 3, avgpool", []int{1, 12, 12}},
		{"relu, add 1, conv 2 2 3 same, add 1, layernorm 32", []int{2, 4, 4}},
	} {
		n := network(t, test.layers, test.shape...)
		for i := range n.Params {
			n.Params[i] += 0.01 * float32(i%7)
		}
		const rows = 11
		x, dy := randomRows(rows*n.Inputs), randomRows(rows*n.Outputs)
		all, one := n.NewPass(rows, true, nil), n.NewPass(1, true, nil)
		use := n.NewPass(rows, false, nil)
		y := slices.Clone(all.Forward(x, rows))
		if !slices.Equal(use.Forward(x, rows), y) {
			t.Errorf("%s: training and use differ", test.layers)
		}
		dx := slices.Clone(all.Backward(slices.Clone(dy), rows, true))
		for i := range rows {
			near(t, test.layers+": output", y[i*n.Outputs:(i+1)*n.Outputs], one.Forward(x[i*n.Inputs:(i+1)*n.Inputs], 1))
			near(t, test.layers+": gradient of the input", dx[i*n.Inputs:(i+1)*n.Inputs],
				one.Backward(slices.Clone(dy[i*n.Outputs:(i+1)*n.Outputs]), 1, true))
		}
		near(t, test.layers+": gradient", all.Grads, one.Grads)
		checkDirection(t, n, test.layers, x, dy, dx, all.Grads)
	}
}

// checkDirection compares gradients with the difference of outputs along a direction of
// inputs and parameters.
func checkDirection(t *testing.T, n *Network, name string, x, dy, dx, grads []float32) {
	t.Helper()
	const h = 3e-4
	rng := rand.New(rand.NewPCG(4, 4))
	want, moves := 0.0, make([]float64, len(x)+len(n.Params))
	for i := range moves {
		moves[i] = rng.NormFloat64()
	}
	value := func(step float64) float64 {
		moved, at := n.Clone(), slices.Clone(x)
		for i := range at {
			at[i] += float32(step * moves[i])
		}
		for i := range moved.Params {
			moved.Params[i] += float32(step * moves[len(x)+i])
		}
		rows := len(x) / n.Inputs
		return product(dy, moved.NewPass(rows, false, nil).Forward(at, rows))
	}
	for i, d := range dx {
		want += float64(d) * moves[i]
	}
	for i, d := range grads {
		want += float64(d) * moves[len(x)+i]
	}
	if got := (value(h) - value(-h)) / (2 * h); math.Abs(got-want) > 0.03*(1+math.Abs(want)) {
		t.Errorf("%s: the outputs change by %g along a direction, the gradients say %g", name, got, want)
	}
}

// checkEuler checks Euler's theorem. Without biases the outputs are homogeneous of degree 1
// in the inputs and in each layer's weights, so <gradient, values> = <dy, y> for each.
func checkEuler(t *testing.T, n *Network, name string, x, y, dy, dx, grads []float32) {
	t.Helper()
	want := product(dy, y)
	if got := product(dx, x); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
		t.Errorf("%s: inputs: %g, want %g", name, got, want)
	}
	for _, tensor := range n.Tensors {
		if tensor.Name != "weight" {
			continue
		}
		if got := product(tensor.of(grads), tensor.of(n.Params)); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("%s: weights of layer %d: %g, want %g", name, tensor.Layer, got, want)
		}
	}
}

func product(x, y []float32) float64 {
	sum := 0.0
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-4*(1+math.Abs(float64(want[i]))) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

func pooled(x []float32, planes, height, width int) []float32 {
	var y []float32
	for p := range planes {
		for r := 0; r < height; r += 2 {
			for c := 0; c < width; c += 2 {
				at := (p*height+r)*width + c
				y = append(y, max(x[at], x[at+1], x[at+width], x[at+width+1]))
			}
		}
	}
	return y
}

func TestDropout(t *testing.T) {
	n := network(t, "dropout 0.25", 50)
	const rows = 400
	x := slices.Repeat([]float32{2}, rows*50)
	p := n.NewPass(rows, true, rand.New(rand.NewPCG(1, 2)))
	y := p.Forward(x, rows)
	dropped := 0
	for _, v := range y {
		switch v {
		case 0:
			dropped++
		case 2 / 0.75:
		default:
			t.Fatalf("a 2 became %g", v)
		}
	}
	if share := float64(dropped) / float64(len(y)); math.Abs(share-0.25) > 0.02 {
		t.Errorf("%g of the values were dropped", share)
	}
	kept := slices.Clone(y)
	dx := p.Backward(slices.Repeat([]float32{1}, rows*50), rows, true)
	for i := range dx {
		if dx[i] != kept[i]/2 {
			t.Fatal("the gradient does not pass where the value did")
		}
	}
	p.SetDropout(false)
	if !slices.Equal(p.Forward(x, rows), x) {
		t.Error("switched off, it still drops")
	}
	if !slices.Equal(n.NewPass(rows, false, nil).Forward(x, rows), x) {
		t.Error("a pass for inference drops")
	}
}

// A network without layers returns rows and gradients unchanged.
func TestNetworkWithoutLayers(t *testing.T) {
	n := network(t, "", 4)
	p := n.NewPass(2, true, nil)
	x := randomRows(8)
	if !slices.Equal(p.Forward(x, 2), x) || !slices.Equal(p.Backward(x, 2, true), x) || n.Outputs != 4 {
		t.Error("the identity changes something")
	}
}

func TestCrossEntropy(t *testing.T) {
	logits := []float32{1, 2, 3, 0, 0, 0}
	loss := CrossEntropy(logits, 2, 3, []int32{2, 0}, []float32{1, 0.5})
	sum := math.Exp(1) + math.Exp(2) + math.Exp(3)
	if want := math.Log(sum) - 3 + 0.5*math.Log(3); math.Abs(loss-want) > 1e-6 {
		t.Errorf("loss %g, want %g", loss, want)
	}
	want := []float64{math.Exp(1) / sum, math.Exp(2) / sum, math.Exp(3)/sum - 1, -1.0 / 3, 1.0 / 6, 1.0 / 6}
	for i, w := range want {
		if math.Abs(float64(logits[i])-w) > 1e-6 {
			t.Errorf("gradient %d: %g, want %g", i, logits[i], w)
		}
	}
}

// Where ∇v is 0 the penalty has no gradient; it must count as 0 and not become NaN.
func TestPenaltyWhereTheCriticIsFlat(t *testing.T) {
	n := network(t, "linear 3 4 nobias, relu, linear 4 1 nobias", 3)
	clear(n.Params)
	p := n.NewCriticPass(2)
	value, penalty := p.Loss(randomRows(6), []float32{1, -1}, nil, 0, 5)
	if value != 0 || penalty != 2 {
		t.Errorf("value %g, penalty %g", value, penalty)
	}
	for _, g := range p.Grads {
		if g != 0 {
			t.Fatalf("gradient %g", g)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	n := network(t, "linear 3 4, relu, linear 4 1 nobias", 3)
	biased := network(t, "linear 3 4, relu, linear 4 1", 3)
	for name, f := range map[string]func(){
		"too many rows":         func() { n.NewPass(2, false, nil).Forward(make([]float32, 9), 3) },
		"wrong width":           func() { n.NewPass(2, false, nil).Forward(make([]float32, 7), 2) },
		"critic's rows":         func() { n.NewCriticPass(2).Loss(make([]float32, 9), make([]float32, 3), nil, 0, 1) },
		"critic's interpolates": func() { n.NewCriticPass(5).Loss(make([]float32, 9), make([]float32, 3), make([]float32, 2), 0, 1) },
		"critic with bias":      func() { biased.NewCriticPass(2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
