package nn

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/internal/kernel"
)

// A CriticPass runs a Wasserstein critic, a ReLU network with one output v(z), on up
// to Rows points, and differentiates its values and its gradient penalty
// (Gulrajani et al. 2017) in closed form. It serves one goroutine at a time.
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
type CriticPass struct {
	Rows  int
	Grads []float32 // laid out as Network.Params; Backward adds to it

	net      *Network
	layers   []criticLayer // hidden layers
	w, dw    []float32     // of the output layer
	gradient []float32     // ∇v, rows×inputs
	sum      []float32     // s_0 and then c z + s_0, rows×inputs
	norms    []float32
}

// A criticLayer is a hidden layer with its activations a, their gradients u and
// their tangents s, each rows×out.
type criticLayer struct {
	in, out int
	w, dw   blas32.General // in×out
	b, db   []float32      // empty without biases
	a, u, s []float32
}

// NewCriticPass allocates a pass for up to rows points. The network must be linear
// layers with ReLU between them, at least two, the last without bias to one output.
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
	p.sum = make([]float32, rows*n.Inputs)
	p.norms = make([]float32, rows)
	return p
}

func newCriticLayer(p *CriticPass, b block) criticLayer {
	l := criticLayer{in: b.layer.In, out: b.layer.Out}
	l.w, l.dw = matrix(b.weight.of(p.net.Params), l.in, l.out), matrix(b.weight.of(p.Grads), l.in, l.out)
	l.b, l.db = b.bias.of(p.net.Params), b.bias.of(p.Grads)
	l.a, l.u, l.s = make([]float32, p.Rows*l.out), make([]float32, p.Rows*l.out), make([]float32, p.Rows*l.out)
	return l
}

// Loss adds to Grads the gradient of
//
//	−Σ_i c_i v(z_i) + scale·Σ_{i ≥ from} (‖∇v(z_i)‖ − 1)²
//
// over the rows of z, rows×inputs, and returns the two sums, Σ c_i v(z_i) and
// Σ (‖∇v‖ − 1)². Rows from the given one on carry the penalty; c may be 0 there.
func (p *CriticPass) Loss(z []float32, rows int, c []float32, from int, scale float64) (value, penalty float64) {
	value = p.forward(z, rows, c)
	p.backward(rows)
	penalty = p.penalise(rows, from, scale)
	p.accumulate(z, rows, c, from)
	return value, penalty
}

// InputGradient returns Σ_i c_i v(z_i) and its gradient with respect to z, times
// factor, rows×inputs.
func (p *CriticPass) InputGradient(z []float32, rows int, c []float32, factor float64) (float64, []float32) {
	value := p.forward(z, rows, c)
	p.backward(rows)
	width := p.net.Inputs
	p.inputGradient(0, rows)
	for i := range rows {
		kernel.Scale(float32(factor)*c[i], p.gradient[i*width:(i+1)*width])
	}
	return value, p.gradient[:rows*width]
}

// forward fills a of every layer and returns Σ c v.
func (p *CriticPass) forward(z []float32, rows int, c []float32) float64 {
	if rows > p.Rows || len(z) != rows*p.net.Inputs || len(c) != rows {
		panic("nn: CriticPass: wrong number of rows or columns")
	}
	x := matrix(z, rows, p.net.Inputs)
	for _, l := range p.layers {
		a := l.a[:rows*l.out]
		kernel.Gemm(false, false, 1, x, l.w, 0, matrix(a, rows, l.out))
		if len(l.b) > 0 {
			kernel.AddBiasReLU(a, rows, l.out, l.b)
		} else {
			rectify(a)
		}
		x = matrix(a, rows, l.out)
	}
	var value float64
	for i, ci := range c {
		if ci != 0 {
			value += float64(ci) * float64(kernel.Dot(x.Data[i*x.Cols:(i+1)*x.Cols], p.w))
		}
	}
	return value
}

// backward fills u of every layer.
func (p *CriticPass) backward(rows int) {
	top := p.layers[len(p.layers)-1]
	for i := range rows {
		copy(top.u[i*top.out:(i+1)*top.out], p.w)
	}
	kernel.ReLUBackward(top.u[:rows*top.out], top.a[:rows*top.out])
	for i := len(p.layers) - 1; i > 0; i-- {
		l, below := p.layers[i], p.layers[i-1]
		u := below.u[:rows*below.out]
		kernel.Gemm(false, true, 1, matrix(l.u, rows, l.out), l.w, 0, matrix(u, rows, below.out))
		kernel.ReLUBackward(u, below.a[:rows*below.out])
	}
}

// inputGradient fills ∇v of the rows [from, to).
func (p *CriticPass) inputGradient(from, to int) {
	l := p.layers[0]
	u := matrix(l.u[from*l.out:to*l.out], to-from, l.out)
	kernel.Gemm(false, true, 1, u, l.w, 0, matrix(p.gradient[from*l.in:to*l.in], to-from, l.in))
}

// penalise fills s of the rows [from, rows), s_0 in sum, and returns Σ (‖∇v‖ − 1)².
func (p *CriticPass) penalise(rows, from int, scale float64) float64 {
	if from == rows {
		return 0
	}
	width := p.net.Inputs
	p.inputGradient(from, rows)
	kernel.RowNorms(p.norms[from:rows], p.gradient[from*width:rows*width], rows-from, width)
	var penalty float64
	for i := from; i < rows; i++ {
		s := p.sum[i*width : (i+1)*width]
		excess := float64(p.norms[i]) - 1
		penalty += excess * excess
		copy(s, p.gradient[i*width:(i+1)*width])
		kernel.Scale(normSlope(excess, scale), s)
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

// tangent fills s of the rows [from, rows) of every layer from sum.
func (p *CriticPass) tangent(rows, from int) {
	n := rows - from
	s := matrix(p.sum[from*p.net.Inputs:rows*p.net.Inputs], n, p.net.Inputs)
	for _, l := range p.layers {
		next := l.s[from*l.out : rows*l.out]
		kernel.Gemm(false, false, 1, s, l.w, 0, matrix(next, n, l.out))
		kernel.ReLUBackward(next, l.a[from*l.out:rows*l.out])
		s = matrix(next, n, l.out)
	}
}

// accumulate adds (s − c a) of each layer's input times u to the gradients.
func (p *CriticPass) accumulate(z []float32, rows int, c []float32, from int) {
	addScaledRows(p.sum, z, p.net.Inputs, c, from)
	x := matrix(p.sum[:rows*p.net.Inputs], rows, p.net.Inputs)
	for _, l := range p.layers {
		u := l.u[:rows*l.out]
		kernel.Gemm(true, false, 1, x, matrix(u, rows, l.out), 1, l.dw)
		addScaledRows(l.s, l.a, l.out, c, from)
		x = matrix(l.s[:rows*l.out], rows, l.out)
		if len(l.db) > 0 {
			l.biasGradient(u, c)
		}
	}
	kernel.ColumnSums(p.dw, x.Data, rows, x.Cols)
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

// biasGradient adds −Σ_i c_i u_i.
func (l criticLayer) biasGradient(u, c []float32) {
	for i, ci := range c {
		if ci != 0 {
			kernel.Axpy(-ci, u[i*l.out:(i+1)*l.out], l.db)
		}
	}
}
