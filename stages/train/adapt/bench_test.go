package adapt

import (
	"fmt"
	"testing"

	"mars/stages/internal/nn"
)

// benchmarkTrainer makes a trainer of the named networks on random rows.
func benchmarkTrainer(tb testing.TB, arch string, shape []int, change func(*Config)) *trainer {
	tb.Helper()
	p := oracleProblem(shape)
	c, err := Recipe(arch, shape, ScheduleDefault)
	if err != nil {
		tb.Fatal(err)
	}
	c.Method, _ = ParseMethod("marsc", 0)
	c.DecayFrom = c.Epochs
	change(&c)
	// As many rows as batches need, by repetition.
	rows := p
	for p.Source.Rows < 2*c.Batch {
		p.Source.Data = append(p.Source.Data, rows.Source.Data...)
		p.Target.Data = append(p.Target.Data, rows.Target.Data...)
		p.Labels = append(p.Labels, rows.Labels...)
		p.Source.Rows += rows.Source.Rows
		p.Target.Rows += rows.Target.Rows
	}
	parsed, err := nn.ParseArch(c.Arch, shape, oracleClasses)
	if err != nil {
		tb.Fatal(err)
	}
	t, err := newTrainer(p, c, parsed)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(t.crew.dismiss)
	t.beginEpoch()
	t.aligned = true
	return t
}

// One iteration of each network: the critic's steps and one of g and h.
func BenchmarkIteration(b *testing.B) {
	networks := []struct {
		arch   string
		shape  []int
		change func(*Config)
	}{
		{"mlp:2048-100-100", []int{2048}, func(c *Config) { c.Batch, c.CriticSteps, c.Batches = 128, 10, BatchesShared }},
		{"toy", []int{2}, func(c *Config) { c.CriticSteps, c.Batches, c.PenaltyPoints = 10, BatchesShared, PenaltyAll }},
		{"toy", []int{2}, func(c *Config) {}},
		{"digits", []int{1, 28, 28}, func(c *Config) {}},
	}
	for _, n := range networks {
		for jobs := 1; jobs <= 2; jobs++ {
			b.Run(fmt.Sprintf("%s/jobs=%d", n.arch, jobs), func(b *testing.B) {
				t := benchmarkTrainer(b, n.arch, n.shape, func(c *Config) { n.change(c); c.Jobs = jobs })
				t.iterate()
				b.ReportAllocs()
				for b.Loop() {
					t.iterate()
				}
			})
		}
	}
}

// The classification step alone.
func BenchmarkClassification(b *testing.B) {
	for jobs := 1; jobs <= 2; jobs++ {
		b.Run(fmt.Sprintf("digits/jobs=%d", jobs), func(b *testing.B) {
			t := benchmarkTrainer(b, "digits", []int{1, 28, 28}, func(c *Config) { c.Jobs = jobs })
			t.aligned = false
			t.iterate()
			b.ReportAllocs()
			for b.Loop() {
				t.iterate()
			}
		})
	}
}
