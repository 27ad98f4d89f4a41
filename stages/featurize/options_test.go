package featurize

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
)

// Options and files that do not fit are refused by Files, whatever finds it.
func TestFilesRefuses(t *testing.T) {
	folder := t.TempDir()
	numbers, mixed := writeFile(t, folder, "n.csv", numberTable(60, 0)), writeFile(t, folder, "m.csv", mixedTable(60, 0))
	bare := writeFile(t, folder, "bare.csv", "a,b,label\n1,2,\n3,4,\n")
	twice := writeFile(t, folder, "twice.csv", "id,a,b\nr1,1,2\nr1,3,4\n")
	huge := writeFile(t, folder, "huge.csv", "a,b\n1,2\n1e999,4\n")
	none := writeFile(t, folder, "none.csv", "a,b\n1,2\n3,4\n")
	other := writeFile(t, folder, "other.csv", "a,b,label\n1,2,z\n")
	side := func(path string) SideOptions { return SideOptions{Path: path} }
	drawn := func(so SideOptions) Options { so.Path = numbers; return Options{Source: so} }
	for name, tc := range map[string]struct {
		o    Options
		want string
	}{
		"a state that is not there":      {Options{Source: side(numbers), Load: filepath.Join(folder, "x.state")}, "x.state"},
		"a model that is none":           {Options{Target: side(numbers), Prepared: "{"}, arrowio.PreparationKey},
		"a tree that is none":            {Options{Source: side(numbers), Tree: "-"}, "-: is no table in a file"},
		"levels of no source":            {Options{Target: side(none), Levels: []string{"tissue", "label"}}, "--levels are columns of the source, which is not there: give it with --source"},
		"a scale of no source":           {Options{Target: side(none), Standardize: "source"}, "--standardize source needs --source: give it, or --load the state of a run that had it"},
		"a column that the stream has":   {Options{Source: side(numbers), FileColumn: "id"}, "--file-column id: the stream has a column of that name: choose another"},
		"nothing":                        {Options{}, "there is nothing to read: give --source FILE, --target FILE or both"},
		"no label at all":                {Options{Source: side(bare), DropUnlabelled: true}, bare + ": none of its 2 rows has a label: check the column of labels"},
		"one file without labels":        {Options{Source: side(none), Target: side(none)}, "; the file is source and target: if a column says which domain a row is of, name it with --domain-column"},
		"identities that are repeated":   {Options{Source: side(numbers), Target: side(twice)}, twice},
		"numbers that are too large":     {Options{Source: side(numbers), Target: side(huge)}, huge},
		"these of a target alone":        {Options{Target: side(twice)}, twice},
		"classes that are not there":     {Options{Source: side(numbers), Classes: []string{"p", "z"}}, numbers + `: `},
		"truth that the source lacks":    {Options{Source: side(numbers), Target: side(other), Truth: true}, `"z"`},
		"more rows than there are":       {drawn(SideOptions{Rows: 100}), "rows: 100 asked for of 60: ask for at most 60"},
		"proportions of another number":  {drawn(SideOptions{Proportions: "1,0,0"}), "--source-proportions: "},
		"fractions that are none":        {drawn(SideOptions{Fractions: "2,2"}), `--source-fractions: fractions "2,2": number 1 is 2: a fraction is from 0 to 1`},
		"fractions that leave nothing":   {drawn(SideOptions{Fractions: "0,0"}), "--source-fractions: no rows are left: keep some of a class that has rows"},
		"too many classes":               {Options{Source: side(mixed), Target: side(mixed), Mixed: MixedOptions{}}, "the limit is 1"},
		"no column of both":              {Options{Source: side(numbers), Target: side(writeFile(t, folder, "x.csv", "x,y\n1,2\n"))}, "they have no feature column in common"},
		"one column of both":             {Options{Source: side(numbers), Target: side(writeFile(t, folder, "y.csv", "b,y\n1,2\n"))}, "both have b: use these alone with --columns b, or give "},
		"one column of both, as a whole": {Options{Source: side(numbers), Target: SideOptions{Path: filepath.Join(folder, "y.csv"), MaxRows: 1}}, "both have b: use these alone with --columns b, or give "},
	} {
		env := stages.Env{Columns: arrowio.DefaultColumns()}
		if name == "too many classes" {
			env.MaxClasses = 1
		}
		refused(t, name, Files(t.Context(), env, tc.o, &rowsSink{}), tc.want)
	}
	var log bytes.Buffer
	env := logged(&log)
	env.Columns = arrowio.DefaultColumns()
	if err := Files(t.Context(), env, drawn(SideOptions{Proportions: "random", Rows: 10}), &rowsSink{}); err != nil || !strings.Contains(log.String(), "source proportions drawn: p=0.") {
		t.Errorf("proportions at random: %v, it said %s", err, log.String())
	}
}

// A table that lacks columns is told of with those of the source, or of a model, and what to do.
func TestLacks(t *testing.T) {
	lacking := func() *tables.MissingColumns {
		return &tables.MissingColumns{Absent: []string{"c"}, Header: []string{"a", "b"}}
	}
	for _, tc := range []struct {
		o       Options
		columns []string
		want    string
	}{
		{Options{Load: "x.state"}, []string{"a", "c"}, `t.csv: has no column "c", which the rows that were learnt on have (the columns of t.csv are a, b): give it the column, or learn without it`},
		{Options{Prepared: "{}"}, []string{"a", "c"}, `t.csv: has no column "c", which the rows that were learnt on have (the columns of t.csv are a, b): give it the column, or learn without it`},
		{Options{}, []string{"a", "c"}, "t.csv: " + lacking().Error()},
		{Options{Source: SideOptions{Path: "t.csv"}}, []string{"a", "c"}, "t.csv: " + lacking().Error()},
		{Options{Source: SideOptions{Path: "-"}}, []string{"a", "c"}, `t.csv: has no column "c", which standard input has (the columns of t.csv are a, b); both have a: use these alone with --columns a, or give t.csv the others`},
		{Options{Source: SideOptions{Path: "s.csv"}}, []string{"c"}, `t.csv: has no column "c", which s.csv has (the columns of t.csv are a, b); they have no feature column in common: rename columns, or name others with --columns`},
	} {
		if err := tc.o.lacks("t.csv", lacking(), tc.columns); err.Error() != tc.want {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
}

// Columns of text and dates that the target lacks are left out, with a word, whether it is read in blocks or as a whole.
func TestAbsentColumnsAreLeftOut(t *testing.T) {
	folder := t.TempDir()
	source := writeFile(t, folder, "s.csv", mixedTable(60, 0))
	for lack, text := range map[string]string{
		`column "kind", which %s has: it is left out`:            "a,b,day\n",
		`columns "kind", "day", which %s has: they are left out`: "a,b\n",
	} {
		for i := range 30 {
			text += fmt.Sprintf("%d.5,%d", i%7, i%5)
			if strings.HasPrefix(text, "a,b,day") {
				text += fmt.Sprintf(",2024-01-%02d", 1+i%28)
			}
			text += "\n"
		}
		target := writeFile(t, folder, "t.csv", text)
		for _, rows := range []int{0, 30} {
			var log bytes.Buffer
			env, out := logged(&log), &collected{rows: map[string][][]float32{}}
			env.Columns = arrowio.DefaultColumns()
			o := Options{Source: SideOptions{Path: source}, Target: SideOptions{Path: target, MaxRows: rows}}
			if err := Files(t.Context(), env, o, out); err != nil {
				t.Errorf("%s: %v", lack, err)
				continue
			}
			if want := fmt.Sprintf("%s has no "+lack, target, source); !slices.Contains(said(&log), want) {
				t.Errorf("it said %q, not %s", said(&log), want)
			}
			if len(out.rows["target"]) != 30 || len(out.rows["source"][0]) != len(out.rows["target"][0]) {
				t.Errorf("%d rows", len(out.rows["target"]))
			}
		}
	}
}

// Of files that are of one class each, a batch is a folder.
func TestBatchesOfFolders(t *testing.T) {
	folder := t.TempDir()
	var paths []string
	for _, name := range []string{"d1", "d2"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, class := range []string{"p.csv", "q.csv"} {
			paths = append(paths, writeFile(t, filepath.Join(folder, name), class, "a\n1\n2.5\n"))
		}
	}
	read := func(paths []string) (*dataset, error) {
		o := Options{Source: SideOptions{Path: strings.Join(paths, ","), Format: tables.Options{LabelFromFile: true}}, BatchFiles: true}
		o.Mixed.MaxCategories = DefaultMaxCategories
		return read(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, o, &recipe{})
	}
	d, err := read(paths)
	if err != nil {
		t.Fatal(err)
	}
	one, two := filepath.Join(folder, "d1"), filepath.Join(folder, "d2")
	if got := d.sides[0].batches; !slices.Equal(got, []string{one, one, one, one, two, two, two, two}) {
		t.Errorf("the batches are %v", got)
	}
	_, err = read(paths[:2])
	refused(t, "one folder", err, "is one folder, so one batch, as each file has one class (--label-from-file): give the files of each batch a folder of their own, or leave --batch-files out")
}

// Pictures of the target are brought to the size and the channels of those of the source.
func TestPicturesOfTwoSizes(t *testing.T) {
	picture := func(folder, name string, size int, grey bool) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		m := image.NewRGBA(image.Rect(0, 0, size, size))
		for i := range size * size {
			c := color.RGBA{uint8(40 * (i % 5)), 100, 7, 255}
			if grey {
				c = color.RGBA{c.R, c.R, c.R, 255}
			}
			m.Set(i%size, i/size, c)
		}
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	source, target, colours := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "t"), filepath.Join(t.TempDir(), "c")
	for i, class := range []string{"p", "q"} {
		picture(filepath.Join(source, class), fmt.Sprint(i, ".png"), 4, false)
		picture(target, fmt.Sprint(i, ".png"), 6+i, true)
		picture(colours, fmt.Sprint(i, ".png"), 5, false)
	}
	for name, tc := range map[string]struct {
		o      Options
		shape  []int
		colour bool
	}{
		"grey ones beside colours": {Options{Source: SideOptions{Path: source}, Target: SideOptions{Path: target}}, []int{3, 4, 4}, true},
		"colours beside colours":   {Options{Source: SideOptions{Path: source}, Target: SideOptions{Path: colours}}, []int{3, 4, 4}, true},
		"colours alone":            {Options{Target: SideOptions{Path: colours}}, []int{3, 5, 5}, true},
	} {
		st := &recipe{}
		d, err := read(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, tc.o, st)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(d.shape, tc.shape) || st.Pictures.Colour != tc.colour || d.sides[len(d.sides)-1].x.Rows != 2 {
			t.Errorf("%s: images of the shape %v, in colour %v", name, d.shape, st.Pictures.Colour)
		}
	}
}
