package kernel

import "math"

// AddBias adds bias (cols elements) to every row of the rows×cols matrix y.
func AddBias(y []float32, rows, cols int, bias []float32) {
	checkMatrix("AddBias", y, rows, cols)
	checkLength("AddBias: bias", len(bias), cols)
	for i := range rows {
		active.axpy(1, bias, y[i*cols:(i+1)*cols])
	}
}

// AddBiasReLU adds bias (cols elements) to every row of the rows×cols matrix y
// and replaces negative sums by 0: y = max(y + bias, 0). NaN stays NaN.
func AddBiasReLU(y []float32, rows, cols int, bias []float32) {
	checkMatrix("AddBiasReLU", y, rows, cols)
	checkLength("AddBiasReLU: bias", len(bias), cols)
	for i := range rows {
		active.addReLU(y[i*cols:(i+1)*cols], bias)
	}
}

// ReLUBackward turns dy, the gradient with respect to y = relu(x), into the
// gradient with respect to x, in place: dy[i] = 0 where y[i] <= 0. (The
// derivative at 0 is taken as 0.)
func ReLUBackward(dy, y []float32) {
	checkLength("ReLUBackward", len(dy), len(y))
	active.reluBackward(dy, y)
}

// ColumnSums adds the column sums of the rows×cols matrix y to dst (cols
// elements). With y the gradient of a layer's output they are that of its bias.
func ColumnSums(dst []float32, y []float32, rows, cols int) {
	checkMatrix("ColumnSums", y, rows, cols)
	checkLength("ColumnSums: dst", len(dst), cols)
	for i := range rows {
		active.axpy(1, y[i*cols:(i+1)*cols], dst)
	}
}

// RowNorms sets dst[i] to the Euclidean norm of row i of the rows×cols
// matrix x. Squares are summed in float32 without scaling, so norms above
// about 1.8e19 overflow to +Inf.
func RowNorms(dst, x []float32, rows, cols int) {
	checkMatrix("RowNorms", x, rows, cols)
	checkLength("RowNorms: dst", len(dst), rows)
	for i := range dst {
		row := x[i*cols : (i+1)*cols]
		dst[i] = float32(math.Sqrt(float64(active.dot(row, row))))
	}
}

func addReLUGo(y, bias []float32) {
	for i, b := range bias {
		s := y[i] + b
		if s < 0 {
			s = 0
		}
		y[i] = s
	}
}

func reluBackwardGo(dy, y []float32) {
	for i, v := range y {
		if v <= 0 {
			dy[i] = 0
		}
	}
}
