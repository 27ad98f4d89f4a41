package adapt

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/nn"
)

// publishedTrainer makes a trainer that does as the published code, on the oracle's rows
// in batches of three.
func publishedTrainer(t *testing.T, method, arch string) *trainer {
	t.Helper()
	p, c := quickConfig(t, method)
	c.Batch, c.Jobs, c.Arch = 3, 1, arch
	c.AsPublishedCode()
	if err := c.check(len(p.Classes)); err != nil {
		t.Fatal(err)
	}
	a, err := nn.ParseArch(arch, p.shape(), len(p.Classes))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTrainer(context.Background(), p, c, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.pool.stop)
	return tr
}

// The classification loss is unweighted, and the critic's weights lose the mass of
// the classes that a batch lacks, whatever p_T is.
func TestPublishedWeights(t *testing.T) {
	for _, method := range []string{"marsc", "marsg", "iw-wd"} {
		tr := publishedTrainer(t, method, "mlp:5-7-6")
		tr.proportions = oracleProportions
		tr.epoch = tr.config.StartAlign
		tr.beginEpoch()
		lost := false
		for range 40 {
			tr.nextBatch(false)
			for _, c := range tr.batch.class {
				if c != 1./3 {
					t.Fatalf("%s: a class coefficient is %g, not 1/3", method, c)
				}
			}
			mass := 0.0
			for c, p := range oracleProportions {
				if slices.Contains(tr.batch.labels, int32(c)) {
					mass += p
				}
			}
			if got := sumOf(tr.batch.critic); math.Abs(got-mass) > 1e-6 {
				t.Fatalf("%s: critic weights sum to %g, the classes there have %g", method, got, mass)
			}
			lost = lost || mass < 0.99
		}
		if !lost {
			t.Errorf("%s: no batch lacked a class: the test shows nothing", method)
		}
	}
}

// The penalty has three points for each row of the batch.
func TestPublishedPenalty(t *testing.T) {
	all := publishedTrainer(t, "marsc", "mlp:5-7-6")
	between := publishedTrainer(t, "marsc", "mlp:5-7-6")
	between.config.PenaltyPoints = PenaltyInterpolates
	var penalty [2]float64
	for i, tr := range []*trainer{all, between} {
		for _, net := range tr.all() { // gradients that differ from point to point
			for j, u := range uniform(11, len(net.Params)) {
				net.Params[j] = float32(4*u - 2)
			}
		}
		tr.epoch = tr.config.StartAlign
		tr.beginEpoch()
		tr.nextBatch(false)
		tr.criticPhase(0)
		penalty[i] = tr.workers[0].sums.penalty
	}
	// With the same draws, the mean over all nine points includes that over three.
	n := float64(len(all.batch.source))
	rest := (penalty[0]*3*n - penalty[1]*n) / (2 * n)
	w := all.workers[0]
	want := 0.0
	for i := range int(2 * n) {
		_, grad := w.critic.InputGradient(w.z[i*6:(i+1)*6], []float32{1}, 1)
		square := 0.0
		for _, g := range grad {
			square += float64(g) * float64(g)
		}
		want += math.Pow(math.Sqrt(square)-1, 2) / (2 * n)
	}
	if math.Abs(penalty[1]-want) < 0.05*want {
		t.Fatalf("penalty %g between the rows and %g at them: the test shows nothing", penalty[1], want)
	}
	if math.Abs(rest-want) > 1e-4*want {
		t.Errorf("penalty at the rows %g, want %g", rest, want)
	}
}

// With MARS each critic step and the step of g and h have rows of their own. With wd they
// share them.
func TestPublishedBatches(t *testing.T) {
	for method, want := range map[string]int{"marsc": 6, "marsg": 6, "iw-wd": 6, "wd": 1} {
		tr := publishedTrainer(t, method, "mlp:5-7-6")
		tr.config.CriticSteps = 5
		draws, draw := 0, tr.drawBatch
		tr.drawBatch = func(rows bool) {
			if rows {
				draws++
			}
			draw(rows)
		}
		tr.epoch = tr.config.StartAlign
		tr.beginEpoch()
		tr.iterate(context.Background())
		if draws != want {
			t.Errorf("%s: %d batches in an iteration, want %d", method, draws, want)
		}
	}
}

// Methods with a critic have dropout in the first epoch alone, long before alignment.
func TestPublishedDropout(t *testing.T) {
	for _, method := range MethodNames() {
		tr := publishedTrainer(t, method, "visda")
		for epoch, want := range []bool{true, tr.config.Method.align != alignWasserstein} {
			tr.epoch = epoch
			tr.beginEpoch()
			z := slices.Repeat([]float32{1}, tr.g.Outputs)
			h := tr.workers[0].h
			first := slices.Clone(h.Forward(z, 1))
			changes := false
			for range 5 {
				changes = changes || !slices.Equal(first, h.Forward(z, 1))
			}
			if changes != want {
				t.Errorf("%s, epoch %d: dropout is %v", method, epoch, changes)
			}
		}
	}
}

// Estimate sees the first batch twice, and all rows with their own labels and
// posteriors in an order that depends on the seed and the epoch.
func TestPublishedSnapshot(t *testing.T) {
	tr := publishedTrainer(t, "marsg", "mlp:5-7-6")
	tr.epoch = tr.config.StartAlign
	tr.beginEpoch()
	plain := tr.snapshot()
	seen := tr.extract(plain)
	row := func(x blas32.General, i int) []float32 { return x.Data[i*x.Stride : i*x.Stride+x.Cols] }
	for _, side := range []struct {
		name               string
		plain, seen        blas32.General
		posteriors, picked blas32.General
	}{
		{"source", plain.Source, seen.Source, plain.SourcePosteriors(), seen.SourcePosteriors()},
		{"target", plain.Target, seen.Target, plain.TargetPosteriors(), seen.TargetPosteriors()},
	} {
		n, batch := side.plain.Rows, tr.config.Batch
		if side.seen.Rows != n+batch {
			t.Fatalf("%s: %d rows of %d with a batch of %d", side.name, side.seen.Rows, n, batch)
		}
		times, moved := make([]int, n), 0
		for i := range side.seen.Rows {
			j := 0
			for !slices.Equal(row(side.plain, j), row(side.seen, i)) {
				j++
			}
			times[j]++
			if i >= batch && j != i-batch {
				moved++
			}
			if !slices.Equal(row(side.posteriors, j), row(side.picked, i)) {
				t.Errorf("%s: row %d has another row's posteriors", side.name, i)
			}
			if side.name == "source" && seen.Labels[i] != plain.Labels[j] {
				t.Errorf("row %d has another row's label", i)
			}
		}
		for i := range batch {
			if !slices.Equal(row(side.seen, i), row(side.seen, batch+i)) {
				t.Errorf("%s: row %d of the first batch does not come again", side.name, i)
			}
		}
		slices.Sort(times)
		if times[0] != 1 || times[n-batch-1] != 1 || times[n-batch] != 2 || times[n-1] != 2 || moved < n/2 {
			t.Errorf("%s: rows come %v times, %d moved", side.name, times, moved)
		}
	}
	if again := tr.extract(plain); !slices.Equal(again.Target.Data, seen.Target.Data) {
		t.Error("the same epoch gives another order")
	}
}

// Estimators get the estimate in use and the number of estimates made.
func TestSnapshotCountsEstimates(t *testing.T) {
	p, c := quickConfig(t, "marsg")
	c.FirstBatchTwice = true
	var counts []int
	stop := errors.New("stop")
	given := [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	c.Estimate = func(_ context.Context, s Snapshot) ([]float64, error) {
		if n := len(counts); n > 0 && !slices.Equal(s.Proportions, given[n-1]) {
			t.Errorf("estimate %d: p_T in use %v, want %v", n, s.Proportions, given[n-1])
		}
		counts = append(counts, s.Estimates)
		if s.Target.Rows != p.Target.Rows+c.Batch {
			t.Errorf("%d target rows seen of %d", s.Target.Rows, p.Target.Rows)
		}
		if len(counts) == 3 {
			return nil, stop
		}
		return given[len(counts)-1], nil
	}
	if _, err := Train(context.Background(), p, c); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if !slices.Equal(counts, []int{0, 1, 2}) {
		t.Errorf("estimates made before: %v", counts)
	}
}
