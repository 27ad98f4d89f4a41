package main

// question is one product to be timed: op(A) of m×k times op(B) of k×n, with
// numbers of 32 or 64 bits and the given number of threads, on so many operands in turn.
type question struct {
	name             string
	bits             int
	transA, transB   bool
	m, n, k, threads int
	operands         int
}

func (q question) flops() float64 { return 2 * float64(q.m) * float64(q.n) * float64(q.k) }

// turns is the number of operands of products in turn: in training other products come between, and
// a core's own caches do not hold them all.
const turns = 7

// questions are the products of training (forward, dW, dX), of convolution,
// of pairwise distances, and a large one.
func questions(bits int) []question {
	all := []question{
		{name: "128×2048 · 2048×100", m: 128, n: 100, k: 2048},
		{name: "dW: (128×2048)ᵀ · 128×100", transA: true, m: 2048, n: 100, k: 128},
		{name: "128×100 · 100×100", m: 128, n: 100, k: 100},
		{name: "dX: 128×100 · (100×100)ᵀ", transB: true, m: 128, n: 100, k: 100},
		{name: "toy: 360×200 · 200×200", m: 360, n: 200, k: 200},
		{name: "toy dW: (360×200)ᵀ · 360×200", transA: true, m: 200, n: 200, k: 360},
		{name: "conv: 8192×500 · 500×50", m: 8192, n: 50, k: 500},
		{name: "conv dW: (8192×500)ᵀ · 8192×50", transA: true, m: 500, n: 50, k: 8192},
		{name: "pairwise: 2000×100 · (2000×100)ᵀ", transB: true, m: 2000, n: 2000, k: 100},
		{name: "1024³", m: 1024, n: 1024, k: 1024},
		{name: "toy, 7 in turn", m: 360, n: 200, k: 200, operands: turns},
		{name: "toy dX, 7 in turn", transB: true, m: 360, n: 200, k: 200, operands: turns},
		{name: "toy dW, 7 in turn", transA: true, m: 200, n: 200, k: 360, operands: turns},
	}
	for i := range all {
		all[i].bits, all[i].threads, all[i].operands = bits, 1, max(1, all[i].operands)
	}
	return all
}
