package nn

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// A CriticPass runs a Wasserstein critic v, a ReLU network with one output, on up to Rows
// points of h numbers. It computes L_wd and L_grad of Algorithm 1, the weighted sum of
// values v(z) and the gradient penalty (Gulrajani et al. 2017), and their gradients, all in
// closed form. It serves one goroutine at a time.
//
// Let the hidden layers be a_l = relu(a_{l−1} W_l + b_l) for l = 1…L, with a_0 = z and
// v = a_L w, and let D_l be the 0/1 mask of a_l > 0. The gradient of v with respect to the
// argument of the l-th ReLU is u_l:
//
//	u_L = D_L w,   u_{l−1} = D_{l−1} (u_l W_lᵀ),   ∇v = u_1 W_1ᵀ.
//
// The second derivative of a ReLU is 0 almost everywhere. So a loss of ∇v is
// differentiated by one more pass forward through the same masks: with s_0 the gradient of
// the loss with respect to ∇v,
//
//	s_l = D_l (s_{l−1} W_l),   dW_l = s_{l−1}ᵀ u_l,   dw = Σ_i s_L.
//
// The loss −Σ_i c_i v(z_i) has dW_l = −(c a_{l−1})ᵀ u_l. Both losses share the passes and
// the products: dW_l = (s_{l−1} − c a_{l−1})ᵀ u_l. For the biases db_l = −Σ_i c_i u_l.
//
// The last hidden layer needs no s_L. As w only scales the columns of D_L, the gradients
// follow from M = (s_{L−1} − c a_{L−1})ᵀ D_L and n = −Σ_i c_i D_L:
//
//	dW_L = M diag(w),   db_L = n w,   dw = Σ_k (W_L M)_k + b_L n
//
// with products element by element and the sum over the rows k of W_L M. Therefore D_L is
// kept in place of u_L, and W_L diag(w) takes it to the layer below.
//
// Interpolates carry the penalty alone, for which only their masks matter. The argument of
// the first ReLU is affine in z, so that of an interpolate is interpolated, without a
// matrix product.
//
// The naive twin of all this is in adapt/twin_test.go: naive.distance and naive.critic
// compute the same losses for one point after the other with dual numbers in float64, and
// every gradient is compared with finite differences of them.
type CriticPass struct {
	Rows  int
	Grads []float32 // laid out as Network.Params; Loss adds to it

	net      *Network
	layers   []criticLayer // hidden layers
	w, dw    []float32     // of the output layer
	gradient []float32     // ∇v, then s_0, then s_0 − c z; rows×h
	sum      []float32     // Σ_i c_i a_L, then n
	ones     []float32
	scaled   blas32.General // W_L diag(w)
	product  blas32.General // M
	norms    []float32      // ‖∇v‖
}

// A criticLayer is a hidden layer with its activations a_l, their gradients u_l (D_L in
// the last) and, except in the last, the tangents s_l, each rows×out.
type criticLayer struct {
	in, out int
	w, dw   blas32.General // in×out
	b, db   []float32      // empty without biases
	a, u, s []float32
}

// NewCriticPass allocates a pass for up to rows points, interpolates included. The
// network must be two or more linear layers with a ReLU after each but the last. The last
// layer has one output and no bias.
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

// Loss adds to Grads the gradient of what v minimises in Algorithm 1,
//
//	−Σ_i c_i v(z_i) + scale·Σ_{i ≥ from} (‖∇v(z_i)‖ − 1)²
//
// and returns the two sums, Σ c_i v(z_i) and Σ (‖∇v‖ − 1)². In the paper's symbols the
// first is L_wd, with c_i = w†(z_i) on a source row and −1/B on a target row, and the second
// times scale is L_grad. Its naive twin is naive.critic.
//
// The points are the rows of z, len(c)×h, and then len(t) interpolates (1−t_i) z_i + t_i
// z_{n+i}, n = len(t), whose c is 0. Points carry the penalty from number from on, which is
// a row of z or the first interpolate.
func (p *CriticPass) Loss(z, c, t []float32, from int, scale float64) (value, penalty float64) {
	rows := len(c) + len(t)
	if 2*len(t) > len(c) || from > len(c) {
		panic("nn: CriticPass: too few rows for the interpolates, or for the first row with a penalty")
	}
	value = p.forward(z, c, t)
	p.backward(rows)
	penalty = p.penalise(rows, from, scale)
	p.accumulate(z, c, rows, from)
	return value, penalty
}

// InputGradient returns Σ_i c_i v(z_i), L_wd in Algorithm 1, and factor (λ there) times its
// gradient with respect to z. Both z and the gradient are len(c)×h; the gradient is valid
// until the next call. Its naive twin is naive.distance.
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

// forward computes a_l of every layer, rows×out, and Σ_i c_i a_L, and returns that times w,
// which is Σ_i c_i v(z_i) or L_wd. Its naive twin is naive.distance.
func (p *CriticPass) forward(z, c, t []float32) float64 {
	given, rows := len(c), len(c)+len(t)
	if rows > p.Rows || len(z) != given*p.net.Inputs {
		panic("nn: CriticPass: wrong number of rows or columns")
	}
	first := p.layers[0]
	kernel.Gemm(false, false, 1, matrix(z, given, first.in), first.w, 0, first.rows(first.a, 0, given))
	first.interpolate(given, t)
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

// rows views the rows [from, to) of the layer's a, u or s as a matrix.
func (l criticLayer) rows(values []float32, from, to int) blas32.General {
	return matrix(values[from*l.out:to*l.out], to-from, l.out)
}

// interpolate sets row given+i of a, i < n = len(t), to (1−t_i) a_i + t_i a_{n+i}, before
// bias and ReLU.
func (l criticLayer) interpolate(given int, t []float32) {
	a := l.rows(l.a, 0, given+len(t))
	for i, ti := range t {
		kernel.Lerp(dense.Row(a, given+i), dense.Row(a, i), dense.Row(a, len(t)+i), ti)
	}
}

// activate sets a to relu(a + b), rows×out.
func (l criticLayer) activate(rows int) {
	a := l.a[:rows*l.out]
	if len(l.b) > 0 {
		kernel.AddBiasReLU(a, rows, l.out, l.b)
		return
	}
	rectify(a)
}

// backward computes u_l of every hidden layer but the last, rows×out, D_L of the last, and
// W_L diag(w), in×out.
func (p *CriticPass) backward(rows int) {
	last := len(p.layers) - 1
	top := p.layers[last]
	for i := range rows {
		copy(top.u[i*top.out:(i+1)*top.out], p.ones)
	}
	kernel.ReLUBackward(top.u[:rows*top.out], top.a[:rows*top.out])
	copy(p.scaled.Data, top.w.Data)
	for k := range top.in {
		kernel.Mul(dense.Row(p.scaled, k), p.w)
	}
	for i := last; i > 0; i-- {
		l, below := p.layers[i], p.layers[i-1]
		u := below.rows(below.u, 0, rows)
		kernel.Gemm(false, true, 1, l.rows(l.u, 0, rows), p.backWeights(i), 0, u)
		kernel.ReLUBackward(u.Data, below.a[:rows*below.out])
	}
}

// backWeights is the matrix, in×out, through which u of layer i goes to the layer below.
func (p *CriticPass) backWeights(i int) blas32.General {
	if i == len(p.layers)-1 {
		return p.scaled
	}
	return p.layers[i].w
}

// inputGradient computes ∇v of the rows [from, to), each of h numbers.
func (p *CriticPass) inputGradient(from, to int) {
	l := p.layers[0]
	kernel.Gemm(false, true, 1, l.rows(l.u, from, to), p.backWeights(0), 0, matrix(p.gradient[from*l.in:to*l.in], to-from, l.in))
}

// penalise returns Σ (‖∇v‖ − 1)² over the rows [from, rows), L_grad without its factor, and
// computes their s_0, rows×h, and s_l, rows×out. Its naive twin is naive.critic's last loop.
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

// normSlope is the factor by which the gradient of scale·(n−1)² with respect to a vector
// of norm n = excess+1 is a multiple of that vector. At the vector 0, where there is no
// gradient, it is 0.
func normSlope(excess, scale float64) float32 {
	if excess == -1 {
		return 0
	}
	return float32(2 * scale * excess / (excess + 1))
}

// tangent computes s_l of the rows [from, rows), rows×out, from s_0, for every hidden layer
// but the last.
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

// accumulate adds dW_l = (s_{l−1} − c a_{l−1})ᵀ u_l, in×out, and db_l, out, to Grads.
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

// accumulateLast adds dW_L, db_L and dw to Grads. x is s_{L−1} − c a_{L−1}, rows×in.
func (p *CriticPass) accumulateLast(x blas32.General, c []float32, rows int) {
	top := p.layers[len(p.layers)-1]
	kernel.Gemm(true, false, 1, x, top.rows(top.u, 0, rows), 0, p.product)
	for k := range top.in {
		kernel.MulAdd(p.dw, dense.Row(top.w, k), dense.Row(p.product, k))
		kernel.MulAdd(dense.Row(top.dw, k), p.w, dense.Row(p.product, k))
	}
	if len(top.db) > 0 {
		clear(p.sum)
		addSum(p.sum, -1, c, top.u)
		kernel.MulAdd(p.dw, top.b, p.sum)
		kernel.MulAdd(top.db, p.w, p.sum)
	}
}

// addScaledRows turns s into s − c a, both len(c)×width or more. The rows of s before from
// count as 0: nothing has been written there.
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

// addSum adds alpha·Σ_i c_i x_i to dst, where x_i are the first len(c) rows of x.
func addSum(dst []float32, alpha float32, c, x []float32) {
	rows, width := len(c), len(dst)
	kernel.Gemm(false, false, alpha, matrix(c, 1, rows), matrix(x[:rows*width], rows, width), 1, matrix(dst, 1, width))
}
