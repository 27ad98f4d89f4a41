package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// CrossEntropy returns Σ_i weights[i]·(−log softmax(logits_i)[labels[i]]) over the
// rows×classes logits, and overwrites them with their gradient,
// weights[i]·(softmax(logits_i) − e_labels[i]).
func CrossEntropy(logits []float32, rows, classes int, labels []int32, weights []float32) float64 {
	loss := kernel.SoftmaxCrossEntropy(logits, logits, rows, classes, labels, weights)
	for i, w := range weights[:rows] {
		row := logits[i*classes : (i+1)*classes]
		row[labels[i]]--
		kernel.Scale(w, row)
	}
	return loss
}
