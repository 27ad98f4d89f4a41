package cli

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
)

// overfitted is a network that knows every one of 900 rows by heart.
const overfitted = "--arch=mlp:5-100-100 --epochs=250 --learning-rate=0.003 "

// On rows that it was trained on an overfitted network makes no mistakes, so that nothing
// was corrected by them: bbse, rlls and em gave the counts of cc.
func TestEstimatorsWithOverfittedNetwork(t *testing.T) {
	t.Chdir(t.TempDir())
	truth := []float64{0.7, 0.15, 0.1, 0.03, 0.02}
	writeGaussians(t, "source.csv", 900, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	writeGaussians(t, "target.csv", 3000, truth, 2)
	runStage(t, "featurize", "--source=source.csv --target=target.csv --output=rows.arrow")
	runStage(t, "embed", overfitted+"--save=all.safetensors --output=all1.arrow rows.arrow")
	runStage(t, "predict", "--model=all.safetensors --output=all.arrow all1.arrow")
	runStage(t, "embed", overfitted+"--hold-out=3 --save=held.safetensors --output=held1.arrow rows.arrow")
	runStage(t, "predict", "--model=held.safetensors --output=held.arrow held1.arrow")
	runStage(t, "embed", overfitted+"--save=again.safetensors --embedding=z --output=again.arrow held.arrow")

	counted := reweighted(t, "cc", "all.arrow", truth)
	for _, estimator := range []string{"bbse", "bbse-soft", "rlls", "em"} {
		var log bytes.Buffer
		err := catalogue().Find("reweight").Run(t.Context(), []string{"--estimator=" + estimator, "--output=no.arrow", "all.arrow"}, pipeline.Streams{Log: &log})
		if err == nil || !strings.Contains(err.Error(), "mars-embed --hold-out") {
			t.Errorf("%s of rows that were trained on: %v, want a refusal that says what to do", estimator, err)
		}
		if blind := reweighted(t, estimator+" --all-unseen", "all.arrow", truth); math.Abs(blind-counted) > 0.04 {
			t.Errorf("%s of rows that were trained on is off by %.3f and cc by %.3f: the network is not overfitted, so this test shows nothing", estimator, blind, counted)
		}
		for _, rows := range []string{"held.arrow", "rows.arrow"} {
			if got := reweighted(t, estimator, rows, truth); got > 0.8*counted {
				t.Errorf("%s on %s is off by %.3f, and cc by %.3f", estimator, rows, got, counted)
			}
		}
		if estimator == "bbse" || estimator == "rlls" { // as bbse-soft, at the price of a training
			continue
		}
		if got := trainedWith(t, estimator, "rows.arrow", truth); got > 0.8*counted {
			t.Errorf("mars train --proportions %s is off by %.3f, and cc by %.3f", estimator, got, counted)
		}
	}
	held := intsOf(t, "held.arrow", "unseen")
	if n := len(slices.DeleteFunc(slices.Clone(held), func(v int32) bool { return v == 0 })); n < 290 || n > 310 {
		t.Errorf("%d of 900 source rows are held out, want one in 3", n)
	}
	if !slices.Equal(held, intsOf(t, "again.arrow", "unseen")) {
		t.Error("a second network changed which rows are held out")
	}
}

// writeGaussians writes rows of five classes that overlap.
func writeGaussians(t *testing.T, path string, rows int, shares []float64, seed uint64) {
	t.Helper()
	centres, rng := rand.New(rand.NewPCG(7, 7)), rand.New(rand.NewPCG(seed, seed))
	var centre [5][5]float64
	for k := range centre {
		for j := range centre[k] {
			centre[k][j] = 1.2 * centres.NormFloat64()
		}
	}
	var b strings.Builder
	b.WriteString("a,b,c,d,e,label\n")
	for range rows {
		k, u := 0, rng.Float64()
		for u -= shares[k]; u > 0 && k < 4; u -= shares[k] {
			k++
		}
		for j := range 5 {
			fmt.Fprintf(&b, "%.5f,", centre[k][j]+rng.NormFloat64())
		}
		fmt.Fprintf(&b, "%c\n", 'p'+k)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// reweighted is how far mars reweight is off.
func reweighted(t *testing.T, estimator, rows string, truth []float64) float64 {
	t.Helper()
	runStage(t, "reweight", "--estimator="+estimator+" --output=weighted.arrow "+rows)
	return off(t, "weighted.arrow", truth)
}

// trainedWith is how far the estimate of mars train is off, by a network that has learnt
// its rows by heart before it aligns a little.
func trainedWith(t *testing.T, estimator, rows string, truth []float64) float64 {
	t.Helper()
	runStage(t, "train", overfitted+"--method=marsc --start-align=246 --reestimate-every=2 --lambda=0.001 --class-loss=plain --proportions="+estimator+" --output=trained.arrow "+rows)
	return off(t, "trained.arrow", truth)
}

// off is how far p_T in the metadata is from the truth, in L1.
func off(t *testing.T, path string, truth []float64) float64 {
	t.Helper()
	in, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	meta, err := arrowio.ReadMeta(in.Schema())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for k, p := range meta.TargetProportions {
		sum += math.Abs(p - truth[k])
	}
	return sum
}

// intsOf are the numbers of a column of a file.
func intsOf(t *testing.T, path, name string) (all []int32) {
	t.Helper()
	in, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	err = arrowio.Each(t.Context(), in, func(rec arrow.Record) error {
		values, err := arrowio.IntColumn(rec, name)
		all = append(all, values.Values...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
