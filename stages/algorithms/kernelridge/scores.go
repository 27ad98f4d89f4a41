package kernelridge

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// scoredRows is how many rows one thread scores at a time: few enough for their
// kernel values to stay in cache.
const scoredRows = 128

// Scores returns those of the rows of x (n×d), n×C. It panics if the width
// differs.
func (m *Model) Scores(x blas32.General) blas32.General {
	if x.Cols != m.Landmarks.Cols {
		panic("kernelridge: model and rows differ in width")
	}
	scores := dense.New(x.Rows, len(m.Mean))
	landmarks, coefficients := newOthers(m.Landmarks), wide(m.Coefficients)
	kernel.Parallel((x.Rows+scoredRows-1)/scoredRows, 1, func(first, last int) {
		kernel, giveBack := dense.Borrow64(scoredRows, m.Landmarks.Rows)
		defer giveBack()
		s := &scorer{
			gamma: m.Gamma, mean: m.Mean, landmarks: landmarks, coefficients: coefficients,
			points: newPoints(dense.New(scoredRows, x.Cols)),
			kernel: kernel,
			scores: dense.New64(scoredRows, scores.Cols),
		}
		for i := first; i < last; i++ {
			lo, hi := i*scoredRows, min((i+1)*scoredRows, x.Rows)
			s.score(dense.Rows(scores, lo, hi), dense.Rows(x, lo, hi))
		}
	})
	return scores
}

// scorer is a model in float64, with the scratch memory of one thread.
type scorer struct {
	gamma        float64
	mean         []float32
	landmarks    others
	coefficients blas64.General // m×C

	points points         // scoredRows
	kernel blas64.General // scoredRows×m
	scores blas64.General // scoredRows×C
}

// score writes the scores of the rows of x, at most scoredRows, to dst.
func (s *scorer) score(dst, x blas32.General) {
	s.points.set(x)
	s.kernel.Rows, s.scores.Rows = x.Rows, x.Rows
	s.points.gaussian(s.kernel, s.landmarks, s.gamma)
	kernel.Gemm64(false, false, 1, s.kernel, s.coefficients, 0, s.scores)
	for i, v := range s.scores.Data[:len(dst.Data)] {
		dst.Data[i] = float32(v + float64(s.mean[i%dst.Cols]))
	}
}
