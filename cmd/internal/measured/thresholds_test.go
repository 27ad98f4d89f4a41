package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/gate"
)

// thresholds are numbers of the pages, and of help texts, that the code decides: where the
// page has them, each as a group, and the constants.
var thresholds = []struct{ page, text, constants string }{
	{"docs/measured/diagnostics.md", "`height_gap` < N, `ambiguity` > N, or a component of fewer than N rows", "stages/internal/diagnostics.minHeightGap maxAmbiguity stages/algorithms/mixture.fewRows"},
	{"docs/measured/diagnostics.md", "`separation` < N, or one", "stages/internal/diagnostics.minSeparation"},
	{"docs/measured/diagnostics.md", "`max` > N, `effective_rows` < N", "stages/internal/diagnostics.maxWeight minEffectiveRows"},
	{"docs/measured/diagnostics.md", "expected to be off? | > N", "stages/algorithms/labelshift.Threshold"},
	{"docs/measured/diagnostics.md", "The same, of the default | > N", "stages/algorithms/labelshift.Threshold"},
	{"docs/measured/diagnostics.md", "`expected_accuracy` < N, `untypical` > N; if the classes have stayed, `signs.new` > N", "stages/internal/diagnostics.minExpectedAccuracy maxUntypical maxNew"},
	{"docs/measured/diagnostics.md", "`after` > N × `floor`", "stages/internal/diagnostics.maxLeft"},
	{"docs/measured/diagnostics.md", "`first_kept` < N, `moved` > N", "stages/internal/diagnostics.minFirstKept maxMoved"},
	{"docs/measured/diagnostics.md", "`wasserstein` > N × `wasserstein_floor`", "stages/internal/diagnostics.maxApart"},
	{"docs/measured/diagnostics.md", "of **fewer than N rows** has a mean", "stages/algorithms/mixture.fewRows"},
	{"docs/measured/diagnostics.md", "Above N, one mislabelled", "stages/internal/diagnostics.maxWeight"},
	{"docs/measured/diagnostics.md", "With N, the standard error", "stages/internal/diagnostics.minEffectiveRows"},
	{"docs/measured/images.md", "if `first_kept` is below N or `moved` above N", "stages/internal/diagnostics.minFirstKept maxMoved"},
	{"docs/default.md", "an expected error of up to N, and no warning | | Believe these proportions **with care** | up to N, or a warning", "stages/algorithms/labelshift.Care Threshold"},
	{"docs/default-rules.md", "Of more than N classes that", "stages/algorithms/ensemble.crowdedClasses"},
	{"docs/default-rules.md", "Above N pairs of a source row and a class", "stages/algorithms/hedge.maxCrowdedPairs"},
	{"docs/default-rules.md", "is at least N times the share of labels", "stages/algorithms/hedge.thinError"},
	{"docs/default-rules.md", "values are cut off at N deviations", "stages/algorithms/prepare.clipping"},
	{"docs/default-rules.md", "More than N columns become N principal", "stages/algorithms/prepare.maxAxes maxAxes"},
	{"docs/default.md", "It looks at no more than N rows of each domain", "stages/algorithms/hedge.MaxRows"},
	{"docs/default-rules.md", "keeps its share, but at least N rows", "stages/algorithms/hedge.minClassRows"},
	{"docs/default-rules.md", "Below N are about 5 %", "stages/algorithms/hedge.UntypicalRate"},
	{"docs/default-rules.md", "If it is above N, or rows seem to be of no class", "stages/algorithms/hedge.lastMisfit"},
	{"docs/default-rules.md", "If the misfit is below N then", "stages/algorithms/hedge.firstMisfit"},
	{"docs/default-rules.md", "not looked for if the misfit of step 4 is at most N", "stages/algorithms/hedge.firstMisfit"},
	{"docs/default-rules.md", "on up to N rows of each side", "stages/algorithms/hedge.areaRows"},
	{"docs/default-rules.md", "where noise of N deviations has blurred", "stages/algorithms/hedge.blur"},
	{"docs/default-rules.md", "simulated ones N times as much as real ones", "stages/algorithms/gate.simulated"},
	{"docs/default-rules.md", "than N deviations, a sign counts", "stages/algorithms/gate.maxScaled"},
	{"docs/methods.md", "Below N target rows, and for classes of fewer than N source rows", "stages/algorithms/hedge.fewRows fewRowsOfClass"},
	{"docs/methods.md", "`mte` and `translate` warn below N target rows and above N classes", "stages/algorithms/labelshift.fewRows manyClasses"},
	{"docs/methods.md", "Above N there is a warning", "stages/algorithms/labelshift.Threshold"},
	{"docs/how-to/proportions.md", "Above N, do not believe the proportions; above N, take care", "stages/algorithms/labelshift.Threshold Care"},
	{"docs/how-to/doubts.md", "expected to be off by more than N |", "stages/algorithms/labelshift.Threshold"},
	{"docs/how-to/doubts.md", "how right the answer is below N |", "stages/algorithms/hedge.fewRows"},
	{"cmd/internal/cli/proportions.go", "by more than N in L1 it is not to be believed", "stages/algorithms/labelshift.Threshold"},
}

// A threshold of a page is the one of the code.
func TestThresholds(t *testing.T) {
	atRoot(t)
	for _, threshold := range thresholds {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(threshold.text), "N", `(\.?[0-9][0-9.,]*)`)
		pattern = strings.ReplaceAll(pattern, " ", `\s+`)
		found := regexp.MustCompile(pattern).FindStringSubmatch(read(t, threshold.page))
		names := strings.Fields(threshold.constants)
		if len(found) != len(names)+1 {
			t.Errorf("%s does not say %q", threshold.page, threshold.text)
			continue
		}
		folder := ""
		for i, name := range names {
			if strings.Contains(name, "/") {
				folder, name, _ = strings.Cut(name, ".")
			}
			shown := strings.ReplaceAll(strings.TrimRight(found[i+1], ".,"), ",", "")
			if want := constant(t, folder, name); number(t, shown) != want {
				t.Errorf("%s: %q has %s, and %s.%s is %v", threshold.page, threshold.text, shown, path.Base(folder), name, want)
			}
		}
	}
}

// The page of the default says what its gate was fitted to.
func TestTasksOfGate(t *testing.T) {
	atRoot(t)
	const page = "docs/default-rules.md"
	made := gate.Default().Made
	want := fmt.Sprintf("fitted to %s tasks of %s families", grouped(made.Tasks), grouped(made.Families))
	if !strings.Contains(strings.Join(strings.Fields(read(t, page)), " "), want) {
		t.Errorf("%s does not say %q", page, want)
	}
}

// grouped is a number with a comma before its thousands.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// constant is the value of a constant of a package, which need not be exported.
func constant(t *testing.T, folder, name string) float64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var literal string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			for i := 0; ok && i < len(spec.Values); i++ {
				if value, ok := spec.Values[i].(*ast.BasicLit); ok && spec.Names[i].Name == name {
					literal = value.Value
				}
			}
			return true
		})
	}
	if literal == "" {
		t.Fatalf("%s has no constant %s", folder, name)
	}
	return number(t, literal)
}

// The settings that the pages call the defaults are those of the recipes.
func TestRecipesOfPages(t *testing.T) {
	atRoot(t)
	page := strings.Join(strings.Fields(read(t, resultsPage)), " ")
	for _, r := range []struct {
		arch  string
		shape []int
		text  string
	}{
		{"toy", []int{2}, "for the toy are SGD RATE, EPOCHS epochs, alignment from epoch START, CRITIC critic steps, λ = LAMBDA and γ = GAMMA."},
		{"digits", []int{1, 28, 28}, "For digits they are Adam RATE, EPOCHS epochs, alignment from epoch START, CRITIC critic steps, λ = LAMBDA and γ = GAMMA."},
	} {
		c, err := adapt.Recipe(r.arch, r.shape, adapt.ScheduleDefault)
		if err != nil {
			t.Fatal(err)
		}
		short := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		rate := short(float64(c.LearningRate))
		if rate == "0.001" {
			rate = "1e-3"
		}
		want := strings.NewReplacer("RATE", rate, "EPOCHS", strconv.Itoa(c.Epochs), "START", strconv.Itoa(c.StartAlign), "CRITIC", strconv.Itoa(c.CriticSteps),
			"LAMBDA", short(float64(c.Lambda)), "GAMMA", short(float64(c.Gamma))).Replace(r.text)
		if !strings.Contains(page, want) {
			t.Errorf("%s does not say %q", resultsPage, want)
		}
	}
}
