package kernel

// Axpy adds alpha·x to y: y[i] += alpha·x[i].
func Axpy(alpha float32, x, y []float32) {
	sameLength("Axpy", len(x), len(y))
	active.axpy(alpha, x, y)
}

// Scale multiplies x by alpha: x[i] *= alpha.
func Scale(alpha float32, x []float32) {
	active.scale(alpha, x)
}

// Mul multiplies dst by x, element by element: dst[i] *= x[i].
func Mul(dst, x []float32) {
	sameLength("Mul", len(dst), len(x))
	active.mul(dst, x)
}

// Dot returns Σ x[i]·y[i], summed in float32.
func Dot(x, y []float32) float32 {
	sameLength("Dot", len(x), len(y))
	return active.dot(x, y)
}

// SquaredDistances sets dst[i] = |q - x_i|² for every row x_i of the rows×cols
// matrix x; q has cols elements and dst has rows.
func SquaredDistances(dst, q, x []float32, rows, cols int) {
	sameLength("SquaredDistances: query", len(q), cols)
	sameLength("SquaredDistances: dst", len(dst), rows)
	sameLength("SquaredDistances: x", len(x), rows*cols)
	for i := range dst {
		dst[i] = active.squaredDistance(q, x[i*cols:(i+1)*cols])
	}
}

func axpyGo(alpha float32, x, y []float32) {
	for i, v := range x {
		y[i] += alpha * v
	}
}

func scaleGo(alpha float32, x []float32) {
	for i := range x {
		x[i] *= alpha
	}
}

func mulGo(dst, x []float32) {
	for i, v := range x {
		dst[i] *= v
	}
}

func dotGo(x, y []float32) float32 {
	var sum float32
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func squaredDistanceGo(x, y []float32) float32 {
	var sum float32
	for i, v := range x {
		d := v - y[i]
		sum += d * d
	}
	return sum
}
