package label

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/tables"
)

// written is the labels as CSV.
func written(t *testing.T, in arrowio.Stream, o Options) string {
	t.Helper()
	l, err := New(env, in, o)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Write(t.Context(), &text, Format{Name: "csv"}, l); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// tallied is a tally that has looked at all labels, and the summary of them.
func tallied(t *testing.T, in arrowio.Stream, o Options) (*Tally, string) {
	t.Helper()
	l, err := New(env, in, o)
	if err != nil {
		t.Fatal(err)
	}
	tally := NewTally(l)
	if err := tally.Look(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Summarise(t.Context(), &text, tally); err != nil {
		t.Fatal(err)
	}
	return tally, text.String()
}

// Rows have the label that a person gave them, in whichever batch they are, and others keep theirs.
func TestGiven(t *testing.T) {
	in := streamOf(pets, rows{class: []string{"cat", "cat"}, p: []float32{.8, .2, .7, .3}}, rows{class: []string{"cat", "dog", ""}, p: []float32{.6, .4, .1, .9, .5, .5}})
	var answers []sheet.Row
	for i, row := range []int{0, 2, 3} {
		answers = append(answers, sheet.Row{Order: i + 1, Draw: ppi.Draw{Row: row}, Label: []string{"dog", "dog", "cat"}[i]})
	}
	want := `id,predicted_class,confidence,probability_cat,probability_dog
0,dog,1,0,1
1,cat,0.7,0.7,0.3
2,dog,1,0,1
3,cat,1,1,0
4,,0.5,0.5,0.5
`
	if got := written(t, in, Options{Given: &Sheet{Plan: sheet.Plan{Uniform: 3}, Rows: answers}}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Rows that are less typical than so are unknown, those without a class keep none, and identities go on
// from batch to batch.
func TestUnknown(t *testing.T) {
	in := streamOf(arrowio.Meta{Classes: []string{"cat"}}, rows{class: []string{"cat"}, p: []float32{1}, typicality: []float32{.5}},
		rows{class: []string{"cat", "", "cat"}, p: []float32{1, 1, 1}, typicality: []float32{.125, .5, .25}})
	want := "id,predicted_class,confidence,typicality,probability_cat\n0,cat,1,0.5,1\n1,unknown,1,0.125,1\n2,,1,0.5,1\n3,cat,1,0.25,1\n"
	if got := written(t, in, Options{Unknown: .25}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// cells are of two kinds of lymphocytes, and of one other.
var cells = arrowio.Meta{Classes: []string{"B", "T", "mono"}, Levels: []byte(`[{"name":"lineage","of":["lymphoid","lymphoid","myeloid"]},{"name":"type"}]`)}

// sorts are rows that are sure of their type, of their lineage alone, and of nothing, and one like none.
func sorts() arrowio.Stream {
	return streamOf(cells, rows{class: []string{"B", "T", "mono", "", "T"}, p: []float32{.9375, .0625, 0, .375, .5625, .0625, .25, .25, .5, .5, .25, .25, 0, 1, 0},
		typicality: []float32{.5, .5, .5, .5, 0}, truth: []int32{1, 0, 2, 2, 1}})
}

// A label is of the deepest level that is sure enough.
func TestLevels(t *testing.T) {
	want := `id,predicted_class,confidence,predicted_level,predicted_lineage,confidence_lineage,predicted_type,confidence_type,typicality,probability_B,probability_T,probability_mono,truth
0,B,0.9375,type,lymphoid,1,B,0.9375,0.5,0.9375,0.0625,0,T
1,lymphoid,0.9375,lineage,lymphoid,0.9375,T,0.5625,0.5,0.375,0.5625,0.0625,B
2,unknown,0.5,,lymphoid,0.5,B,0.25,0.5,0.25,0.25,0.5,mono
3,,0.75,,,,,,0.5,0.5,0.25,0.25,mono
4,unknown,1,,unknown,1,unknown,1,0,0,1,0,T
`
	if got := written(t, sorts(), Options{Confidence: .9, Unknown: .01}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	tally, _ := tallied(t, sorts(), Options{Confidence: .9, Unknown: .01})
	if want := []KnownLevel{{"type", 1}, {"lineage", 1}, {"unknown", 2}}; !slices.Equal(tally.Levels(), want) {
		t.Errorf("the levels are %v", tally.Levels())
	}
	if want := "the deepest level that is sure enough: type (1, 25.0 %), lineage (1, 25.0 %), unknown (2, 50.0 %)"; tally.LevelLine() != want {
		t.Errorf("got %s\nwant %s", tally.LevelLine(), want)
	}
	// The lineage is right, and the type is not.
	right := map[string]string{}
	for _, row := range tally.Survey().Doubtful {
		right[row.ID] = row.Truth
	}
	if want := "map[0:T 1:lymphoid 2:mono 4:T]"; fmt.Sprint(right) != want {
		t.Errorf("the truth is %v, want %s", right, want)
	}
	// What a lineage's rows are expected to be is no question of types.
	if labels, classes, expected := tally.Expected(); !slices.Equal(labels, []string{"B"}) || !slices.Equal(classes, []string{"B", "T", "mono"}) || fmt.Sprintf("%.2f", expected) != "[[0.94 0.06 0.00]]" {
		t.Errorf("expected are %v of %v: %v", labels, classes, expected)
	}
	if tally, _ := tallied(t, sorts(), Options{}); tally.Levels() != nil || tally.LevelLine() != "" {
		t.Error("levels are counted, and all labels are of the finest")
	}
	if got := tally.above("kingdom", "B") + tally.above("lineage", "virus"); got != "" {
		t.Errorf("above what is not known is %q", got)
	}
	l, err := New(env, sorts(), Options{Confidence: .9})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"predicted_level", "predicted_lineage", "confidence_type"} {
		if !l.Schema().Field(l.at(name)).Nullable {
			t.Errorf("%s has no room for rows without", name)
		}
	}
	// Classes without levels are of one, and only their labels say so.
	want = "id,predicted_class,confidence,probability_cat,probability_dog\n0,cat,0.9,0.9,0.1\n1,unknown,0.8,0.2,0.8\n"
	if got := written(t, streamOf(pets, rows{class: []string{"cat", "dog"}, p: []float32{.9, .1, .2, .8}}), Options{Confidence: .85}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Labels whose classes the metadata do not name are counted, and nothing is said of their posteriors.
func TestClassesWithoutNames(t *testing.T) {
	tally, text := tallied(t, streamOf(arrowio.Meta{}, rows{class: []string{"cat", "dog"}, p: []float32{.5, .5, .4, .6}, typicality: []float32{.5, .001}, features: []float32{1, 2}}), Options{})
	if !strings.Contains(text, "cat    1     50.0 %  0.500\ndog    1     50.0 %  0.600\n") {
		t.Error(text)
	}
	if labels, _, _ := tally.Expected(); labels != nil || len(tally.likest) != 0 {
		t.Errorf("%v and %v are said to be likely", labels, tally.likest)
	}
	for _, row := range tally.Survey().Doubtful {
		if row.Next != "" {
			t.Errorf("row %s may be of %s", row.ID, row.Next)
		}
	}
}

// alike are n rows of one class.
func alike(classes []string, n int) arrowio.Stream {
	p := make([]float32, n*len(classes))
	for i := range n {
		p[i*len(classes)] = 1
	}
	return streamOf(arrowio.Meta{Classes: classes}, rows{class: slices.Repeat(classes[:1], n), p: p})
}

// Ten rows are shown, of more the first ten, and how many are left.
func TestSummariseHead(t *testing.T) {
	for n, want := range map[int]string{
		1: "0   cat              1.000\n", headRows: "9   cat              1.000\n",
		headRows + 1: "9   cat              1.000\n… and 1 row more: write all with -o labels.csv\n",
	} {
		if _, text := tallied(t, alike(pets.Classes, n), Options{}); !strings.HasSuffix(text, want) {
			t.Errorf("of %d rows:\n%s\nwant at the end\n%s", n, text, want)
		}
	}
}

// That all rows are of one class is odd of twenty, and of several classes.
func TestOneClassIsOdd(t *testing.T) {
	for _, test := range []struct {
		classes []string
		rows    int
		want    int
	}{{pets.Classes, fewRows - 1, 0}, {pets.Classes, fewRows, 1}, {[]string{"cat"}, fewRows, 0}} {
		tally, _ := tallied(t, alike(test.classes, test.rows), Options{})
		noticed := tally.Noticed()
		if len(noticed) != test.want || test.want > 0 && !strings.HasPrefix(noticed[0], "all 20 rows have the label cat: ") {
			t.Errorf("of %d rows with classes %v: %q", test.rows, test.classes, noticed)
		}
	}
}

// Where many rows are untypical of their class and the method has not said so, that is noticed.
func TestUntypicalRows(t *testing.T) {
	for _, test := range []struct {
		typicality float32
		want       int
	}{{.5, 0}, {.001, 1}} {
		tally, _ := tallied(t, streamOf(pets, rows{class: slices.Repeat([]string{"cat", "dog"}, fewRows/2), p: slices.Repeat([]float32{1, 0, 0, 1}, fewRows/2), typicality: slices.Repeat([]float32{test.typicality}, fewRows)}), Options{})
		if noticed := tally.Noticed(); len(noticed) != test.want || test.want > 0 && !strings.HasPrefix(noticed[0], "100 %") {
			t.Errorf("of rows with a typicality of %v: %q", test.typicality, noticed)
		}
	}
}

// A line names twelve classes, and counts the others.
func TestLine(t *testing.T) {
	for n, want := range map[int]string{maxNamed: "l (1, 8.3 %)", maxNamed + 1: "l (1, 7.7 %), 1 more class", maxNamed + 2: "l (1, 7.1 %), 2 more classes"} {
		tally := NewCount(nil)
		for k := range n {
			if err := tally.Count(func() Row { return Row{} }, string(rune('a'+k)), 1, ""); err != nil {
				t.Fatal(err)
			}
		}
		if line := tally.Line(); !strings.HasSuffix(line, want) {
			t.Errorf("of %d classes: %s", n, line)
		}
	}
}

// What rows are expected to be is counted of up to a thousand classes, and of two at least.
func TestExpectedIsBounded(t *testing.T) {
	for width, want := range map[int]bool{1: false, 2: true, mostExpected: true, mostExpected + 1: false} {
		tally := NewCount(nil)
		tally.Labels.classes, tally.looked = make([]string, width), true
		if err := tally.Count(func() Row { return Row{} }, "a", 1, ""); err != nil {
			t.Fatal(err)
		}
		tally.expect("a", arrowio.Vectors{Data: make([]float32, width), Rows: 1, Width: width}, 0)
		if _, _, rows := tally.Expected(); (rows != nil) != want {
			t.Errorf("of %d classes it is counted: %v", width, rows != nil)
		}
	}
}

// Values of rows are kept of up to so many classes and columns.
func TestValuesOfClassesAreBounded(t *testing.T) {
	for classes, want := range map[int]bool{mostKept: true, mostKept + 1: false} {
		tally := NewCount(nil)
		tally.Labels.classes, tally.Labels.values, tally.looked = make([]string, classes), &Values{batch: arrowio.Vectors{Width: 1}}, true
		about := func() Row { return Row{ID: "7"} }
		if err := tally.Count(about, "a", 1, ""); err != nil {
			t.Fatal(err)
		}
		tally.exemplify("a", 1, 1, about)
		tally.compare("a", 1, []float32{3})
		if typical, usual := tally.Typical(), tally.likest["a"].usual; (typical != nil) != want || (usual.n != nil) != want || usual.rows != 1 {
			t.Errorf("of %d classes %v and %+v are kept", classes, typical, usual)
		}
	}
}

// Rows that are like none of the source are told by the columns in which they differ from the others of
// their class: by (mean − usual)/spread, where usual values are ±1 about the centre.
func TestUnlike(t *testing.T) {
	v := &Values{Names: []string{"size", "weight", "age"}, centres: []float64{100}}
	tally := NewCount(nil)
	tally.Labels.classes, tally.Labels.values, tally.Labels.Unknown = []string{"a", "b", "c", "d"}, v, .01
	add := func(class string, n int, typicality float64, values ...float32) {
		for i := range n {
			row := slices.Clone(values)
			for j := range row {
				row[j] += float32(2*(i%2) - 1)
			}
			tally.compare(class, typicality, row)
		}
	}
	add("a", 20, .5, 0, 0, 0)
	add("a", 4, .001, 5, -4, .5)
	add("b", 4, .001, 1, 2, 3) // of which all rows are so
	add("c", 3, .001, 1, 2, 3)
	add("c", 40, .01, 1, 2, 3) // at the rate itself rows are usual
	add("d", 3, .001)          // of which no values are known
	for range 150 {
		tally.compare("d", .5, nil)
	}
	var lines []string
	for _, u := range tally.Unlike() {
		lines = append(lines, fmt.Sprintf("%s %d %.2f %v", u.Class, u.Rows, u.Chance, u.Columns))
	}
	want := []string{"a 4 0.24 [size higher by 5.0 weight lower by 4.0]", "b 4 0.04 []", "c 3 0.43 []"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q\nwant %q", lines, want)
	}
	if got := (Off{Column: "size", By: .5}).String(); got != "size higher by 0.5" {
		t.Errorf("got %s", got)
	}
	for k, want := range []Off{{"size", 105, 100, 5}, {"weight", -4, 0, -4}} {
		if got := tally.Unlike()[0].Columns[k]; got.Column != want.Column || math.Abs(got.Mean-want.Mean)+math.Abs(got.Usual-want.Usual)+math.Abs(got.By-want.By) > 1e-9 {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	}
	line := "unknown rows, which may be a class that the source lacks: 4 nearest to a (0 by chance): size higher by 5.0, weight lower by 4.0 standard deviations; 4 nearest to b (0 by chance); 3 nearest to c (0 by chance)"
	if got := tally.UnlikeLine(); got != line {
		t.Errorf("got %s\nwant %s", got, line)
	}
	for range 10 {
		tally.compare("d", 0, nil)
	}
	if got := tally.UnlikeLine(); !strings.HasSuffix(got, "; 4 nearest to b (0 by chance); and 1 more class") {
		t.Errorf("got %s", got)
	}
}

// Columns without names are called by their numbers, and so are those that there are more of than names.
func TestNamesOfColumns(t *testing.T) {
	tally, _ := tallied(t, streamOf(pets, rows{class: []string{"cat", "dog"}, p: []float32{1, 0, 0, 1}, features: []float32{1, 2}}), Options{})
	if got := tally.Values().Names; !slices.Equal(got, []string{"feature 1"}) {
		t.Errorf("the names are %q", got)
	}
}

// The distance of samples is the greatest of their shares' up to a value, and none is left to compare past
// the end of one.
func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b []float64
		want float64
	}{{[]float64{1, 2}, []float64{1, 2}, 0}, {[]float64{1, 1}, []float64{1, 2}, .5}, {[]float64{1, 2}, []float64{1}, .5}, {[]float64{1}, []float64{2, 3}, 1}, {[]float64{3}, []float64{2, 2}, 1}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%v and %v are apart by %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

// keepFile is a table of numbered rows, in batches of so many.
func keepFile(t *testing.T, batches ...int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "target.arrow")
	var all []arrow.Record
	at := 0
	for _, n := range batches {
		ids, words := make([]string, n), make([]string, n)
		for i := range n {
			ids[i], words[i] = fmt.Sprint(at), fmt.Sprint("word ", at)
			at++
		}
		var table arrowio.Table
		table.Add("key", arrowio.NewStringArray(ids))
		table.Add("word", arrowio.NewStringArray(words))
		all = append(all, table.Record(arrowio.Meta{}))
	}
	out, err := arrowio.Create(path, arrowio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := arrowio.Copy(t.Context(), out, arrowio.NewBatches(path, all[0].Schema(), all...)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Columns are kept row by row, however labels and file are cut into batches. A file of other rows than the
// labels is an error, but where no column of it is kept.
func TestKeep(t *testing.T) {
	batch := func(n int) rows {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = "x"
		}
		return rows{id: arrowio.NewStringArray(ids), class: slices.Repeat([]string{"cat"}, n), p: slices.Repeat([]float32{1}, n)}
	}
	one := arrowio.Meta{Classes: []string{"cat"}}
	for _, test := range []struct {
		name    string
		file    []int
		labels  []int
		columns []string
		id      string
		want    string // the words, or the error
	}{
		{"one batch", []int{3}, []int{3}, nil, "", "word 0, word 1, word 2"},
		{"many of labels", []int{4}, []int{1, 2, 1}, nil, "", "word 0, word 1, word 2, word 3"},
		{"many of the file", []int{1, 2, 1}, []int{4}, nil, "", "word 0, word 1, word 2, word 3"},
		{"neither alike", []int{3, 3}, []int{2, 2, 2}, nil, "", "word 0, word 1, word 2, word 3, word 4, word 5"},
		{"named", []int{2}, []int{2}, []string{"word"}, "", "word 0, word 1"},
		{"the identity is not kept again", []int{2}, []int{2}, nil, "key", "word 0, word 1"},
		{"one row more in a batch", []int{3}, []int{2}, nil, "", "has other rows than were labelled: run again when nothing writes to it"},
		{"one batch more", []int{2, 1}, []int{2}, nil, "", "has other rows than were labelled: run again when nothing writes to it"},
		{"one row less", []int{2}, []int{3}, nil, "", "has other rows than were labelled: run again when nothing writes to it"},
		{"no column, and more rows", []int{3}, []int{2}, []string{}, "", ""},
		{"no column, and fewer rows", []int{1}, []int{2}, []string{}, "", ""},
	} {
		path := keepFile(t, test.file...)
		k, err := NewKeep(t.Context(), path, tables.Options{ID: test.id}, test.columns)
		if err != nil {
			t.Fatal(test.name, err)
		}
		var batches []rows
		for _, n := range test.labels {
			batches = append(batches, batch(n))
		}
		l, err := New(env, streamOf(one, batches...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := k.With(t.Context(), l, "id")
		if err != nil {
			t.Fatal(test.name, err)
		}
		var got []string
		err = arrowio.Each(t.Context(), kept, func(rec arrow.Record) error {
			if test.id != "" && arrowio.HasColumn(rec.Schema(), test.id) {
				t.Errorf("%s: the identity is there again", test.name)
			}
			for i := range int(rec.NumRows()) {
				for _, j := range rec.Schema().FieldIndices("word") {
					got = append(got, rec.Column(j).ValueStr(i))
				}
			}
			return nil
		})
		kept.Close()
		if text := strings.Join(got, ", "); err == nil && text != test.want || err != nil && err.Error() != path+": "+test.want {
			t.Errorf("%s: got %s, %v\nwant %s", test.name, text, err, test.want)
		}
	}
}

// What is wrong with labels or the file comes back.
func TestErrorsOfKeep(t *testing.T) {
	path := keepFile(t, 2)
	k, err := NewKeep(t.Context(), path, tables.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	two := rows{id: arrowio.NewStringArray([]string{"x", "y"}), class: []string{"cat", "dog"}, p: []float32{1, 0, 0, 1}}
	if _, err := k.With(t.Context(), broken(streamOf(pets, two)), "id"); err == nil || !strings.HasPrefix(err.Error(), "test: schema metadata mars.classes: ") {
		t.Errorf("got %v", err)
	}
	kept, err := k.With(t.Context(), failing{streamOf(pets, two)}, "id")
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if err := arrowio.Each(t.Context(), kept, func(arrow.Record) error { return nil }); err == nil || err.Error() != errSource.Error() {
		t.Errorf("got %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewKeep(t.Context(), path, tables.Options{}, nil); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("of a file that is cut: %v", err)
	}
}

// Twelve columns in which files differ are named, and of more how many there are.
func TestKeepWarning(t *testing.T) {
	for n, want := range map[int]string{
		0:  "",
		2:  "t.csv: not all files have these columns with one type: a, b: they are empty where a file has none, and text where types differ",
		12: "t.csv: not all files have these columns with one type: a, b, c, d, e, f, g, h, i, j, k, l: they are empty where a file has none, and text where types differ",
		13: "t.csv: not all files have these columns with one type: a, b, c, d, e, f, g, h, i, j, k, l, … (13 in all): they are empty where a file has none, and text where types differ",
	} {
		k := Keep{Path: "t.csv"}
		for j := range n {
			k.Uneven = append(k.Uneven, string(rune('a'+j)))
		}
		if got := k.Warning(); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	// Of those of files only the columns that are kept.
	dir := t.TempDir()
	for name, text := range map[string]string{"1.csv": "a,b,c\n1,2,3\n", "2.csv": "a,c\n1,x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k, err := NewKeep(t.Context(), filepath.Join(dir, "*.csv"), tables.Options{}, []string{"a", "b"})
	if err != nil || !slices.Equal(k.Uneven, []string{"b"}) {
		t.Errorf("got %+v, %v", k, err)
	}
}
