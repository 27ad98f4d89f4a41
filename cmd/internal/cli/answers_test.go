package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
)

// goldenAnswers has what answerSteps answered, and the version of the stage that did.
const goldenAnswers = "../../../testdata/golden/answers.json"

// answerSteps are small runs of all that decides an answer: a stage a line.
const answerSteps = `
featurize toy: --setting=mid --source-rows=90 --target-rows=90 --shift=2 --target-proportions=0.6,0.3,0.1 --output=toy.arrow
featurize: --source=mixed.csv --target=mixed.csv --output=mixed.arrow
embed: --epochs=5 --output=embedded.arrow toy.arrow
cluster: --embedding=features --output=clustered.arrow toy.arrow
match: --embedding=features --output=matched.arrow clustered.arrow
reweight: --output=weighted.arrow matched.arrow
reweight: --embedding=features --estimator=mte --output=mte.arrow toy.arrow
train: --method=source --epochs=5 --output=source.arrow toy.arrow
reweight: --estimator=bbse --all-unseen --output=bbse.arrow source.arrow
reweight: --estimator=em --all-unseen --output=em.arrow source.arrow
train: --method=marsc --epochs=5 --output=marsc.arrow toy.arrow
train: --method=translate --epochs=5 --output=translate.arrow toy.arrow
train: --method=self-training --epochs=5 --output=self.arrow toy.arrow
train: --method=gmm-ot --output=ot.arrow embedded.arrow
train: --method=hedge --save=hedge.safetensors --output=hedge.arrow toy.arrow
predict: --model=hedge.safetensors --output=predicted.arrow toy.arrow
eval: --scores source.arrow
label: --output=labels.arrow toy.arrow
label: --assume=move --output=moved.arrow toy.arrow
proportions: toy.arrow
proportions: --method=mte toy.arrow
`

// An answer is that of a step.
type answer struct {
	Version int                `json:"version"`
	Numbers map[string]float64 `json:"numbers"`
}

// Caches keep what a stage has put out as long as its version is the same. So an answer that
// is another than before needs another version: that of the package that decides it, which
// those of the stages that run it follow.
func TestAnswersHaveVersions(t *testing.T) {
	golden := map[string]answer{}
	text, err := os.ReadFile(goldenAnswers)
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil && !*update {
		t.Fatal(err)
	}
	path, err := filepath.Abs(goldenAnswers)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeInput(t, "mixed.csv", "age,city,seen,label\n31,Rome,2020-01-02,a\n,Oslo,2020-05-06,b\n47,Rome,,a\n52,,2021-07-08,b\n28,Oslo,2020-03-04,a\n")
	now := map[string]answer{}
	for line := range strings.Lines(strings.TrimSpace(answerSteps)) {
		line = strings.TrimSpace(line)
		name, args, _ := strings.Cut(line, ": ")
		numbers := answerOf(t, name, args)
		now[line] = answer{catalogue().Find(name).Algorithm, numbers}
		if was, known := golden[line]; known && !*update {
			checkAnswer(t, line, was, now[line])
		}
	}
	if *update {
		text, err := json.MarshalIndent(now, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		writeInput(t, path, string(text)+"\n")
		return
	}
	if len(golden) != len(now) {
		t.Errorf("%d answers are known of %d: %s", len(golden), len(now), answersAgain)
	}
}

const answersAgain = "run go test ./cmd/internal/cli -run TestAnswersHaveVersions -update"

func checkAnswer(t *testing.T, step string, was, is answer) {
	t.Helper()
	const near = 2e-3 // processors differ in the last digits, and training makes more of that
	moved := len(was.Numbers) != len(is.Numbers)
	for name, v := range was.Numbers {
		if got, there := is.Numbers[name]; !there || !(math.Abs(got-v) <= near*(1+math.Abs(v))) {
			t.Logf("%s: %s was %v, is %v", step, name, v, got)
			moved = true
		}
	}
	switch {
	case moved && was.Version == is.Version:
		t.Errorf("%s: the answer has moved and the version has not: raise Version of the package that decides it, and %s", step, answersAgain)
	case moved || was.Version != is.Version:
		t.Errorf("%s: version %d was %d: %s", step, is.Version, was.Version, answersAgain)
	}
}

// answerOf runs a stage. Its answer is the sum of each column of numbers over the rows, as it
// is and weighed by place, or what it prints as JSON.
func answerOf(t *testing.T, name, args string) map[string]float64 {
	t.Helper()
	var log, printed bytes.Buffer
	words, stage := strings.Fields(args), catalogue().Find(name)
	if _, threads := stage.Flags["jobs"]; threads {
		words = append(words, "--jobs=1")
	}
	if !strings.Contains(args, "--output=") {
		words = append(words, "--json")
	}
	if err := stage.Run(t.Context(), words, pipeline.Streams{Log: &log, Text: &printed}); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, log.String())
	}
	numbers := map[string]float64{}
	if _, after, ok := strings.Cut(args, "--output="); ok {
		path, _, _ := strings.Cut(after, " ")
		addColumns(t, numbers, name, path)
		return numbers
	}
	var report any
	if err := json.Unmarshal(printed.Bytes(), &report); err != nil {
		t.Fatalf("%s %s: %v: %s", name, args, err, printed.String())
	}
	addNumbers(numbers, "", report)
	return numbers
}

// addNumbers adds the numbers of JSON, with their places.
func addNumbers(numbers map[string]float64, place string, value any) {
	switch v := value.(type) {
	case float64:
		numbers[place] = round(v)
	case []any:
		for i, inner := range v {
			addNumbers(numbers, place+"/"+strconv.Itoa(i), inner)
		}
	case map[string]any:
		for key, inner := range v {
			if place == "" && key != "proportions" && key != "scores" {
				continue
			}
			addNumbers(numbers, place+"/"+key, inner)
		}
	}
}

func round(v float64) float64 { return math.Round(v*1e5) / 1e5 }

// addColumns adds what is in the columns of a file.
func addColumns(t *testing.T, numbers map[string]float64, name, path string) {
	t.Helper()
	in, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows := 0.0
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += float64(rec.NumRows())
		for i, f := range rec.Schema().Fields() {
			if f.Name == "id" || f.Name == "features" && name != "featurize" && name != "featurize toy" {
				continue
			}
			for k, x := range numbersOf(rec, i) {
				numbers[f.Name] += x
				numbers[f.Name+" by place"] += x * float64(k%7+1)
			}
		}
	}
	for column := range numbers {
		numbers[column] = round(numbers[column] / rows)
	}
}

// numbersOf are the values of a column of numbers or of lists of them, 0 for null.
func numbersOf(rec arrow.Record, i int) []float64 {
	col := rec.Column(i)
	var all []float64
	if v, err := arrowio.VectorColumn(rec, rec.ColumnName(i)); err == nil {
		for _, x := range v.Data {
			all = append(all, float64(x))
		}
		return all
	}
	for k := range col.Len() {
		x, err := strconv.ParseFloat(col.ValueStr(k), 64)
		if err != nil && !col.IsNull(k) {
			return nil
		}
		all = append(all, x)
	}
	return all
}
