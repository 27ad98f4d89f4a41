package kernel

import "math"

// SGD updates the weights w by their gradient g as torch.optim.SGD does:
//
//	d = g + decay·w
//	velocity = momentum·velocity + d    (only with a velocity; then d = velocity)
//	w -= lr·d
//
// velocity starts as zeros and is nil exactly when momentum is 0.
func SGD(w, g, velocity []float32, lr, momentum, decay float32) {
	checkLength("SGD", len(w), len(g))
	if velocity == nil {
		if momentum != 0 {
			panic("kernel: SGD: momentum without a velocity")
		}
		active.sgd(w, g, lr, decay)
		return
	}
	checkLength("SGD: velocity", len(w), len(velocity))
	active.momentumSGD(w, g, velocity, lr, momentum, decay)
}

// Adam updates the weights w by their gradient g as torch.optim.Adam does, at
// the given step counted from 1:
//
//	d = g + decay·w
//	m = beta1·m + (1-beta1)·d
//	v = beta2·v + (1-beta2)·d²
//	w -= lr/(1-beta1^step) · m / (sqrt(v)/sqrt(1-beta2^step) + eps)
//
// m and v start as zeros. (Kingma and Ba, 2015, Algorithm 1.)
func Adam(w, g, m, v []float32, lr, beta1, beta2, eps, decay float32, step int) {
	checkLength("Adam", len(w), len(g))
	checkLength("Adam: m", len(w), len(m))
	checkLength("Adam: v", len(w), len(v))
	if step < 1 {
		panic("kernel: Adam: step counts from 1")
	}
	bias1 := 1 - math.Pow(float64(beta1), float64(step))
	bias2 := 1 - math.Pow(float64(beta2), float64(step))
	active.adam(w, g, m, v,
		beta1, float32(1-float64(beta1)), beta2, float32(1-float64(beta2)),
		float32(float64(lr)/bias1), float32(1/math.Sqrt(bias2)), eps, decay)
}

func sgdGo(w, g []float32, lr, decay float32) {
	for i, d := range g {
		w[i] -= lr * (d + decay*w[i])
	}
}

func momentumSGDGo(w, g, velocity []float32, lr, momentum, decay float32) {
	for i, d := range g {
		velocity[i] = momentum*velocity[i] + (d + decay*w[i])
		w[i] -= lr * velocity[i]
	}
}

// adamGo is Adam with scalars that are the same for all elements: rest is
// 1-beta, rate is lr with the bias correction of m, and scale is the bias
// correction of the square root of v.
func adamGo(w, g, m, v []float32, beta1, rest1, beta2, rest2, rate, scale, eps, decay float32) {
	for i, d := range g {
		d += decay * w[i]
		m[i] = beta1*m[i] + rest1*d
		v[i] = beta2*v[i] + rest2*d*d
		root := float32(math.Sqrt(float64(v[i])))
		w[i] -= rate * m[i] / (root*scale + eps)
	}
}
