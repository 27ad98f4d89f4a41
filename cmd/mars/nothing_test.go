package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rowsOfClasses are rows of four columns with the number of each row's class; −1 is of a class
// that the source lacks.
type rowsOfClasses struct {
	x [][]float64
	y []int
}

var (
	nothingColumns = []string{"x", "y", "z", "w"}
	nothingClasses = []string{"a", "b", "c"}
	nothingCentres = [][]float64{{4, 6, 5, 20}, {8, 6, 7, 26}, {4, 10, 5, 26}}
	nothingWidths  = []float64{.8, .8, .56, 1.2}
	nothingShares  = []float64{.5, .3, .2}
)

// drawn draws rows of three classes around centres.
func drawn(rng *rand.Rand, rows int, shares []float64, centres [][]float64) (r rowsOfClasses) {
	for k, share := range shares {
		for range int(math.Round(share * float64(rows))) {
			v := make([]float64, len(nothingColumns))
			for j := range v {
				v[j] = centres[k][j] + nothingWidths[j]*rng.NormFloat64()
			}
			r.x, r.y = append(r.x, v), append(r.y, k)
		}
	}
	rng.Shuffle(len(r.x), func(i, j int) {
		r.x[i], r.x[j] = r.x[j], r.x[i]
		r.y[i], r.y[j] = r.y[j], r.y[i]
	})
	return r
}

// each changes every row.
func each(change func(rng *rand.Rand, i int, v []float64, class *int)) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return func(rng *rand.Rand, r rowsOfClasses) rowsOfClasses {
		for i := range r.x {
			change(rng, i, r.x[i], &r.y[i])
		}
		return r
	}
}

// scaled changes scale and offset of some columns.
func scaled(factor, offset float64, columns ...int) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return each(func(_ *rand.Rand, _ int, v []float64, _ *int) {
		for _, j := range columns {
			v[j] = factor*v[j] + offset
		}
	})
}

// emptied takes all values of some rows away.
func emptied(which func(i, class int) bool) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return each(func(_ *rand.Rand, i int, v []float64, class *int) {
		if which(i, *class) {
			for j := range v {
				v[j] = math.NaN()
			}
		}
	})
}

// lacking takes values away with a probability, of a class or of all (−1).
func lacking(probability float64, of int) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return each(func(rng *rand.Rand, _ int, v []float64, class *int) {
		for j := range v {
			if (of < 0 || *class == of) && rng.Float64() < probability {
				v[j] = math.NaN()
			}
		}
	})
}

// filled puts one row in the place of all.
func filled(row ...float64) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return each(func(_ *rand.Rand, _ int, v []float64, _ *int) { copy(v, row) })
}

// noise puts numbers in the place of all values.
func noise(draw func(rng *rand.Rand, j int) float64) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return each(func(rng *rand.Rand, _ int, v []float64, _ *int) {
		for j := range v {
			v[j] = draw(rng, j)
		}
	})
}

// eachValue changes every value.
func eachValue(change func(float64) float64) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return each(func(_ *rand.Rand, _ int, v []float64, _ *int) {
		for j := range v {
			v[j] = change(v[j])
		}
	})
}

// turned gives each column what another one holds.
func turned(order ...int) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return each(func(_ *rand.Rand, _ int, v []float64, _ *int) {
		old := slices.Clone(v)
		for j, from := range order {
			v[j] = old[from]
		}
	})
}

// foreign puts rows of a class that the source lacks in the place of some.
func foreign(share float64, centre ...float64) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return each(func(rng *rand.Rand, _ int, v []float64, class *int) {
		if rng.Float64() < share {
			*class = -1
			for j := range v {
				v[j] = centre[j] + rng.NormFloat64()
			}
		}
	})
}

// drawnAs draws other rows.
func drawnAs(shares []float64, order ...int) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return func(rng *rand.Rand, r rowsOfClasses) rowsOfClasses {
		centres := nothingCentres
		if order != nil {
			centres = [][]float64{centres[order[0]], centres[order[1]], centres[order[2]]}
		}
		return drawn(rng, len(r.x), shares, centres)
	}
}

// first keeps the first rows.
func first(n int) func(*rand.Rand, rowsOfClasses) rowsOfClasses {
	return func(_ *rand.Rand, r rowsOfClasses) rowsOfClasses { return rowsOfClasses{r.x[:n], r.y[:n]} }
}

// nothingTargets are targets of which little or nothing can be said, and some of which all can.
var nothingTargets = []struct {
	name   string
	change func(*rand.Rand, rowsOfClasses) rowsOfClasses
	// hidden targets look like the source with other proportions in every way: nothing without
	// labels can tell (docs/default.md).
	hidden  bool
	refused bool
}{
	{name: "as it is", change: scaled(1, 0)},
	{name: "the source's shares", change: drawnAs([]float64{1. / 3, 1. / 3, 1. / 3})},
	{name: "no row has a value", change: emptied(func(int, int) bool { return true }), refused: true},
	{name: "class a has no value", change: emptied(func(_, k int) bool { return k == 0 })},
	{name: "class c has no value", change: emptied(func(_, k int) bool { return k == 2 })},
	{name: "every second row has no value", change: emptied(func(i, _ int) bool { return i%2 == 0 })},
	{name: "nine of ten rows have no value", change: emptied(func(i, _ int) bool { return i%10 > 0 })},
	{name: "one of 20 rows has no value", change: emptied(func(i, _ int) bool { return i%20 == 0 })},
	{name: "half of the cells are missing", change: lacking(.5, -1)},
	{name: "most cells are missing", change: lacking(.85, -1)},
	{name: "most cells of class a are missing", change: lacking(.8, 0)},
	{name: "most cells of class b are missing", change: lacking(.8, 1)},
	{name: "a column is missing", change: scaled(math.NaN(), 0, 0)},
	{name: "three columns are missing", change: scaled(math.NaN(), 0, 0, 1, 2)},
	{name: "all 0", change: filled(0, 0, 0, 0)},
	{name: "all alike, in the middle", change: filled(5.3, 7.3, 5.7, 24)},
	{name: "all alike, of class a", change: filled(4, 6, 5, 20)},
	{name: "all alike, far off", change: filled(1e6, 1e6, 1e6, 1e6)},
	{name: "all a", change: drawnAs([]float64{1, 0, 0})},
	{name: "all b", change: drawnAs([]float64{0, 1, 0})},
	{name: "all c", change: drawnAs([]float64{0, 0, 1})},
	{name: "a million away", change: scaled(1, 1e6, 0, 1, 2, 3)},
	{name: "all moved by 100", change: scaled(1, 100, 0, 1, 2, 3)},
	{name: "x moved by 100", change: scaled(1, 100, 0)},
	{name: "x moved by 8", change: scaled(1, 8, 0)},
	{name: "x and y moved by 100", change: scaled(1, 100, 0, 1)},
	{name: "x × 1000", change: scaled(1000, 0, 0)},
	{name: "x / 1000", change: scaled(.001, 0, 0)},
	{name: "x and y × 1000", change: scaled(1000, 0, 0, 1)},
	{name: "w × 60", change: scaled(60, 0, 3)},
	{name: "w in Fahrenheit", change: scaled(1.8, 32, 3)},
	{name: "w in Kelvin", change: scaled(1, 273.15, 3)},
	{name: "all × 1000", change: scaled(1000, 0, 0, 1, 2, 3)},
	{name: "all / 1000", change: scaled(.001, 0, 0, 1, 2, 3)},
	{name: "all × 2", change: scaled(2, 0, 0, 1, 2, 3)},
	{name: "another sign", change: scaled(-1, 0, 0, 1, 2, 3)},
	{name: "x with another sign", change: scaled(-1, 0, 0)},
	{name: "columns turned", change: turned(1, 2, 3, 0)},
	{name: "columns reversed", change: turned(3, 2, 1, 0)},
	{name: "x and y swapped", change: turned(1, 0, 2, 3)},
	{name: "each column shuffled", change: func(rng *rand.Rand, r rowsOfClasses) rowsOfClasses {
		for j := range nothingColumns {
			rng.Shuffle(len(r.x), func(i, k int) { r.x[i][j], r.x[k][j] = r.x[k][j], r.x[i][j] })
		}
		return r
	}},
	{name: "the cells of each row shuffled", change: each(func(rng *rand.Rand, _ int, v []float64, _ *int) {
		rng.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
	})},
	{name: "normal noise", change: noise(func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() })},
	{name: "noise like the columns", change: noise(func(rng *rand.Rand, j int) float64 {
		return []float64{5.2, 6.8, 5.6, 23}[j] + []float64{2, 1.8, 1.1, 3.2}[j]*rng.NormFloat64()
	})},
	{name: "wide noise", change: noise(func(rng *rand.Rand, _ int) float64 { return 200*rng.Float64() - 100 })},
	{name: "noise in the columns' ranges", change: noise(func(rng *rand.Rand, j int) float64 {
		return []float64{2, 4, 4, 17}[j] + []float64{8, 8, 4, 12}[j]*rng.Float64()
	})},
	{name: "Cauchy noise", change: noise(func(rng *rand.Rand, _ int) float64 { return 10 * math.Tan(math.Pi*(rng.Float64()-.5)) })},
	{name: "noise beside all", change: each(func(rng *rand.Rand, _ int, v []float64, _ *int) {
		for j := range v {
			v[j] += []float64{3, 3, 3, 6}[j] * rng.NormFloat64()
		}
	})},
	{name: "noise that is the source's rows", hidden: true, change: func(rng *rand.Rand, r rowsOfClasses) rowsOfClasses {
		r.x = drawn(rng, len(r.x), []float64{1. / 3, 1. / 3, 1. / 3}, nothingCentres).x
		return r
	}},
	{name: "a new class alone, far off", change: foreign(1, 100, 100, 100, 100)},
	{name: "half of a new class, far off", change: foreign(.5, 100, 100, 100, 100)},
	{name: "half of a new class, near", change: foreign(.5, 12, 12, 9, 32)},
	{name: "half of a new class, between the others", change: foreign(.5, 5.3, 7.3, 5.7, 24)},
	{name: "two classes changed places", hidden: true, change: drawnAs(nothingShares, 1, 0, 2)},
	{name: "three classes changed places", hidden: true, change: drawnAs(nothingShares, 1, 2, 0)},
	{name: "all between two classes", change: noise(func(rng *rand.Rand, j int) float64 {
		return (nothingCentres[0][j]+nothingCentres[1][j])/2 + .3*nothingWidths[j]*rng.NormFloat64()
	})},
	{name: "one row", change: first(1)},
	{name: "two rows", change: first(2)},
	{name: "five rows", change: first(5)},
	{name: "fifteen rows", change: first(15)},
	{name: "three rows again and again", change: func(rng *rand.Rand, r rowsOfClasses) rowsOfClasses {
		for i := range r.x {
			k := rng.IntN(3)
			r.x[i], r.y[i] = slices.Clone(r.x[k]), r.y[k]
		}
		return r
	}},
	{name: "all alike but for 1e-6", change: noise(func(rng *rand.Rand, j int) float64 { return nothingCentres[1][j] + 1e-6*rng.NormFloat64() })},
	{name: "columns turned, otherwise in each class", change: each(func(_ *rand.Rand, _ int, v []float64, class *int) {
		old := slices.Clone(v)
		for j, from := range [][]int{{0, 1, 2, 3}, {1, 0, 3, 2}, {3, 2, 1, 0}}[*class] {
			v[j] = old[from]
		}
	})},
	{name: "each column sorted", change: func(_ *rand.Rand, r rowsOfClasses) rowsOfClasses {
		for j := range nothingColumns {
			var values []float64
			for _, v := range r.x {
				values = append(values, v[j])
			}
			slices.Sort(values)
			for i, v := range r.x {
				v[j] = values[i]
			}
		}
		return r
	}},
	{name: "x mirrored", change: scaled(-1, 12, 0)},
	{name: "x constant", change: scaled(0, 5.3, 0)},
	{name: "x and y constant", change: scaled(0, 6, 0, 1)},
	{name: "z × 10", change: scaled(10, 0, 2)},
	{name: "z × 1.5", change: scaled(1.5, 0, 2)},
	{name: "squares", change: eachValue(func(v float64) float64 { return v * v })},
	{name: "logarithms", change: eachValue(func(v float64) float64 { return math.Log1p(math.Abs(v)) })},
	{name: "rounded to tens", change: eachValue(func(v float64) float64 { return 10 * math.Round(v/10) })},
	{name: "one row at 1e12", change: each(func(_ *rand.Rand, i int, v []float64, _ *int) {
		if i == 0 {
			for j := range v {
				v[j] = 1e12
			}
		}
	})},
}

// write writes the rows, with their labels or without.
func (r rowsOfClasses) write(t *testing.T, path string, labelled bool) {
	t.Helper()
	var text bytes.Buffer
	head := strings.Join(nothingColumns, ",")
	if labelled {
		head += ",label"
	}
	fmt.Fprintln(&text, head)
	for i, v := range r.x {
		var cells []string
		for _, value := range v {
			cell := strconv.FormatFloat(value, 'g', 6, 64)
			if value != value {
				cell = ""
			}
			cells = append(cells, cell)
		}
		if labelled {
			cells = append(cells, nothingClasses[r.y[i]])
		}
		fmt.Fprintln(&text, strings.Join(cells, ","))
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shares are the true ones.
func (r rowsOfClasses) shares() []float64 {
	p := make([]float64, len(nothingClasses))
	for _, k := range r.y {
		if k >= 0 {
			p[k] += 1 / float64(len(r.y))
		}
	}
	return p
}

// answers runs a command of mars in a folder, and returns what it wrote to both outputs, and its
// status.
func answers(t *testing.T, dir string, args ...string) (out, log string, status int) {
	t.Helper()
	cmd := exec.Command("mars", args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// No command is sure of what it cannot know: wherever the true shares are off by more than 0.2 the
// estimate is not said to be believed, and labels of which fewer than .7 are right are doubted: by
// the commands that learn from the target, and by those that apply a model of an ordinary target.
func TestNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Parallel()
	source, ordinary := drawn(rand.New(rand.NewPCG(1, 0)), 180, []float64{1. / 3, 1. / 3, 1. / 3}, nothingCentres), t.TempDir()
	source.write(t, filepath.Join(ordinary, "s.csv"), true)
	drawn(rand.New(rand.NewPCG(3, 0)), 150, nothingShares, nothingCentres).write(t, filepath.Join(ordinary, "t.csv"), false)
	drawn(rand.New(rand.NewPCG(4, 0)), 300, nothingShares, nothingCentres).write(t, filepath.Join(ordinary, "known.csv"), true)
	says(t, ordinary, "label", "--source", "s.csv", "--target", "t.csv", "--save", "m.safetensors", "-o", "l.csv")
	says(t, ordinary, "predict", "--model", "m.safetensors", "--target", "known.csv", "--keep", "label", "-o", "reference.csv")
	for number, target := range nothingTargets {
		t.Run(target.name, func(t *testing.T) {
			t.Parallel()
			dir, rng := t.TempDir(), rand.New(rand.NewPCG(2, uint64(number)))
			rows := target.change(rng, drawn(rng, 150, nothingShares, nothingCentres))
			source.write(t, filepath.Join(dir, "s.csv"), true)
			rows.write(t, filepath.Join(dir, "t.csv"), false)
			if target.refused {
				checkRefused(t, dir, filepath.Join(ordinary, "m.safetensors"))
				return
			}
			shares, _ := says(t, dir, "proportions", "--source", "s.csv", "--target", "t.csv", "--json", "-q")
			_, labelled := says(t, dir, "label", "--source", "s.csv", "--target", "t.csv", "--save", "m.safetensors", "-o", "l.csv")
			checkShares(t, rows, shares, target.hidden)
			checkLabels(t, dir, rows, labelled, target.hidden)
			checkWindow(t, dir, "m.safetensors", rows, target.hidden)
			checkApplied(t, dir, ordinary, rows, target.hidden)
			_, asked := says(t, dir, "ask", "--source", "s.csv", "--target", "t.csv", "-o", "a.csv")
			for _, line := range judged(labelled) {
				if !strings.Contains(asked, strings.Replace(line, "mars label", "mars ask", 1)) {
					t.Errorf("mars ask does not say %q but\n%s", line, asked)
				}
			}
		})
	}
}

// says runs a command that has to succeed, and returns what it writes to both outputs.
func says(t *testing.T, dir string, args ...string) (out, log string) {
	t.Helper()
	out, log, status := answers(t, dir, args...)
	if status != 0 {
		t.Fatalf("mars %s: status %d: %s", strings.Join(args, " "), status, log)
	}
	return out, log
}

// judged are the lines of a log that say how far to trust labels, but those about the labels that it
// wrote.
func judged(log string) (lines []string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "warning: ") && !strings.Contains(line, "rows have the label") || strings.Contains(line, "labels") && strings.HasSuffix(line, "to have the right one.\n") {
			lines = append(lines, line)
		}
	}
	return lines
}

// checkRefused checks that a target without a value is refused by name, by what learns from it and
// by what applies a model, and that a window of it is doubted.
func checkRefused(t *testing.T, dir, model string) {
	t.Helper()
	for _, command := range []string{"proportions -o p.json", "label -o l.csv", "ask -o a.csv", "predict -o l.csv --model " + model} {
		args := append(strings.Fields(command), "--target", "t.csv")
		if args[0] != "predict" {
			args = append(args, "--source", "s.csv")
		}
		_, log, status := answers(t, dir, args...)
		if status != 1 || !strings.Contains(log, "t.csv: no row has a value in x, y, z, w: check what wrote the file") {
			t.Errorf("%s: status %d: %s", command, status, log)
		}
	}
	if text, _ := says(t, dir, "watch", "--model", model, "--window", "150", "--format", "jsonl", "-q", "t.csv"); !strings.Contains(text, `"verdict":"doubt"`) {
		t.Errorf("mars watch: %s", text)
	}
}

// checkApplied checks what mars predict, watch and check say of the rows by the model of an
// ordinary target.
func checkApplied(t *testing.T, dir, ordinary string, rows rowsOfClasses, hidden bool) {
	t.Helper()
	model := filepath.Join(ordinary, "m.safetensors")
	_, log := says(t, dir, "predict", "--model", model, "--target", "t.csv", "-o", "applied.csv")
	accuracy := rows.right(predictedClasses(t, filepath.Join(dir, "applied.csv")))
	if accuracy < .7 && !hidden && !strings.Contains(log, "mars predict: warning: ") {
		t.Errorf("mars predict: %.0f %% of the labels are right: %s", 100*accuracy, log)
	}
	checkWindow(t, dir, model, rows, hidden)
	said, _ := says(t, dir, "check", "applied.csv", "--reference", filepath.Join(ordinary, "reference.csv"), "-q")
	if accuracy < .8 && !hidden && strings.Contains(said, "figures can be believed") {
		t.Errorf("mars check: %.0f %% of the labels are right: %s", 100*accuracy, said)
	}
}

// right is the share of rows whose label is.
func (r rowsOfClasses) right(given []string) float64 {
	right := 0
	for i, k := range r.y {
		if k >= 0 && given[i] == nothingClasses[k] {
			right++
		}
	}
	return float64(right) / float64(len(r.y))
}

// off is the L1 distance of shares from the truth.
func (r rowsOfClasses) off(estimated []float64) (l1 float64) {
	for k, p := range r.shares() {
		l1 += math.Abs(estimated[k] - p)
	}
	return l1
}

// checkShares checks what mars proportions says.
func checkShares(t *testing.T, rows rowsOfClasses, text string, hidden bool) {
	t.Helper()
	var report struct {
		Verdict     string
		Proportions struct{ Estimated []float64 }
		Interval    struct{ Lower, Upper []float64 }
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	believed, off := strings.Contains(report.Verdict, "can be believed"), rows.off(report.Proportions.Estimated)
	accepted := believed || strings.HasPrefix(report.Verdict, "Believe")
	if off > .2 && !hidden && believed || hidden && !(accepted && off > .2) {
		t.Errorf("hidden %v, and off by %.2f: %s", hidden, off, report.Verdict)
	}
	if off > .5 && !hidden && strings.HasPrefix(report.Verdict, "Believe") {
		t.Errorf("off by %.2f: %s", off, report.Verdict)
	}
	for k, p := range rows.shares() {
		if !hidden && off > .5 && (p < report.Interval.Lower[k]-1e-6 || p > report.Interval.Upper[k]+1e-6) {
			t.Errorf("%s: %.2f is not in %.2f to %.2f", nothingClasses[k], p, report.Interval.Lower[k], report.Interval.Upper[k])
		}
	}
}

var expectedRight = regexp.MustCompile(`(\d+) % of the labels are expected to be right`)

// checkLabels checks what mars label says, and that mars predict says the same.
func checkLabels(t *testing.T, dir string, rows rowsOfClasses, log string, hidden bool) {
	t.Helper()
	given := predictedClasses(t, filepath.Join(dir, "l.csv"))
	for i := range rows.y {
		if missing := !slices.ContainsFunc(rows.x[i], func(v float64) bool { return v == v }); missing != (given[i] == "") {
			t.Errorf("row %d, %v, has the label %q", i, rows.x[i], given[i])
		}
	}
	accuracy, said := rows.right(given), expectedRight.FindStringSubmatch(log)
	if said == nil {
		t.Fatalf("no word of how many labels are right: %s", log)
	}
	n, _ := strconv.Atoi(said[1])
	if bad := accuracy < .7 && n > 90; bad != hidden {
		t.Errorf("%.0f %% of the labels are right: %s", 100*accuracy, said[0])
	}
	if len(rows.y) < 3 && n > 90 {
		t.Errorf("of %d rows: %s", len(rows.y), said[0])
	}
	if accuracy < .7 && !hidden && strings.Contains(log, "labels can be believed") {
		t.Errorf("%.0f %% of the labels are right: %s", 100*accuracy, log)
	}
	says(t, dir, "predict", "--model", "m.safetensors", "--target", "t.csv", "-o", "p.csv", "-q")
	if !slices.Equal(predictedClasses(t, filepath.Join(dir, "p.csv")), given) {
		t.Error("mars predict gives other labels than mars label")
	}
}

// predictedClasses are the labels in a file.
func predictedClasses(t *testing.T, path string) (classes []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(table[0], "predicted_class")
	for _, row := range table[1:] {
		classes = append(classes, row[at])
	}
	return classes
}

// checkWindow checks what mars watch says of the rows as one window, by a model.
func checkWindow(t *testing.T, dir, model string, rows rowsOfClasses, hidden bool) {
	t.Helper()
	text, _ := says(t, dir, "watch", "--model", model, "--window", strconv.Itoa(len(rows.x)), "--format", "jsonl", "-q", "t.csv")
	line, _, _ := strings.Cut(text, "\n")
	var window map[string]any
	if err := json.Unmarshal([]byte(line), &window); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var shares []float64
	for _, class := range nothingClasses {
		shares = append(shares, window["share_"+class].(float64))
	}
	if off := rows.off(shares); off > .2 && !hidden && window["verdict"] == "ok" {
		t.Errorf("mars watch: off by %.2f, and %s", off, line)
	}
}
