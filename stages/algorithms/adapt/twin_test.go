package adapt

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mars.dev/mars/internal/race"
	"mars.dev/mars/stages/algorithms/internal/nn"
)

// The naive twin of the engine: networks and losses in float64 and plain loops, with
// weights in PyTorch's order. A dual number has a value and its derivative along one
// direction. That gives the critic's gradient without the algebra of nn.CriticPass.
type dual struct{ value, slope float64 }

// twin is a network's layers and their weights and biases, by layer.
type twin struct {
	specs  []nn.LayerSpec
	weight [][]float64
	bias   [][]float64
}

func newTwin(net *nn.Network) *twin {
	w := &twin{specs: net.Specs, weight: make([][]float64, len(net.Specs)), bias: make([][]float64, len(net.Specs))}
	for _, t := range net.Tensors {
		var values []float64
		for _, v := range net.Export(t, net.Params) {
			values = append(values, float64(v))
		}
		if t.Name == "weight" {
			w.weight[t.Layer] = values
		} else {
			w.bias[t.Layer] = values
		}
	}
	return w
}

// tensors returns the twin's parameters by the names of a model file.
func (w *twin) tensors(letter string) map[string][]float64 {
	all := map[string][]float64{}
	for i := range w.specs {
		if w.weight[i] != nil {
			all[fmt.Sprintf("%s.%d.weight", letter, i)] = w.weight[i]
		}
		if w.bias[i] != nil {
			all[fmt.Sprintf("%s.%d.bias", letter, i)] = w.bias[i]
		}
	}
	return all
}

// forward runs one row of the given shape.
func (w *twin) forward(x []dual, shape []int) []dual {
	var inputs [][]dual
	for i, s := range w.specs {
		inputs = append(inputs, x)
		switch s.Kind {
		case nn.Linear:
			x, shape = w.linear(i, x), []int{s.Out}
		case nn.Conv:
			if s.Same {
				x, shape = padded(x, shape, s.Side/2)
			}
			x, shape = w.conv(i, x, shape)
		case nn.GroupNorm:
			x = w.norm(i, x, s.Groups)
		case nn.LayerNorm:
			x = w.norm(i, x, 1)
		case nn.Add:
			x = sum(x, inputs[i-s.Back])
		case nn.AvgPool:
			x, shape = avgPool(x, shape[0]), []int{shape[0], 1, 1}
		case nn.MaxPool:
			x, shape = maxPool(x, shape)
		case nn.ReLU:
			x = relu(x)
		}
	}
	return x
}

func (w *twin) linear(i int, x []dual) []dual {
	y := make([]dual, w.specs[i].Out)
	for o := range y {
		if w.bias[i] != nil {
			y[o].value = w.bias[i][o]
		}
		for j, xj := range x {
			weight := w.weight[i][o*len(x)+j]
			y[o].value += weight * xj.value
			y[o].slope += weight * xj.slope
		}
	}
	return y
}

func (w *twin) conv(i int, x []dual, shape []int) ([]dual, []int) {
	s := w.specs[i]
	height, width := shape[1]-s.Side+1, shape[2]-s.Side+1
	y := make([]dual, s.Out*height*width)
	for o := range s.Out {
		for r := range height {
			for c := range width {
				var sum dual
				if w.bias[i] != nil {
					sum.value = w.bias[i][o]
				}
				for k := range s.In * s.Side * s.Side {
					in, dr, dc := k/(s.Side*s.Side), k/s.Side%s.Side, k%s.Side
					xk := x[(in*shape[1]+r+dr)*shape[2]+c+dc]
					sum.value += w.weight[i][o*s.In*s.Side*s.Side+k] * xk.value
				}
				y[(o*height+r)*width+c] = sum
			}
		}
	}
	return y, []int{s.Out, height, width}
}

// norm brings each of the groups of x to mean 0 and variance 1. It has no use for slopes.
func (w *twin) norm(i int, x []dual, groups int) []dual {
	y := make([]dual, len(x))
	each, plane := len(x)/groups, len(x)/len(w.weight[i])
	for g := range groups {
		var mean, variance float64
		for _, v := range x[g*each : (g+1)*each] {
			mean += v.value / float64(each)
		}
		for _, v := range x[g*each : (g+1)*each] {
			variance += (v.value - mean) * (v.value - mean) / float64(each)
		}
		for k := g * each; k < (g+1)*each; k++ {
			c := k / plane
			y[k].value = (x[k].value-mean)/math.Sqrt(variance+1e-5)*w.weight[i][c] + w.bias[i][c]
		}
	}
	return y
}

func padded(x []dual, shape []int, margin int) ([]dual, []int) {
	height, width := shape[1]+2*margin, shape[2]+2*margin
	y := make([]dual, shape[0]*height*width)
	for i, v := range x {
		plane, r, c := i/(shape[1]*shape[2]), i/shape[2]%shape[1], i%shape[2]
		y[(plane*height+r+margin)*width+c+margin] = v
	}
	return y, []int{shape[0], height, width}
}

func sum(x, y []dual) []dual {
	z := make([]dual, len(x))
	for i := range z {
		z[i].value = x[i].value + y[i].value
	}
	return z
}

func avgPool(x []dual, channels int) []dual {
	y := make([]dual, channels)
	plane := len(x) / channels
	for i, v := range x {
		y[i/plane].value += v.value / float64(plane)
	}
	return y
}

func maxPool(x []dual, shape []int) ([]dual, []int) {
	height, width := shape[1]/2, shape[2]/2
	y := make([]dual, shape[0]*height*width)
	for i := range y {
		plane, r, c := i/(height*width), i/width%height, i%width
		y[i].value = math.Inf(-1)
		for k := range 4 {
			if v := x[(plane*shape[1]+2*r+k/2)*shape[2]+2*c+k%2]; v.value > y[i].value {
				y[i] = v
			}
		}
	}
	return y, []int{shape[0], height, width}
}

func relu(x []dual) []dual {
	y := make([]dual, len(x))
	for i, v := range x {
		if v.value > 0 {
			y[i] = v
		}
	}
	return y
}

func duals(row []float32) []dual {
	x := make([]dual, len(row))
	for i, v := range row {
		x[i].value = float64(v)
	}
	return x
}

// naive computes the losses of a trainer's batch with the twins of g, h and v.
type naive struct {
	tr      *trainer
	g, h, v *twin
}

// embed is z = g(x) of one row.
func (n naive) embed(x []float32) []dual { return n.g.forward(duals(x), n.tr.arch.Input) }

func crossEntropy(logits []dual, label int) float64 {
	var sum float64
	for _, l := range logits {
		sum += math.Exp(l.value)
	}
	return math.Log(sum) - logits[label].value
}

// rows returns the batch's embeddings of both domains.
func (n naive) rows() (source, target [][]dual) {
	d, b := n.tr.g.Inputs, n.tr.batch
	for _, i := range b.source {
		source = append(source, n.embed(n.tr.problem.Source.Data[int(i)*d:int(i+1)*d]))
	}
	for _, i := range b.target {
		target = append(target, n.embed(n.tr.problem.Target.Data[int(i)*d:int(i+1)*d]))
	}
	return source, target
}

// distance is L_wd of Algorithm 1, Σ w_i v(z_i^s) − (1+β) mean v(z^t). Its fast twins are
// nn.CriticPass.InputGradient and the first sum of nn.CriticPass.Loss.
func (n naive) distance(source, target [][]dual) float64 {
	var sum float64
	for i, z := range source {
		sum += float64(n.tr.batch.critic[i]) * n.v.forward(z, nil)[0].value
	}
	for _, z := range target {
		sum -= (1 + n.tr.config.Method.Beta) / float64(len(target)) * n.v.forward(z, nil)[0].value
	}
	return sum
}

// main is what g and h minimise: Σ c_i L + λ L_wd.
func (n naive) main() float64 {
	source, target := n.rows()
	var loss float64
	for i, z := range source {
		loss += float64(n.tr.batch.class[i]) * crossEntropy(n.h.forward(z, nil), int(n.tr.batch.labels[i]))
	}
	switch n.tr.config.Method.align {
	case alignWasserstein:
		loss += oracleLambda * n.distance(source, target)
	case alignAdversarial:
		loss -= oracleLambda * n.domain()
	}
	return loss
}

// domain is the loss of DANN's domain classifier.
func (n naive) domain() float64 {
	source, target := n.rows()
	var loss float64
	for i := range source {
		loss += crossEntropy(n.v.forward(source[i], nil), 0) + crossEntropy(n.v.forward(target[i], nil), 1)
	}
	return loss / float64(len(source))
}

// critic is what v minimises, −L_wd + L_grad. Its fast twin is nn.CriticPass.Loss.
func (n naive) critic() float64 {
	source, target := n.rows()
	points := [][]dual{}
	for i, t := range n.tr.batch.interpolation {
		between := make([]dual, len(source[i]))
		for j := range between {
			between[j].value = source[i][j].value + float64(t)*(target[i][j].value-source[i][j].value)
		}
		points = append(points, between)
	}
	if n.tr.config.PenaltyPoints == PenaltyAll {
		points = append(append(points, source...), target...)
	}
	var penalty float64
	for _, z := range points {
		var square float64
		for j := range z {
			z[j].slope = 1
			slope := n.v.forward(z, nil)[0].slope
			square += slope * slope
			z[j].slope = 0
		}
		penalty += math.Pow(math.Sqrt(square)-1, 2) / float64(len(points))
	}
	return -n.distance(source, target) + oracleGamma*penalty
}

// differences are the central differences of the loss with respect to values.
func differences(values []float64, loss func() float64) []float64 {
	const h = 1e-6
	d := make([]float64, len(values))
	for i, v := range values {
		values[i] = v + h
		above := loss()
		values[i] = v - h
		d[i] = (above - loss()) / (2 * h)
		values[i] = v
	}
	return d
}

// Compares the gradient of every loss with respect to every parameter with differences of
// the twin.
func TestGradientsAgreeWithFiniteDifferences(t *testing.T) {
	var cases []gradientCase
	readOracle(t, "gradients.json", &cases)
	for _, c := range cases {
		// Images are slow in plain loops: for them fewer methods suffice.
		if c.Arch.Name == "conv" && c.Method == "wd" || strings.Contains(c.Arch.G, "norm") && c.Method != "source" {
			continue
		}
		if race.Detector && c.Arch.Name != "deep" {
			continue // two minutes of plain loops
		}
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			tr := oracleTrainer(t, c.oracleRun, 2, 3)
			tr.nextBatch(false)
			n := naive{tr: tr, g: newTwin(tr.g), h: newTwin(tr.h)}
			twins := []*twin{n.g, n.h}
			if tr.v != nil {
				n.v = newTwin(tr.v)
				twins = append(twins, n.v)
			}
			tr.pool.run(tr.phases.main)
			want := map[string][]float64{}
			for i, w := range twins[:2] {
				for name, values := range w.tensors(networkNames[i]) {
					want[name] = differences(values, n.main)
				}
			}
			if c.Method == "dann" {
				for name, values := range n.v.tensors("v") {
					want[name] = differences(values, n.domain)
				}
			}
			checkGradients(t, tr, want)
			if tr.config.Method.align != alignWasserstein {
				return
			}
			tr.pool.run(tr.phases.critic)
			want = map[string][]float64{}
			for name, values := range n.v.tensors("v") {
				want[name] = differences(values, n.critic)
			}
			if checkGradients(t, tr, want) == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}
