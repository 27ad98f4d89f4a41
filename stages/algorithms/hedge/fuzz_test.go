package hedge

import (
	"bytes"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// FuzzLoad reads models of any content, as if their checksum were right. What is loaded
// can be used.
func FuzzLoad(f *testing.F) {
	p := newProblem(30, even, uneven, apart)
	for _, classifiers := range [][]string{{"logistic"}, {"kernel"}} {
		m, err := Fit(f.Context(), p.Problem, Options{Classifiers: classifiers})
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		if err := m.Save(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		file, err := safetensors.Read(bytes.NewReader(bytes.Replace(input, []byte("mars.checksum"), []byte("none.checksum"), 1)))
		if err != nil {
			return
		}
		m, err := parse(&file)
		if err != nil || m.Width() > 1000 {
			return
		}
		x := dense.New(2, m.Width())
		posteriors, err := m.Predict(t.Context(), x)
		if err != nil {
			return
		}
		if posteriors.Cols != len(m.Classes) {
			t.Fatalf("%d×%d posteriors of %d classes", posteriors.Rows, posteriors.Cols, len(m.Classes))
		}
		_, _ = m.Typicality(t.Context(), x, posteriors)
	})
}
