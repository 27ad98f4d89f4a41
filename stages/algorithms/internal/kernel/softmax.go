package kernel

import (
	"fmt"
	"math"
)

// Softmax sets every row of the rows×cols matrix prob to the softmax of the
// same row of logits: prob_ij = exp(l_ij - max_j l_ij) / Σ_j exp(…). prob may
// be logits itself.
func Softmax(prob, logits []float32, rows, cols int) {
	checkMatrix("Softmax: prob", prob, rows, cols)
	checkMatrix("Softmax: logits", logits, rows, cols)
	for i := range rows {
		subtractMax(prob[i*cols:(i+1)*cols], logits[i*cols:(i+1)*cols])
	}
	active.exp(prob, prob)
	for i := range rows {
		normalize(prob[i*cols : (i+1)*cols])
	}
}

// SoftmaxCrossEntropy sets prob to the row-wise softmax of the rows×cols
// matrix logits and returns the weighted cross-entropy summed over the rows,
// Σ_i weights[i]·(-log prob_{i,labels[i]}), in float64. The labels are in
// [0, cols); nil weights mean 1 for every row. prob may be logits itself.
// The loss is computed from the logits, so it stays finite where a probability
// underflows to 0.
func SoftmaxCrossEntropy(prob, logits []float32, rows, cols int, labels []int32, weights []float32) float64 {
	checkMatrix("SoftmaxCrossEntropy: prob", prob, rows, cols)
	checkMatrix("SoftmaxCrossEntropy: logits", logits, rows, cols)
	checkLength("SoftmaxCrossEntropy: labels", len(labels), rows)
	if weights != nil {
		checkLength("SoftmaxCrossEntropy: weights", len(weights), rows)
	}
	// -log prob = log Σ exp(l_j - max) - (l_label - max)
	var loss float64
	for i, label := range labels {
		checkLabel(i, label, cols)
		row := prob[i*cols : (i+1)*cols]
		subtractMax(row, logits[i*cols:(i+1)*cols])
		loss -= weightOf(weights, i) * float64(row[label])
	}
	active.exp(prob, prob)
	for i := range rows {
		loss += weightOf(weights, i) * math.Log(normalize(prob[i*cols:(i+1)*cols]))
	}
	return loss
}

// subtractMax sets shifted = logits - max(logits).
func subtractMax(shifted, logits []float32) {
	if len(logits) == 0 {
		return
	}
	top := logits[0]
	for _, v := range logits[1:] {
		if v > top {
			top = v
		}
	}
	for j, v := range logits {
		shifted[j] = v - top
	}
}

// normalize divides row by its sum and returns the sum.
func normalize(row []float32) float64 {
	var sum float64
	for _, v := range row {
		sum += float64(v)
	}
	factor := float32(1 / sum)
	for j := range row {
		row[j] *= factor
	}
	return sum
}

func weightOf(weights []float32, i int) float64 {
	if weights == nil {
		return 1
	}
	return float64(weights[i])
}

func checkLabel(row int, label int32, cols int) {
	if label < 0 || int(label) >= cols {
		panic(fmt.Sprintf("kernel: SoftmaxCrossEntropy: label %d of row %d is outside [0, %d)", label, row, cols))
	}
}
