package train

// A task is an iteration to compare. stages/algorithms/adapt/bench_test.go and tasks.py define it.
type task struct {
	name, title string
	flops       float64
	goals       [maxThreads]goal // by threads − 1
}

// A goal is the share of the peak and the ratios that ours should reach; 0 is no goal.
type goal struct{ share, pytorch, jax float64 }

const maxThreads = 2

var tasks = []task{
	{"2048", "2048→100→100, batch 128", dense2048(), [maxThreads]goal{{0.6, 3.5, 1.5}, {0.6, 6, 2.5}}},
	{"toy", "toy network, batch 120", toy(), [maxThreads]goal{{0, 1.4, 0}, {0, 1.9, 0}}},
	{"digits", "digits CNN, batch 200", digits(), [maxThreads]goal{{0, 1.7, 0}, {0, 2, 0}}},
	{"digits-gn", "self-training's CNN, batch 128", digitsGN(), [maxThreads]goal{{0, 3, 0}, {0, 3, 0}}},
}

// The functions below count the operations of the matrix products and convolutions that
// an iteration needs, 2·m·n·k each. Passes that can be shared count once; elementwise work
// and products with a vector do not count.

const criticSteps = 10

func dense2048() float64 {
	return criticSteps*criticStep(2*128, 128, false, 100, 100) +
		training(2*128, false, 2048, 100, 100) +
		training(128, true, 100, 100, 3) +
		valueGradient(2*128, 100, 100)
}

func toy() float64 {
	return criticSteps*criticStep(2*120, 120, true, 200, 200, 200) +
		training(2*120, false, 2, 200, 200, 200) +
		training(120, true, 200, 200, 3) +
		valueGradient(2*120, 200, 200, 200)
}

// digits has three products of the second convolution, and two of the first, whose
// input needs no gradient.
func digits() float64 {
	return 2*product(200*24*24, 1*5*5, 32) + 3*product(200*8*8, 32*5*5, 20) +
		training(200, true, 320, 128, 100, 10)
}

// digitsGN is the same of the network with norms.
func digitsGN() float64 {
	return 2*product(128*24*24, 1*5*5, 32) + 3*product(128*8*8, 32*5*5, 48) +
		training(128, true, 768, 128) + training(128, true, 128, 10)
}

func product(m, k, n int) float64 { return 2 * float64(m) * float64(k) * float64(n) }

// forward is a pass of rows through linear layers of the given widths.
func forward(rows int, widths ...int) float64 {
	var sum float64
	for i, width := range widths[1:] {
		sum += product(rows, widths[i], width)
	}
	return sum
}

// training is forward and backward: the gradients of every layer's weights and of its
// input, that of the first layer's input only if wanted.
func training(rows int, wanted bool, widths ...int) float64 {
	sum := 3 * forward(rows, widths...)
	if !wanted {
		sum -= forward(rows, widths[:2]...)
	}
	return sum
}

// valueGradient is one pass forward and one back through the critic's hidden layers.
func valueGradient(rows int, widths ...int) float64 { return 2 * forward(rows, widths...) }

// criticStep is the critic's gradient on rows of both domains and interpolates between
// them; with all, the rows carry the penalty too. It has a pass forward, in which the first
// layer's values of the interpolates are interpolated; a pass back, as far as the input only
// for points with a penalty; a pass forward again for these, without the last hidden layer;
// and the products of the gradients. See nn.CriticPass.
func criticStep(rows, interpolates int, all bool, widths ...int) float64 {
	points, penalised := rows+interpolates, interpolates
	if all {
		penalised = points
	}
	return forward(rows, widths[:2]...) + 2*forward(points, widths[1:]...) +
		forward(penalised, widths[:2]...) + forward(penalised, widths[:len(widths)-1]...) + forward(points, widths...)
}
