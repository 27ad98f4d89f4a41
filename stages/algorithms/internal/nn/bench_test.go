package nn

import (
	"testing"
)

// One step of a batch of 128 images, forward and backward, on one thread.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		arch  string
		shape []int
	}{{"digits", []int{1, 28, 28}}, {"digits-gn", []int{1, 28, 28}}, {"digits-gn", []int{3, 28, 28}}, {"resnet8", []int{3, 32, 32}}} {
		b.Run(c.arch, func(b *testing.B) {
			a, err := ParseArch(c.arch, c.shape, 10)
			if err != nil {
				b.Fatal(err)
			}
			const rows = 128
			n := network(b, FormatLayers(a.G), c.shape...)
			p := n.NewPass(rows, true, nil)
			x, dy := randomRows(rows*n.Inputs), randomRows(rows*n.Outputs)
			b.ReportAllocs()
			for b.Loop() {
				p.Forward(x, rows)
				p.Backward(dy, rows, false)
			}
		})
	}
}

// The normalisation alone, of the first layer of digits-gn.
func BenchmarkGroupNorm(b *testing.B) {
	n := network(b, "groupnorm 4 32, relu", 32, 12, 12)
	const rows = 128
	p := n.NewPass(rows, true, nil)
	s := p.steps[1].(*groupNormStep)
	x, dy := randomRows(rows*n.Inputs), randomRows(rows*n.Inputs)
	b.Run("forward", func(b *testing.B) {
		for b.Loop() {
			s.forward(x, rows)
		}
	})
	b.Run("backward", func(b *testing.B) {
		for b.Loop() {
			s.backward(dy, rows, true)
		}
	})
}
