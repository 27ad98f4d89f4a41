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
		softmaxRow(prob[i*cols:(i+1)*cols], logits[i*cols:(i+1)*cols])
	}
}

// SoftmaxCrossEntropy sets prob to the row-wise softmax of the rows×cols
// matrix logits and returns the weighted cross-entropy summed over the rows,
// Σ_i weights[i]·(-log prob_{i,labels[i]}), in float64. The labels are in
// [0, cols); nil weights mean 1 for every row. prob may be logits itself.
// The logarithm is taken of the unrounded sum, so a probability that
// underflows to 0 still gives a finite loss.
func SoftmaxCrossEntropy(prob, logits []float32, rows, cols int, labels []int32, weights []float32) float64 {
	checkMatrix("SoftmaxCrossEntropy: prob", prob, rows, cols)
	checkMatrix("SoftmaxCrossEntropy: logits", logits, rows, cols)
	sameLength("SoftmaxCrossEntropy: labels", len(labels), rows)
	if weights != nil {
		sameLength("SoftmaxCrossEntropy: weights", len(weights), rows)
	}
	var loss float64
	for i, label := range labels {
		if label < 0 || int(label) >= cols {
			panic(fmt.Sprintf("kernel: SoftmaxCrossEntropy: label %d of row %d is outside [0, %d)", label, i, cols))
		}
		row := logits[i*cols : (i+1)*cols]
		target := row[label]
		logSum := softmaxRow(prob[i*cols:(i+1)*cols], row)
		rowLoss := logSum - float64(target)
		if weights != nil {
			rowLoss *= float64(weights[i])
		}
		loss += rowLoss
	}
	return loss
}

// softmaxRow writes softmax(logits) to prob and returns log Σ exp(logits).
func softmaxRow(prob, logits []float32) float64 {
	if len(logits) == 0 {
		return math.Inf(-1)
	}
	top := logits[0]
	for _, v := range logits[1:] {
		top = max(top, v)
	}
	for j, v := range logits {
		prob[j] = v - top
	}
	active.exp(prob, prob)
	var sum float32
	for _, v := range prob {
		sum += v
	}
	active.scale(1/sum, prob)
	return float64(top) + math.Log(float64(sum))
}
