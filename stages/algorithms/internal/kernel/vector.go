package kernel

// Axpy adds alpha·x to y: y[i] += alpha·x[i].
func Axpy(alpha float32, x, y []float32) {
	checkLength("Axpy", len(x), len(y))
	active.axpy(alpha, x, y)
}

// Scale multiplies x by alpha: x[i] *= alpha.
func Scale(alpha float32, x []float32) {
	active.scale(alpha, x)
}

// Affine scales and shifts x: x[i] = factor·x[i] + offset.
func Affine(x []float32, factor, offset float32) {
	active.affine(x, factor, offset)
}

// Mul multiplies dst by x, element by element: dst[i] *= x[i].
func Mul(dst, x []float32) {
	checkLength("Mul", len(dst), len(x))
	active.mul(dst, x)
}

// MulAdd adds the products of the elements of x and y: dst[i] += x[i]·y[i].
func MulAdd(dst, x, y []float32) {
	checkLength("MulAdd: x", len(dst), len(x))
	checkLength("MulAdd: y", len(dst), len(y))
	active.mulAdd(dst, x, y)
}

// Maximum sets dst[i] = max(dst[i], x[i]); where one of the two is NaN, dst[i] stays.
func Maximum(dst, x []float32) {
	checkLength("Maximum", len(dst), len(x))
	active.maximum(dst, x)
}

// Mark sets the bits of marks[i] where x[i] is greater than the threshold; where x[i] is NaN, only if
// nan is true.
func Mark(marks []uint32, x []float32, threshold float32, bits uint32, nan bool) {
	checkLength("Mark", len(marks), len(x))
	if nan {
		active.markNotUpTo(marks, x, threshold, bits)
	} else {
		active.markAbove(marks, x, threshold, bits)
	}
}

// Lerp interpolates between x and y: dst[i] = (1-t)·x[i] + t·y[i].
func Lerp(dst, x, y []float32, t float32) {
	checkLength("Lerp: x", len(dst), len(x))
	checkLength("Lerp: y", len(dst), len(y))
	active.lerp(dst, x, y, 1-t, t)
}

// Dot returns Σ x[i]·y[i], summed in float32.
func Dot(x, y []float32) float32 {
	checkLength("Dot", len(x), len(y))
	return active.dot(x, y)
}

// Axpy64 is Axpy in float64.
func Axpy64(alpha float64, x, y []float64) {
	checkLength("Axpy64", len(x), len(y))
	active.axpy64(alpha, x, y)
}

// Dot64 returns Σ x[i]·y[i].
func Dot64(x, y []float64) float64 {
	checkLength("Dot64", len(x), len(y))
	return active.dot64(x, y)
}

// Sum returns Σ x[i], summed in float32.
func Sum(x []float32) float32 { return active.sum(x) }

// SquaredDistances sets dst[i] = |q - x_i|² for every row x_i of the rows×cols
// matrix x; q has cols elements and dst has rows.
func SquaredDistances(dst, q, x []float32, rows, cols int) {
	checkLength("SquaredDistances: query", len(q), cols)
	checkLength("SquaredDistances: dst", len(dst), rows)
	checkLength("SquaredDistances: x", len(x), rows*cols)
	active.squaredDistances(dst, q, x)
}

func axpyGo[T float](alpha T, x, y []T) {
	for i, v := range x {
		y[i] += alpha * v
	}
}

func dotGo[T float](x, y []T) T {
	var sum T
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func scaleGo(alpha float32, x []float32) {
	for i := range x {
		x[i] *= alpha
	}
}

func affineGo(x []float32, factor, offset float32) {
	for i := range x {
		x[i] = x[i]*factor + offset
	}
}

func sumGo(x []float32) float32 {
	var sum float32
	for _, v := range x {
		sum += v
	}
	return sum
}

func mulGo(dst, x []float32) {
	for i, v := range x {
		dst[i] *= v
	}
}

func mulAddGo(dst, x, y []float32) {
	for i, v := range x {
		dst[i] += v * y[i]
	}
}

func maximumGo(dst, x []float32) {
	for i, v := range x {
		if v > dst[i] {
			dst[i] = v
		}
	}
}

func markAboveGo(marks []uint32, x []float32, threshold float32, bits uint32) {
	for i, v := range x {
		var set uint32
		if v > threshold {
			set = bits
		}
		marks[i] |= set
	}
}

func markNotUpToGo(marks []uint32, x []float32, threshold float32, bits uint32) {
	for i, v := range x {
		set := bits
		if v <= threshold {
			set = 0
		}
		marks[i] |= set
	}
}

func lerpGo(dst, x, y []float32, rest, t float32) {
	for i, v := range x {
		dst[i] = rest*v + t*y[i]
	}
}

func squaredDistancesGo(dst, q, x []float32) {
	for i := range dst {
		var sum float32
		for j, v := range x[i*len(q) : (i+1)*len(q)] {
			d := v - q[j]
			sum += d * d
		}
		dst[i] = sum
	}
}
