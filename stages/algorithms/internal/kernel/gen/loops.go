package main

import "github.com/mmcloughlin/avo/build"

// emitLoops emits the elementwise loops and reductions of a level.
func emitLoops(c *build.Context, l level) {
	laneMaskTable(c, l)
	all := append([]*loop{axpy(float32s), axpy(float64s), scale, affine, mul, mulAdd, lerp, maximum, addReLU, reluBackward, sgd, momentumSGD, adam},
		dot(float32s), dot(float64s), sum, exp(float32s), exp(float64s), logarithm)
	used := numbers{}
	all = append(all, markAbove, markNotUpTo, pixelSums, pixelSquares, normalise, normaliseSums, normaliseBackward)
	for _, f := range all {
		f.emit(c, l, used)
	}
	emitDistances(c, l)
	emitMaxPool(c, l, used)
	used.emit(c, l)
	emitZip(c, l)
	if !l.neon {
		emitStream(c, l)
	}
}

func axpy(e element) *loop {
	return &loop{
		name: e.prefix + "axpy", doc: "adds alpha·x to y.",
		signature: "func(alpha %[1]s, x, y []%[1]s)",
		elem:      e, slices: []string{"x", "y"},
		constants: parameters("alpha"), work: 2,
		body: func(v *iteration) {
			v.load("x", v.r(0))
			v.load("y", v.r(1))
			e.fma(v.Context, v.k("alpha"), v.r(0), v.r(1))
			v.store(v.r(1), "y")
		},
	}
}

var scale = &loop{
	name: "scale", doc: "multiplies x by alpha.",
	signature: "func(alpha %[1]s, x []%[1]s)",
	elem:      float32s, slices: []string{"x"},
	constants: parameters("alpha"), work: 1,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.VMULPS(v.k("alpha"), v.r(0), v.r(0))
		v.store(v.r(0), "x")
	},
}

var affine = &loop{
	name: "affine", doc: "sets x = x*factor + offset.",
	signature: "func(x []%[1]s, factor, offset %[1]s)",
	elem:      float32s, slices: []string{"x"},
	constants: parameters("factor", "offset"), work: 1,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.VFMADD213PS(v.k("offset"), v.k("factor"), v.r(0))
		v.store(v.r(0), "x")
	},
}

var mul = &loop{
	name: "mul", doc: "multiplies dst by x.",
	signature: "func(dst, x []%[1]s)",
	elem:      float32s, slices: []string{"dst", "x"}, work: 2,
	body: func(v *iteration) {
		v.load("dst", v.r(0))
		v.load("x", v.r(1))
		v.VMULPS(v.r(1), v.r(0), v.r(0))
		v.store(v.r(0), "dst")
	},
}

var mulAdd = &loop{
	name: "mulAdd", doc: "adds x·y to dst.",
	signature: "func(dst, x, y []%[1]s)",
	elem:      float32s, slices: []string{"dst", "x", "y"}, work: 3,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.load("y", v.r(1))
		v.load("dst", v.r(2))
		v.VFMADD231PS(v.r(0), v.r(1), v.r(2))
		v.store(v.r(2), "dst")
	},
}

var lerp = &loop{
	name: "lerp", doc: "sets dst = rest·x + t·y.",
	signature: "func(dst, x, y []%[1]s, rest, t %[1]s)",
	elem:      float32s, slices: []string{"dst", "x", "y"},
	constants: parameters("rest", "t"), work: 2,
	body: func(v *iteration) {
		v.load("x", v.r(0))
		v.load("y", v.r(1))
		v.VMULPS(v.k("rest"), v.r(0), v.r(0))
		v.VFMADD231PS(v.k("t"), v.r(1), v.r(0))
		v.store(v.r(0), "dst")
	},
}

// VMAXPS returns its first operand here, dst, if one is NaN.
var maximum = &loop{
	name: "maximum", doc: "sets dst = max(dst, x).",
	signature: "func(dst, x []%[1]s)",
	elem:      float32s, slices: []string{"dst", "x"}, work: 2,
	body: func(v *iteration) {
		v.load("dst", v.r(0))
		v.load("x", v.r(1))
		v.VMAXPS(v.r(0), v.r(1), v.r(0))
		v.store(v.r(0), "dst")
	},
}

var (
	markAbove = mark("markAbove", "sets bits of marks[i] where x[i] > threshold.", func(v *iteration) {
		v.keepWhere(lessThan, v.r(0), v.k("threshold"), v.r(1), v.r(2))
	})
	markNotUpTo = mark("markNotUpTo", "sets bits of marks[i] where x[i] <= threshold does not hold, as of NaN.", func(v *iteration) {
		v.keepWhere(notLessEqual, v.k("threshold"), v.r(0), v.r(1), v.r(2))
	})
)

// mark keeps the bits, in the second register, where they are to be set.
func mark(name, doc string, keep func(v *iteration)) *loop {
	return &loop{
		name: name, doc: doc,
		signature: "func(marks []uint32, x []%[1]s, threshold %[1]s, bits uint32)",
		elem:      float32s, slices: []string{"marks", "x"},
		constants: parameters("threshold", "bits"), work: 3,
		body: func(v *iteration) {
			v.load("x", v.r(0))
			v.VMOVUPS(v.k("bits"), v.r(1))
			keep(v)
			v.load("marks", v.r(0))
			v.VORPS(v.r(1), v.r(0), v.r(0))
			v.store(v.r(0), "marks")
		},
	}
}

// VMAXPS returns its first operand here if one is NaN, so NaN stays NaN.
var addReLU = &loop{
	name: "addReLU", doc: "sets y = max(y + bias, 0).",
	signature: "func(y, bias []%[1]s)",
	elem:      float32s, slices: []string{"y", "bias"},
	constants: []constant{{name: "zero"}}, work: 2,
	body: func(v *iteration) {
		v.load("y", v.r(0))
		v.load("bias", v.r(1))
		v.VADDPS(v.r(1), v.r(0), v.r(0))
		v.VMAXPS(v.r(0), v.k("zero"), v.r(0))
		v.store(v.r(0), "y")
	},
}

var reluBackward = &loop{
	name: "reluBackward", doc: "sets dy = 0 where y <= 0.",
	signature: "func(dy, y []%[1]s)",
	elem:      float32s, slices: []string{"dy", "y"},
	constants: []constant{{name: "zero"}}, work: 2,
	body: func(v *iteration) {
		v.load("dy", v.r(0))
		v.load("y", v.r(1))
		v.keepWhere(notLessEqual, v.k("zero"), v.r(1), v.r(0), v.r(1))
		v.store(v.r(0), "dy")
	},
}

var sgd = &loop{
	name: "sgd", doc: "sets w -= lr·(g + decay·w).",
	signature: "func(w, g []%[1]s, lr, decay %[1]s)",
	elem:      float32s, slices: []string{"w", "g"},
	constants: parameters("lr", "decay"), work: 2,
	body: func(v *iteration) {
		v.load("w", v.r(0))
		v.load("g", v.r(1))
		v.VFMADD231PS(v.k("decay"), v.r(0), v.r(1))
		v.VFNMADD231PS(v.k("lr"), v.r(1), v.r(0))
		v.store(v.r(0), "w")
	},
}

var momentumSGD = &loop{
	name: "momentumSGD", doc: "sets velocity = momentum·velocity + g + decay·w and w -= lr·velocity.",
	signature: "func(w, g, velocity []%[1]s, lr, momentum, decay %[1]s)",
	elem:      float32s, slices: []string{"w", "g", "velocity"},
	constants: parameters("lr", "momentum", "decay"), work: 3,
	body: func(v *iteration) {
		v.load("w", v.r(0))
		v.load("g", v.r(1))
		v.load("velocity", v.r(2))
		v.VFMADD231PS(v.k("decay"), v.r(0), v.r(1))
		v.VFMADD231PS(v.k("momentum"), v.r(2), v.r(1))
		v.store(v.r(1), "velocity")
		v.VFNMADD231PS(v.k("lr"), v.r(1), v.r(0))
		v.store(v.r(0), "w")
	},
}

// parameters are constants set from the parameters of the same names.
func parameters(names ...string) []constant {
	all := make([]constant, len(names))
	for i, name := range names {
		all[i] = constant{name: name, param: name}
	}
	return all
}

var adam = &loop{
	name: "adam", doc: "is one step of Adam on w with gradient g and moments m and v.",
	signature: "func(w, g, m, v []%[1]s, beta1, rest1, beta2, rest2, rate, scale, eps, decay %[1]s)",
	elem:      float32s, slices: []string{"w", "g", "m", "v"},
	constants: parameters("beta1", "rest1", "beta2", "rest2", "rate", "scale", "eps", "decay"), work: 4,
	body: func(v *iteration) {
		w, g, m, s := v.r(0), v.r(1), v.r(2), v.r(3)
		v.load("w", w)
		v.load("g", g)
		v.load("m", m)
		v.load("v", s)
		v.VFMADD231PS(v.k("decay"), w, g)
		v.VMULPS(v.k("beta1"), m, m)
		v.VFMADD231PS(v.k("rest1"), g, m)
		v.store(m, "m")
		v.VMULPS(g, g, g)
		v.VMULPS(v.k("beta2"), s, s)
		v.VFMADD231PS(v.k("rest2"), g, s)
		v.store(s, "v")
		v.VSQRTPS(s, s)
		v.VMULPS(v.k("scale"), s, s)
		v.VADDPS(v.k("eps"), s, s)
		v.VMULPS(v.k("rate"), m, m)
		v.VDIVPS(s, m, m)
		v.VSUBPS(m, w, w)
		v.store(w, "w")
	},
}
