package nn

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/internal/kernel"
)

// A CriticPass runs a Wasserstein critic, a ReLU network with one output v(z), on up
// to Rows points, interpolates among them, and differentiates its values and its gradient
// penalty (Gulrajani et al. 2017) in closed form. It serves one goroutine at a time.
//
// With hidden layers a_l = relu(a_{l−1} W_l + b_l), a_0 = z, D_l the 0/1 mask of a_l > 0
// and v = a_L w, the gradient of v with respect to the input of layer l+1 is
//
//	u_L = D_L w,   u_{l−1} = D_{l−1} (u_l W_lᵀ),   ∇v = u_1 W_1ᵀ.
//
// As relu” is 0 almost everywhere, a loss of ∇v is differentiated by one more pass
// forward through the same masks: with s_0 the loss' gradient with respect to ∇v,
//
//	s_l = D_l (s_{l−1} W_l),   dW_l = s_{l−1}ᵀ u_l,   dw = Σ_i s_L.
//
// The values Σ_i c_i v(z_i) have dW_l = (c a_{l−1})ᵀ u_l, so both share the passes
// and the products: dW_l = (c a_{l−1} + s_{l−1})ᵀ u_l. Biases get c u_l alone.
//
// The last layer needs no s. As w but scales the columns of D_L, with M = (c a_{L−1} +
// s_{L−1})ᵀ D_L and n = Σ_i c_i D_L the gradients are
//
//	dW_L = M diag(w),   db_L = n w,   dw = Σ_k (W_L M)_k + b_L n
//
// (element by element, and Σ_k over rows), and D_L stands for u_L where W_L diag(w) does
// for W_L.
//
// Interpolates carry the penalty alone, which needs nothing but their masks. What goes
// into the first ReLU is affine in z: theirs is interpolated, and no product spent on it.
type CriticPass struct {
	Rows  int
	Grads []float32 // laid out as Network.Params; Backward adds to it

	net      *Network
	layers   []criticLayer // hidden layers
	w, dw    []float32     // of the output layer
	gradient []float32     // ∇v, then s_0, then c z + s_0, rows×inputs
	sum      []float32     // Σ c a_L, then −n
	ones     []float32
	scaled   blas32.General // W_L diag(w)
	product  blas32.General // −M
	norms    []float32
}

// A criticLayer is a hidden layer with its activations a, their gradients u (D in the
// last) and, but for the last, their tangents s, each rows×out.
type criticLayer struct {
	in, out int
	w, dw   blas32.General // in×out
	b, db   []float32      // empty without biases
	a, u, s []float32
}

// NewCriticPass allocates a pass for up to rows points, interpolates included. The
// network must be linear layers with ReLU between them, at least two, the last without
// bias to one output.
func (n *Network) NewCriticPass(rows int) *CriticPass {
	p := &CriticPass{Rows: rows, Grads: make([]float32, len(n.Params)), net: n}
	for i, b := range n.blocks {
		last := i == len(n.blocks)-1
		if b.layer.Kind != Linear || b.relu == last {
			panic("nn: NewCriticPass: a critic is linear layers with ReLU between them")
		}
		if last {
			p.w, p.dw = b.weight.of(n.Params), b.weight.of(p.Grads)
			break
		}
		p.layers = append(p.layers, newCriticLayer(p, b))
	}
	if n.Outputs != 1 || len(p.layers) == 0 || !n.blocks[len(n.blocks)-1].layer.NoBias {
		panic("nn: NewCriticPass: a critic has a hidden layer and one output without bias")
	}
	p.gradient = make([]float32, rows*n.Inputs)
	p.norms = make([]float32, rows)
	p.sum = make([]float32, len(p.w))
	last := len(p.layers) - 1
	for i := range p.layers[:last] {
		p.layers[i].s = make([]float32, rows*p.layers[i].out)
	}
	top := p.layers[last]
	p.ones = slices.Repeat([]float32{1}, top.out)
	p.scaled = matrix(make([]float32, top.in*top.out), top.in, top.out)
	p.product = matrix(make([]float32, top.in*top.out), top.in, top.out)
	return p
}

func newCriticLayer(p *CriticPass, b block) criticLayer {
	l := criticLayer{in: b.layer.In, out: b.layer.Out}
	l.w, l.dw = matrix(b.weight.of(p.net.Params), l.in, l.out), matrix(b.weight.of(p.Grads), l.in, l.out)
	l.b, l.db = b.bias.of(p.net.Params), b.bias.of(p.Grads)
	l.a, l.u = make([]float32, p.Rows*l.out), make([]float32, p.Rows*l.out)
	return l
}

// Loss adds to Grads the gradient of
//
//	−Σ_i c_i v(z_i) + scale·Σ_{i ≥ from} (‖∇v(z_i)‖ − 1)²
//
// and returns the two sums, Σ c_i v(z_i) and Σ (‖∇v‖ − 1)². The points are the rows of
// z, one for each of c, and then the interpolates (1−t_i) z_i + t_i z_{n+i}, one for
// each t_i of the n along, for which c is 0. From the given one, a row of z or the first
// interpolate, points carry the penalty.
func (p *CriticPass) Loss(z, c, along []float32, from int, scale float64) (value, penalty float64) {
	rows := len(c) + len(along)
	if 2*len(along) > len(c) || from > len(c) {
		panic("nn: CriticPass: interpolates between rows, or a penalty from a row, that there are not")
	}
	value = p.forward(z, c, along)
	p.backward(rows)
	penalty = p.penalise(rows, from, scale)
	p.accumulate(z, c, rows, from)
	return value, penalty
}

// InputGradient returns Σ_i c_i v(z_i) and its gradient with respect to z, times
// factor; z has a row for each of c.
func (p *CriticPass) InputGradient(z, c []float32, factor float64) (float64, []float32) {
	rows, width := len(c), p.net.Inputs
	value := p.forward(z, c, nil)
	p.backward(rows)
	p.inputGradient(0, rows)
	for i, ci := range c {
		kernel.Scale(float32(factor)*ci, p.gradient[i*width:(i+1)*width])
	}
	return value, p.gradient[:rows*width]
}

// forward fills a of every layer and Σ c a_L, and returns Σ c v, which is that times w.
func (p *CriticPass) forward(z, c, along []float32) float64 {
	given, rows := len(c), len(c)+len(along)
	if rows > p.Rows || len(z) != given*p.net.Inputs {
		panic("nn: CriticPass: wrong number of rows or columns")
	}
	first := p.layers[0]
	kernel.Gemm(false, false, 1, matrix(z, given, first.in), first.w, 0, first.rows(first.a, 0, given))
	first.interpolate(given, along)
	first.activate(rows)
	x := first.rows(first.a, 0, rows)
	for _, l := range p.layers[1:] {
		kernel.Gemm(false, false, 1, x, l.w, 0, l.rows(l.a, 0, rows))
		l.activate(rows)
		x = l.rows(l.a, 0, rows)
	}
	clear(p.sum)
	addSum(p.sum, 1, c, x.Data)
	return float64(kernel.Dot(p.sum, p.w))
}

// rows views the rows [from, to) of the layer's a, u or s.
func (l criticLayer) rows(values []float32, from, to int) blas32.General {
	return matrix(values[from*l.out:to*l.out], to-from, l.out)
}

// interpolate appends to the given rows of a those of the points between the rows i and
// n+i, i < n, as far along as it says.
func (l criticLayer) interpolate(given int, along []float32) {
	a := l.rows(l.a, 0, given+len(along))
	for i, t := range along {
		kernel.Lerp(row(a, given+i), row(a, i), row(a, len(along)+i), t)
	}
}

// activate replaces the rows a by relu(a + b).
func (l criticLayer) activate(rows int) {
	a := l.a[:rows*l.out]
	if len(l.b) > 0 {
		kernel.AddBiasReLU(a, rows, l.out, l.b)
		return
	}
	rectify(a)
}

// backward fills u of every layer, D of the last, and the matrices that take gradients
// down: each layer's W, and W diag(w) of the last.
func (p *CriticPass) backward(rows int) {
	last := len(p.layers) - 1
	top := p.layers[last]
	for i := range rows {
		copy(top.u[i*top.out:(i+1)*top.out], p.ones)
	}
	kernel.ReLUBackward(top.u[:rows*top.out], top.a[:rows*top.out])
	copy(p.scaled.Data, top.w.Data)
	for k := range top.in {
		kernel.Mul(row(p.scaled, k), p.w)
	}
	for i := last; i > 0; i-- {
		l, below := p.layers[i], p.layers[i-1]
		u := below.rows(below.u, 0, rows)
		kernel.Gemm(false, true, 1, l.rows(l.u, 0, rows), p.backWeights(i), 0, u)
		kernel.ReLUBackward(u.Data, below.a[:rows*below.out])
	}
}

// backWeights is the matrix that takes u of layer i to the layer below.
func (p *CriticPass) backWeights(i int) blas32.General {
	if i == len(p.layers)-1 {
		return p.scaled
	}
	return p.layers[i].w
}

// inputGradient fills ∇v of the rows [from, to).
func (p *CriticPass) inputGradient(from, to int) {
	l := p.layers[0]
	kernel.Gemm(false, true, 1, l.rows(l.u, from, to), p.backWeights(0), 0, matrix(p.gradient[from*l.in:to*l.in], to-from, l.in))
}

// penalise fills s of the rows [from, rows), which carry the penalty, of the layers that need it,
// and returns Σ (‖∇v‖ − 1)².
func (p *CriticPass) penalise(rows, from int, scale float64) float64 {
	if from == rows {
		return 0
	}
	width := p.net.Inputs
	p.inputGradient(from, rows)
	kernel.RowNorms(p.norms[from:rows], p.gradient[from*width:rows*width], rows-from, width)
	var penalty float64
	for i := from; i < rows; i++ {
		excess := float64(p.norms[i]) - 1
		penalty += excess * excess
		kernel.Scale(normSlope(excess, scale), p.gradient[i*width:(i+1)*width])
	}
	p.tangent(rows, from)
	return penalty
}

// normSlope is the derivative of scale·(n−1)² with respect to a vector of norm
// n = excess+1, as a factor of that vector; 0 at the vector 0, where it has none.
func normSlope(excess, scale float64) float32 {
	if excess == -1 {
		return 0
	}
	return float32(2 * scale * excess / (excess + 1))
}

// tangent fills s of the rows [from, rows) of every layer but the last from s_0.
func (p *CriticPass) tangent(rows, from int) {
	width := p.net.Inputs
	s := matrix(p.gradient[from*width:rows*width], rows-from, width)
	for _, l := range p.layers[:len(p.layers)-1] {
		next := l.rows(l.s, from, rows)
		kernel.Gemm(false, false, 1, s, l.w, 0, next)
		kernel.ReLUBackward(next.Data, l.a[from*l.out:rows*l.out])
		s = next
	}
}

// accumulate adds (s − c a) of each layer's input times u to the gradients.
func (p *CriticPass) accumulate(z, c []float32, rows, from int) {
	addScaledRows(p.gradient, z, p.net.Inputs, c, from)
	x := matrix(p.gradient[:rows*p.net.Inputs], rows, p.net.Inputs)
	for _, l := range p.layers[:len(p.layers)-1] {
		kernel.Gemm(true, false, 1, x, l.rows(l.u, 0, rows), 1, l.dw)
		if len(l.db) > 0 {
			addSum(l.db, -1, c, l.u)
		}
		addScaledRows(l.s, l.a, l.out, c, from)
		x = l.rows(l.s, 0, rows)
	}
	p.accumulateLast(x, c, rows)
}

// accumulateLast does so for the last hidden layer and the output layer, x the input of
// the former.
func (p *CriticPass) accumulateLast(x blas32.General, c []float32, rows int) {
	top := p.layers[len(p.layers)-1]
	kernel.Gemm(true, false, 1, x, top.rows(top.u, 0, rows), 0, p.product)
	for k := range top.in {
		kernel.MulAdd(p.dw, row(top.w, k), row(p.product, k))
		kernel.MulAdd(row(top.dw, k), p.w, row(p.product, k))
	}
	if len(top.db) > 0 {
		clear(p.sum)
		addSum(p.sum, -1, c, top.u)
		kernel.MulAdd(p.dw, top.b, p.sum)
		kernel.MulAdd(top.db, p.w, p.sum)
	}
}

// addScaledRows sets s to −c a in the rows before from, which hold nothing yet, and
// adds that to the rest.
func addScaledRows(s, a []float32, width int, c []float32, from int) {
	for i, ci := range c {
		row := s[i*width : (i+1)*width]
		if i < from {
			clear(row)
		}
		if ci != 0 {
			kernel.Axpy(-ci, a[i*width:(i+1)*width], row)
		}
	}
}

// addSum adds alpha·Σ_i c_i x_i to dst, x_i the first rows of x.
func addSum(dst []float32, alpha float32, c, x []float32) {
	rows, width := len(c), len(dst)
	kernel.Gemm(false, false, alpha, matrix(c, 1, rows), matrix(x[:rows*width], rows, width), 1, matrix(dst, 1, width))
}
