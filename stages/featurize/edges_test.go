package featurize

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/encode"
	fit "mars.dev/mars/tables/image"
)

// said is what one wants to know of a log: its messages, without time and level.
func said(log *bytes.Buffer) (lines []string) {
	for line := range strings.Lines(log.String()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), "msg=")
		if strings.HasPrefix(text, `"`) {
			text = strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
		}
		lines = append(lines, text)
	}
	return lines
}

// named are n names.
func namesOf(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("c", i))
	}
	return names
}

// Lists in messages have as many entries as they may, and one more is cut off.
func TestListsInMessages(t *testing.T) {
	all := strings.Join(namesOf(maxNamed), ",")
	var reasons []tables.Skipped
	for _, name := range namesOf(maxNamed + 1) {
		reasons = append(reasons, tables.Skipped{Name: name, Why: "as " + name})
	}
	alike := slices.Clone(reasons)
	for i := range alike {
		alike[i].Why = ""
	}
	spaced := strings.ReplaceAll(all, ",", ", ")
	for _, tc := range []struct{ what, got, want string }{
		{"names for a shell", shell(namesOf(maxNamed)), all},
		{"one more", shell(namesOf(maxNamed + 1)), "…"},
		{"names to quote", shell([]string{"a b", "c"}), `"a b,c"`},
		{"columns", nameColumns(namesOf(maxNamed)), spaced},
		{"one more column", nameColumns(namesOf(maxNamed + 1)), spaced + " … (21 in all)"},
		{"no column", nameColumns(nil), "none"},
		{"values", nameValues(namesOf(5)), "c0, c1, c2, c3, c4"},
		{"one more value", nameValues(namesOf(6)), "c0, c1, c2, c3, c4 … 6 values"},
		{"columns that are skipped", nameSkipped(alike[:maxNamed]), spaced},
		{"one more of these", nameSkipped(alike), spaced + " … (21 in all)"},
		{"reasons", nameSkipped(reasons[:2]), "c0 (as c0); c1 (as c1)"},
		{"as many reasons as are named", last(nameSkipped(reasons[:maxNamed])), "c19 (as c19)"},
		{"one reason more", last(nameSkipped(reasons)), "… (21 reasons in all)"},
		{"some rows", ofRows(1, 8), "1 row, 12.5 %"},
		{"all rows", ofRows(8, 8), "8 rows, all rows"},
		{"one empty row", emptyRows("t.csv", arrowio.SourceDomain, 1, 4), "t.csv: 1 row, 25.0 %, has no value in any column: nothing is learnt from such rows"},
		{"empty rows", emptyRows("t.csv", arrowio.TargetDomain, 2, 4), "t.csv: 2 rows, 50.0 %, have no value in any column: nothing is estimated from such rows, and they get no label: take them out if they are no rows"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %s, not %s", tc.what, tc.got, tc.want)
		}
	}
}

// last is what comes after the last semicolon.
func last(list string) string { return list[strings.LastIndex(list, "; ")+2:] }

// A table without labels gets advice that fits its format and its domain. A row without one is told by its place.
func TestCheckLabels(t *testing.T) {
	const source, target = arrowio.SourceDomain, arrowio.TargetDomain
	for _, tc := range []struct {
		name   string
		labels []string
		domain arrowio.Domain
		want   string
	}{
		{"x.csv", nil, source, "x.csv: has no labels: name the label column with --label, or the file with --source-labels"},
		{"x.npz", nil, source, "x.npz: has no labels: name them behind the features, as in x.npz:X,y, or the file with --source-labels"},
		{"x.mat", nil, target, "x.mat: has no labels, which --truth, --target-proportions and --classes need: name them behind the features, as in x.mat:X,y, or the file with --target-labels"},
		{"x.csv", []string{"", "a"}, source, "x.csv: row 1: the source row has no label: label it or drop the row (--missing-labels drop leaves out all such rows)"},
		{"x.csv", []string{"a", ""}, target, ""},
		{"x.csv", []string{"a", "b"}, source, ""},
	} {
		table := suspect(2, false, map[string]func(int) float32{"a": func(int) float32 { return 0.5 }})
		table.Name, table.Labels = tc.name, tc.labels
		err := checkLabels(table, tc.domain, false, func() []string { return nil })
		if got := fmt.Sprint(err); got != tc.want && (err != nil || tc.want != "") {
			t.Errorf("%s, %v: %v", tc.name, tc.labels, err)
		}
	}
}

// Rows of two widths are refused, with what to do about images and tables.
func TestSameShape(t *testing.T) {
	flat := func(shape ...int) side {
		n := 1
		for _, k := range shape {
			n *= k
		}
		return side{x: blas32.General{Cols: n}, shape: shape}
	}
	o := Options{Source: SideOptions{Path: "s"}, Target: SideOptions{Path: "t"}}
	for _, tc := range []struct {
		source, target side
		want           string
	}{
		{flat(1, 2, 3), flat(1, 2, 3), ""},
		{flat(1, 2, 3), flat(6), ""},
		{flat(1, 2, 2), flat(3, 2, 2), "images of s are grey and those of t in colour: give --grey to make those in colour grey, or --colour to repeat the channel of grey ones"},
		{flat(2, 2, 2), flat(3, 2, 2), "images of s are of 2 channels and those of t in colour: give --grey to make those in colour grey, or --colour to repeat the channel of grey ones"},
		{flat(1, 2, 3), flat(1, 4, 5), "images of s are 2×3 and those of t 4×5: give --target-resize 2x3, or bring them to one shape with --source-resize, --source-pad and --target-pad"},
		{flat(1, 2, 3), flat(5), "a row of s has 6 numbers and one of t has 5: bring images to one shape with --source-resize, --target-resize and --source-pad, --target-pad, and name the common columns of tables with --columns"},
		{flat(5), flat(1, 2, 3), "a row of s has 5 numbers and one of t has 6: bring images to one shape with --source-resize, --target-resize and --source-pad, --target-pad, and name the common columns of tables with --columns"},
	} {
		err := (&dataset{sides: []side{tc.source, tc.target}}).sameShape(o)
		if got := fmt.Sprint(err); got != tc.want && (err != nil || tc.want != "") {
			t.Errorf("%v and %v: %v", tc.source.shape, tc.target.shape, err)
		}
	}
	if err := (&dataset{sides: []side{flat(5)}}).sameShape(o); err != nil {
		t.Error(err)
	}
}

// The name of a file that is no text is no label, be it the first of the classes.
func TestLabelsAreText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "\xfe.csv")
	if err := os.WriteFile(path, []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Skip("files have no such names here: ", err)
	}
	source := SideOptions{Path: path, Format: tables.Options{LabelFromFile: true}}
	err := Files(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, Options{Source: source}, &rowsSink{})
	if err == nil || err.Error() != path+`: the label "\xfe" is not valid UTF-8: mend what wrote it` {
		t.Errorf("error %v", err)
	}
}

// Pictures may have as much room around them as they may be large.
func TestPadOfImages(t *testing.T) {
	for pad, ok := range map[int]bool{-1: false, 0: true, fit.MaxSide: true, fit.MaxSide + 1: false} {
		if err := (ImageOptions{Pad: pad}).check(); (err == nil) != ok {
			t.Errorf("a pad of %d: %v", pad, err)
		}
	}
}

// Pictures of the target get the size that those of the source have in the end, unless they have it, or something is said of theirs.
func TestResizeTarget(t *testing.T) {
	source := &tables.Table{Name: "s", Shape: []int{3, 4, 6}, Pictures: true}
	of := func(height, width int) []*tables.Table {
		return []*tables.Table{{Name: "t", Shape: []int{3, height, width}, Pictures: true}}
	}
	array := of(9, 9)
	array[0].Pictures = false
	several := &tables.SizesError{}
	for name, tc := range map[string]struct {
		st   recipe
		read []*tables.Table
		err  error
		want []int // height and width; nil: nothing is done
		say  string
	}{
		"smaller":                  {read: of(2, 3), want: []int{4, 6}, say: "t: images of 2×3 pixels are resized to 4×6, as those of s are; --target-resize says otherwise"},
		"of the same size":         {read: of(4, 6)},
		"of the same height":       {read: of(4, 5), want: []int{4, 6}, say: "t: images of 4×5 pixels are resized to 4×6, as those of s are; --target-resize says otherwise"},
		"of the same width":        {read: of(5, 6), want: []int{4, 6}, say: "t: images of 5×6 pixels are resized to 4×6, as those of s are; --target-resize says otherwise"},
		"of a padded source":       {st: recipe{Source: ImageOptions{Pad: 2}}, read: of(4, 6), want: []int{8, 10}, say: "t: images of 4×6 pixels are resized to 8×10, as those of s are; --target-resize says otherwise"},
		"of a resized source":      {st: recipe{Source: ImageOptions{Fit: fit.Fit{Height: 7, Width: 8}}}, read: of(4, 6), want: []int{7, 8}, say: "t: images of 4×6 pixels are resized to 7×8, as those of s are; --target-resize says otherwise"},
		"of several sizes":         {err: several, want: []int{4, 6}, say: "t: images of several sizes are resized to 4×6, as those of s are; --target-resize says otherwise"},
		"an array":                 {read: array},
		"with a size of their own": {st: recipe{Target: ImageOptions{Pad: 1}}, read: of(2, 3)},
	} {
		var log bytes.Buffer
		was := tc.st.Target
		again := tc.st.resizeTarget(logged(&log), source, tc.read, tc.err, Options{Target: SideOptions{Path: "t"}})
		if tc.want == nil {
			if again || !reflect.DeepEqual(tc.st.Target, was) || log.Len() > 0 {
				t.Errorf("%s: they are resized to %+v, and it said %s", name, tc.st.Target, log.String())
			}
			continue
		}
		if got := []int{tc.st.Target.Height, tc.st.Target.Width}; !again || !slices.Equal(got, tc.want) || !slices.Equal(said(&log), []string{tc.say}) {
			t.Errorf("%s: resized %v to %v, and it said %q", name, again, got, said(&log))
		}
	}
}

// Blocks of a target that flows are written as they are, unless they are as large as two batches. What a source row alone has is null for them.
func TestBatchesOfASide(t *testing.T) {
	const cols = 4
	step := batchBytes / (4*cols + rowBytes)
	for rows, want := range map[int][]int{1: {1}, 2*step - 1: {2*step - 1}, 2 * step: {step, step}, 2*step + 1: {step, step, 1}} {
		d := &dataset{shape: []int{cols}, batches: true, flow: &flow{ids: &tables.Table{}}}
		s := side{domain: arrowio.TargetDomain, x: blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}, ids: rowNumbers(rows)}
		d.sides = []side{{x: s.x}} // for the width
		schema := d.schema(arrowio.DefaultColumns())
		out := &sizesSink{}
		var reported []int
		if err := d.writeSide(t.Context(), s, schema, out, func(done int) { reported = append(reported, done) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.rows, want) || reported[len(reported)-1] != rows {
			t.Errorf("%d rows are written in batches of %v, and it is told of %v", rows, out.rows, reported)
		}
	}
}

// Proportions are drawn among the classes that have rows, told by name, and noted so that a run can be repeated.
func TestDrawProportions(t *testing.T) {
	classes := []string{"a", "b", "c"}
	for name, tc := range map[string]struct {
		labels []int32
		some   []bool
	}{
		"all": {nil, []bool{true, true, true}}, "two": {[]int32{2, 0, -1}, []bool{true, false, true}}, "one": {[]int32{1}, []bool{false, true, false}}, "none": {[]int32{-1}, []bool{false, false, false}},
	} {
		var log bytes.Buffer
		env := logged(&log)
		env.Step.Options = map[string]string{}
		text := DrawProportions(env, arrowio.TargetDomain, classes, tc.labels)
		items := strings.Split(text, ",")
		for k, some := range tc.some {
			if (items[k] != "0") != some {
				t.Errorf("%s: the proportions are %s", name, text)
			}
		}
		if name == "one" && text != "0,1,0" {
			t.Errorf("the proportions of one class are %s", text)
		}
		if env.Step.Options["target-proportions"] != text {
			t.Errorf("%s: noted is %v", name, env.Step.Options)
		}
		if want := fmt.Sprintf("target proportions drawn: a=%s,b=%s,c=%s", items[0], items[1], items[2]); !slices.Equal(said(&log), []string{want}) {
			t.Errorf("%s: it said %q, not %s", name, said(&log), want)
		}
		if again := DrawProportions(stages.Env{}, arrowio.SourceDomain, classes, tc.labels); name == "all" && again == text {
			t.Error("those of both domains are the same")
		}
	}
}

// Raw intensities are told of with what brings them to a scale, whatever the number of rows.
func TestTellRaw(t *testing.T) {
	raw := func(i int) float32 { return float32(math.Exp(float64(i%100) / 10)) }
	for name, tc := range map[string]struct {
		rows     int
		cofactor float64
		columns  map[string]func(int) float32
		want     string
	}{
		"two of a mass cytometer": {100, 5, map[string]func(int) float32{"a": raw, "b": raw}, "s.csv: the intensities are raw (a, b): --arcsinh 5 brings them to the scale on which cells are gated"},
		"two of fluorescence":     {100, 150, map[string]func(int) float32{"a": raw, "b": raw}, "s.csv: the intensities are raw (a, b): --arcsinh 150 or --logicle 262144 (the top of the instrument's scale) brings them to the scale on which cells are gated"},
		"a cofactor above that":   {100, 5.5, map[string]func(int) float32{"a": raw, "b": raw}, "s.csv: the intensities are raw (a, b): --arcsinh 5.5 or --logicle 262144 (the top of the instrument's scale) brings them to the scale on which cells are gated"},
		"many rows":               {3 * rawRows, 5, map[string]func(int) float32{"a": raw, "b": raw}, "s.csv: the intensities are raw (a, b): --arcsinh 5 brings them to the scale on which cells are gated"},
		"one":                     {100, 5, map[string]func(int) float32{"a": raw, "b": func(i int) float32 { return float32(i) }}, ""},
		"no value":                {100, 5, map[string]func(int) float32{"a": raw, "b": func(int) float32 { return float32(math.NaN()) }}, ""},
		"no cytometer":            {100, 0, map[string]func(int) float32{"a": raw, "b": raw}, ""},
	} {
		var log bytes.Buffer
		table := suspect(tc.rows, false, tc.columns)
		table.Cofactor = tc.cofactor
		(&recipe{}).tellRaw(logged(&log), table)
		if got := strings.Join(said(&log), "\n"); got != tc.want {
			t.Errorf("%s: it said %s", name, got)
		}
	}
}

// One value that is missing, one that the source lacks and one row without any value are told of, each as it is; and none are not.
func TestOneGap(t *testing.T) {
	e := &encode.Encoder{Columns: []encode.Column{{Field: tables.Field{Name: "a"}}, {Field: tables.Field{Name: "b"}}}}
	for name, tc := range map[string]struct {
		domain arrowio.Domain
		said   strangeness
		want   string
	}{
		"none":                {arrowio.TargetDomain, strangeness{5, 0, []int{0, 0}, []int{0, 0}, nil}, ""},
		"a value is missing":  {arrowio.TargetDomain, strangeness{5, 0, []int{0, 0}, []int{0, 1}, nil}, "t.csv: missing values are filled in: b (1 row, 20.0 %)"},
		"a row has no value":  {arrowio.TargetDomain, strangeness{5, 1, []int{0, 0}, []int{1, 1}, nil}, emptyRows("t.csv", arrowio.TargetDomain, 1, 5)},
		"a value is new":      {arrowio.TargetDomain, strangeness{5, 0, []int{1, 0}, []int{0, 0}, nil}, "t.csv: values that the source lacks: a (1 row, 20.0 %)"},
		"of the source's own": {arrowio.SourceDomain, strangeness{5, 0, []int{1, 0}, []int{0, 0}, nil}, ""},
	} {
		var log bytes.Buffer
		(&recipe{Encoder: e}).tellGaps(logged(&log), "t.csv", tc.domain, &tc.said)
		if got := strings.Join(said(&log), "\n"); got != tc.want {
			t.Errorf("%s: it said %s\nwant %s", name, got, tc.want)
		}
	}
}

// Rows that are missing say nothing of the scale.
func TestWithValues(t *testing.T) {
	nan := float32(math.NaN())
	x := blas32.General{Rows: 3, Cols: 2, Stride: 3, Data: []float32{1, 2, -1, nan, nan, -1, 3, nan, -1}}
	some := withValues(x)
	if some.Rows != 2 || some.Stride != 2 || !slices.EqualFunc(some.Data, []float32{1, 2, 3, nan}, func(a, b float32) bool { return a == b || a != a && b != b }) {
		t.Errorf("%+v", some)
	}
	whole := blas32.General{Rows: 1, Cols: 2, Stride: 3, Data: []float32{1, nan, -1}}
	if some := withValues(whole); some.Rows != 1 || some.Stride != 3 {
		t.Errorf("%+v", some)
	}
}

// A value that has no transform is told by its row and column, with what to do.
func TestValuesWithoutTransform(t *testing.T) {
	for _, tc := range []struct {
		transform scale.Transform
		columns   []string
		value     float32
		want      string
	}{
		{scale.Transform{Log1p: true}, []string{"a", "b"}, -1, `row 2, column "b": -1 has no log1p: log1p takes numbers above -1: mend or drop the row, or learn without the column (--exclude), or with --arcsinh COFACTOR`},
		{scale.Transform{Log1p: true}, nil, -2, `row 2, feature 2: -2 has no log1p: log1p takes numbers above -1: mend or drop the row, or learn without the column (--exclude), or with --arcsinh COFACTOR`},
		{scale.Transform{Cofactor: 1e-320}, nil, 1, `row 2, feature 2: 1 has no arcsinh with the cofactor 1e-320: learn with a larger cofactor`},
	} {
		table := &tables.Table{Name: "t", Columns: tc.columns, Shape: []int{2}, Features: blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0, 0, 0, tc.value}}}
		err := (&recipe{Transform: &tc.transform}).transform(t.Context(), table)
		if err == nil || err.Error() != tc.want {
			t.Errorf("error %v, want %s", err, tc.want)
		}
	}
}

// At the edges of what makes a column suspicious.
func TestSuspectEdges(t *testing.T) {
	rng := func(n int) func(int) float32 { return func(i int) float32 { return float32(i % n) } }
	long := func(n int) func(int) float32 { // n of 40 values are too long for measurements, and fall
		return func(i int) float32 {
			v := float32(i * 3 % 40)
			if i%40 < n {
				return float32(longest) * (100 - v)
			}
			return 1000 * v * v
		}
	}
	for name, tc := range map[string]struct {
		value func(int) float32
		want  bool
	}{"half of the values are long": {long(20), false}, "more are": {long(21), true}} {
		table := suspect(40, false, map[string]func(int) float32{"x": tc.value, "zero": rng(1)})
		if got := len(scanned(t, table)) == 1; got != tc.want {
			t.Errorf("%s: an identity is %v", name, got)
		}
	}
	for name, tc := range map[string]struct {
		source func(int) float32
		want   bool
	}{
		"a code":                      {rng(manyValues - 1), false},
		"as many values as no code":   {rng(manyValues), true},
		"half of the rows are as it":  {func(i int) float32 { return float32(i % 2 * (i % 40)) }, true},
		"more of the rows are as it":  {func(i int) float32 { return float32(min(i, 1) * (i % 2) * (i % 40) * min(i%39, 1)) }, false},
		"none of the rows is as it":   {func(i int) float32 { return float32(i%30) + 1 }, true},
		"there are no rows beside it": {rng(1), false},
	} {
		source, target := newSpreads(1), newSpreads(1)
		for i := range 80 {
			source[0].add(tc.source(i))
		}
		for range minIdentityRows {
			target[0].add(0)
		}
		if got := target[0].isStuck(&source[0]); got != tc.want {
			t.Errorf("%s: stuck is %v", name, got)
		}
	}
	for _, classes := range []int{1, 2} {
		table := suspect(30, false, map[string]func(int) float32{"x": func(i int) float32 { return float32(i%classes) + float32(i)/100 }})
		for i := range 30 {
			table.Labels = append(table.Labels, string(rune('a'+i%classes)))
		}
		if got := sideBySide(table, 0, 30); got != (classes > 1) {
			t.Errorf("%d classes are apart: %v", classes, got)
		}
		if !sideBySide(table, 0, 10) {
			t.Errorf("some rows of %d classes are not apart", classes)
		}
	}
}

// Labels are looked for among columns of few values, and proposed if they are few.
func TestLikelyLabels(t *testing.T) {
	of := func(values, columns int) *tables.Table {
		table := &tables.Table{}
		for _, name := range namesOf(columns) {
			table.Fields = append(table.Fields, tables.Field{Name: name, Kind: tables.Category, Values: namesOf(values)})
		}
		return table
	}
	skipped := of(maxNamed, 1)
	skipped.Skipped = []tables.Skipped{{Name: "text", Values: []string{"v"}}, {Name: "dates"}}
	for name, tc := range map[string]struct {
		table *tables.Table
		other []string
		want  string
	}{
		"one value":               {of(1, 1), nil, ""},
		"two values":              {of(2, 1), nil, ", perhaps c0"},
		"as many as are few":      {of(maxNamed, 1), nil, ", perhaps c0"},
		"one more":                {of(maxNamed+1, 1), nil, ""},
		"as many columns":         {of(2, maxLikely), nil, ", perhaps c0 or c1 or c2 or c3 or c4"},
		"one column more":         {of(2, maxLikely+1), nil, ""},
		"the others have some":    {of(2, 3), []string{"c0", "c2"}, ", perhaps c1"},
		"the others have all":     {of(2, 2), []string{"c0", "c1"}, ", perhaps c0 or c1"},
		"columns that are unread": {skipped, nil, ", perhaps text or c0"},
	} {
		if got := likelyLabels(tc.table, tc.other); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Columns of text that were not read are a warning in the source alone, and if nobody chose the columns.
func TestTellColumns(t *testing.T) {
	text := []tables.Skipped{{Name: "kind", Why: tables.WhyText, Values: []string{"x", "y"}}, {Name: "note", Why: tables.WhyText}, {Name: "other"}}
	source, target := &tables.Table{Name: "s.csv", Skipped: text}, &tables.Table{Name: "t.csv", Skipped: slices.Clone(text)}
	target.Skipped[0].Name = "sort"
	var log bytes.Buffer
	(&recipe{}).tellColumns(logged(&log), source, target, Options{})
	if want := []string{
		"s.csv: columns of text that are not used: kind (x, y): if they say something of the class, make numbers of them, such as a column of 0 and 1 for each value",
		"s.csv: columns not used: note (text); other; choose with --columns",
		"t.csv: columns not used: sort (text); choose with --columns",
	}; !slices.Equal(said(&log), want) {
		t.Errorf("it said\n%s", strings.Join(said(&log), "\n"))
	}
	log.Reset()
	chosen := Options{Prepared: "{}"}
	chosen.Source.Format.Columns = []string{"a"}
	(&recipe{}).tellColumns(logged(&log), source, nil, chosen)
	if want := []string{"s.csv: columns not used: kind, note (text); other"}; !slices.Equal(said(&log), want) {
		t.Errorf("of columns that were chosen it said\n%s", strings.Join(said(&log), "\n"))
	}
}

// Text looks like numbers with units if nine of ten values do, of as many as asked for.
func TestTellUnits(t *testing.T) {
	units := func(n, others int) encode.Column {
		c := encode.Column{Field: tables.Field{Name: "w", Kind: tables.Category}}
		for i := range n {
			c.Values = append(c.Values, fmt.Sprintf("%d kg", i))
		}
		return encode.Column{Field: tables.Field{Name: "w", Kind: tables.Category, Values: append(c.Values, namesOf(others)...)}}
	}
	for name, tc := range map[string]struct {
		column encode.Column
		told   bool
	}{
		"too few": {units(4, 0), false}, "enough": {units(5, 0), true}, "nine of ten": {units(9, 1), true}, "eight of nine": {units(8, 1), false},
	} {
		var log bytes.Buffer
		(&recipe{}).tellUnits(logged(&log), "t.csv", []encode.Column{tc.column}, 5, "are categories")
		want := []string(nil)
		if tc.told {
			want = []string{`t.csv: columns of text that are categories and look like numbers with something beside them: w (such as \"0 kg\"): take that away if they say something of the class`}
		}
		got := said(&log)
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], `\\`, `\`)
		}
		if strings.ReplaceAll(strings.Join(got, ""), `\`, "") != strings.ReplaceAll(strings.Join(want, ""), `\`, "") {
			t.Errorf("%s: it said %q", name, got)
		}
	}
}

// Images of one or three channels are shown, in their colours, from rows at even distances.
func TestPreviewOfColours(t *testing.T) {
	const height, width = 8, 32 // of one image; its sides differ
	const pixels = height * width
	image := func(base float32) []float32 {
		row := make([]float32, 3*pixels)
		for k := range row {
			row[k] = base + float32(k/pixels) // 0 in red, 1 in green, 2 in blue
		}
		return row
	}
	var data []float32
	for i := range 2 * previewRows {
		row := image(0)
		row[2*pixels-1] = float32(i) / previewRows // the green of the last pixel
		data = append(append(data, row...), 9)
	}
	x := blas32.General{Rows: 2 * previewRows, Cols: 3 * pixels, Stride: 3*pixels + 1, Data: data}
	path := filepath.Join(t.TempDir(), "out.png")
	if err := (Preview{Path: path, Augment: "none"}).write(&dataset{shape: []int{3, height, width}, sides: []side{{x: x}}}, 1, nil); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	for line := range previewRows {
		for at, green := range map[[2]int]uint32{{0, 0}: 128, {width - 1, height - 1}: uint32(255*2*line+previewRows) / (2 * previewRows)} {
			r, g, b, _ := m.At(previewGap+at[0]*previewScale, previewGap+line*(height*previewScale+previewGap)+at[1]*previewScale).RGBA()
			if r>>8 != 0 || g>>8 != green || b>>8 != 255 {
				t.Errorf("line %d, pixel %d is of the colour %d, %d, %d, not 0, %d, 255", line, at, r>>8, g>>8, b>>8, green)
			}
		}
	}
	for _, shape := range [][]int{{2, 8, 8}, {4, 4, 4}} {
		err := (Preview{Path: path, Augment: "none"}).write(&dataset{shape: shape}, 1, nil)
		if want := fmt.Sprintf("%s: rows of shape %v cannot be shown: give grey or colour images, such as --shape 1x28x28", path, shape); err == nil || err.Error() != want {
			t.Errorf("error %v", err)
		}
	}
}

// sizesSink keeps how many rows were written at a time.
type sizesSink struct {
	arrowio.Sink
	rows []int
}

func (s *sizesSink) Write(rec arrow.Record) error {
	s.rows = append(s.rows, int(rec.NumRows()))
	if c := rec.Column(int(rec.NumCols()) - 1); c.Len() != int(rec.NumRows()) || c.NullN() != c.Len() {
		return fmt.Errorf("%d batches of %d rows, of which %d are null", c.Len(), rec.NumRows(), c.NullN())
	}
	return nil
}

// A state keeps how features are scaled, in each domain.
func TestStateKeepsScalings(t *testing.T) {
	standard := scale.Scaling{Standard: &scale.Standard{Mean: []float64{1, 2}, Deviation: []float64{3, 4}}}
	quantiles := scale.Scaling{Quantiles: &scale.Quantiles{Values: [][]float64{{1, 2}, {3, 5}}}}
	st := &recipe{source: standard, target: quantiles}
	path := filepath.Join(t.TempDir(), "x.state")
	sum, err := st.save(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	got, again, err := loadRecipe(path)
	if err != nil || sum != again || !reflect.DeepEqual(got.source, standard) || !reflect.DeepEqual(got.target, quantiles) {
		t.Errorf("%+v, %v", got, err)
	}
}

// What is for numbers is warned of where no feature is one, unless it was settled before.
func TestWarnWithoutNumbers(t *testing.T) {
	categories := &encode.Encoder{Columns: []encode.Column{{Field: tables.Field{Name: "k", Kind: tables.Category, Values: []string{"x"}}, Levels: []int{0}}}}
	log1p := &scale.Transform{Log1p: true}
	const transform = "s.csv: no feature is a number, so log1p changes nothing: leave it out, or choose columns of numbers with --columns"
	const robust = "s.csv: no feature is a number, so --scale robust is of categories, dates and times alone: leave it out, or choose columns of numbers with --columns"
	source := SideOptions{Path: "s.csv"}
	for name, tc := range map[string]struct {
		st   recipe
		o    Options
		want []string
	}{
		"a transform":         {recipe{Encoder: categories, Transform: log1p}, Options{Source: source}, []string{transform}},
		"a scale":             {recipe{Encoder: categories}, Options{Source: source, Scale: scale.Robust}, []string{robust}},
		"both":                {recipe{Encoder: categories, Transform: log1p}, Options{Source: source, Scale: scale.Robust}, []string{transform, robust}},
		"the usual scale":     {recipe{Encoder: categories}, Options{Source: source, Scale: scale.Moments}, nil},
		"none":                {recipe{Encoder: categories}, Options{Source: source}, nil},
		"of a state":          {recipe{Encoder: categories, Transform: log1p}, Options{Source: source, Load: "x"}, nil},
		"of a model":          {recipe{Encoder: categories, Transform: log1p}, Options{Source: source, Prepared: "x"}, nil},
		"features of numbers": {recipe{Transform: log1p}, Options{Source: source}, nil},
	} {
		var log bytes.Buffer
		tc.st.warnWithoutNumbers(logged(&log), tc.o)
		if got := said(&log); !slices.Equal(got, tc.want) {
			t.Errorf("%s: it said %q", name, got)
		}
	}
}
