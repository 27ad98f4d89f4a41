package stream

import (
	"fmt"
	"slices"
	"testing"

	"mars.dev/mars/arrowio"
)

// Rows are taken for images where nothing says what they are if all their values are from 0 to 1, or whole ones to 255.
func TestPixels(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float32
		want   bool
	}{
		{"parts of 1", []float32{0, .5, 1}, true},
		{"a little above 1", []float32{0, .5, 1.01}, false},
		{"a little below 0", []float32{-.01, .5, 1}, false},
		{"bytes", []float32{0, 17, 255}, true},
		{"above bytes", []float32{0, 17, 256}, false},
		{"below bytes", []float32{-1, 17, 255}, false},
		{"between bytes", []float32{0, 17.5, 255}, false},
	} {
		if got := pixels(test.values[:1], test.values[1:]); got != test.want {
			t.Errorf("%s: pixels = %v, want %v", test.name, got, test.want)
		}
	}
}

// Rows that may be images are refused where nothing says whether they are.
func TestLostImages(t *testing.T) {
	for _, test := range []struct {
		name  string
		width int
		value float32
		meta  arrowio.Meta
		of    map[string]string
		shape []int
		want  string // that is advised; "" is no error
	}{
		{"the smallest", 64, 1, arrowio.Meta{}, nil, nil, "give --shape 1x8x8, or --shape 64 if they are 64 columns"},
		{"in colour", 192, 1, arrowio.Meta{}, nil, nil, "give --shape 3x8x8, or --shape 192 if they are 192 columns"},
		{"larger", 100, 255, arrowio.Meta{}, nil, nil, "give --shape 1x10x10, or --shape 100 if they are 100 columns"},
		{"too small", 49, 1, arrowio.Meta{}, nil, nil, ""},
		{"too small in colour", 147, 1, arrowio.Meta{}, nil, nil, ""},
		{"no square", 65, 1, arrowio.Meta{}, nil, nil, ""},
		{"no square in colour", 195, 1, arrowio.Meta{}, nil, nil, ""},
		{"no pixels", 64, .5 + 1, arrowio.Meta{}, nil, nil, ""},
		{"from a stage", 64, 1, arrowio.Meta{Provenance: []arrowio.Step{{Stage: "mars-featurize"}}}, nil, nil, ""},
		{"told", 64, 1, arrowio.Meta{}, map[string]string{"any": "thing"}, nil, ""},
		{"asked for", 64, 1, arrowio.Meta{}, nil, []int{64}, ""},
	} {
		row := slices.Repeat([]float32{test.value}, test.width)
		r := rowsOf(test.meta, test.of, few.with(columns{"features": lists(row, row, row, row)}))
		r.Env.Shape = test.shape
		want := ""
		if test.want != "" {
			want = `rows: column "features": its rows may be images, and nothing says so: a tool in between has dropped the metadata: ` + test.want
		}
		if err := gathered(r); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v\nwant %s", test.name, err, want)
		}
	}
}

// The shape of the features is what was asked for, or what the stream says, and fits their width.
func TestShapes(t *testing.T) {
	for _, test := range []struct {
		told, column string
		asked        []int
		width        int
		images       bool
		want         string
	}{
		{"", "features", nil, 4, false, "[4] <nil>"},
		{"4", "features", nil, 4, false, "[4] <nil>"},
		{"1x2x2", "features", nil, 4, true, "[1 2 2] <nil>"},
		{"1x2x2", "features", nil, 5, true, `[] rows: column "features": a shape of 1x2x2 is 4 numbers, and the rows have 5: give the true one with --shape`},
		{"2x2", "features", nil, 4, false, `[] rows: column "features": its metadata key mars.shape: "2x2" is no shape: write channels, height and width as in 3x28x28, or one number of columns`},
		{"1x2x2", "features", []int{4}, 4, false, "[4] <nil>"},
		{"4", "features", []int{1, 2, 2}, 4, true, "[1 2 2] <nil>"},
		{"", "features", []int{1, 2, 2}, 5, true, `[] rows: column "features": a shape of 1x2x2 is 4 numbers, and the rows have 5: give the true one with --shape`},
		{"1x2x2", "embedding", []int{1, 2, 2}, 7, true, "[7] <nil>"},
	} {
		var of map[string]string
		if test.told != "" {
			of = map[string]string{arrowio.ShapeKey: test.told}
		}
		r := rowsOf(arrowio.Meta{}, of, few.with(columns{"embedding": few["features"]}))
		r.Env.Shape = test.asked
		shape, err := r.ShapeOf(test.column, test.width)
		if got := fmt.Sprint(shape, err); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
		if images := r.Images(); images != test.images {
			t.Errorf("%+v: images is %v", test, images)
		}
		if column := r.Vectors(); (column == "embedding") != test.images {
			t.Errorf("%+v: its vectors are in %s", test, column)
		}
	}
	if r := rowsOf(arrowio.Meta{}, nil, few); r.Vectors() != "features" {
		t.Errorf("without an embedding, the vectors are in %s", r.Vectors())
	}
	if r := rowsOf(arrowio.Meta{}, nil, columns{"embedding": few["features"]}); r.Vectors() != "embedding" {
		t.Errorf("without features, the vectors are in %s", r.Vectors())
	}
}

// The toy network is for the toy problem, which alone reads no file, and where it may be chosen.
func TestArch(t *testing.T) {
	step := func(stage, source string) []arrowio.Step {
		return []arrowio.Step{{Stage: stage, Options: map[string]string{"source": source}}, {Stage: "mars-embed"}}
	}
	for _, test := range []struct {
		steps       []arrowio.Step
		asked, want string
	}{
		{nil, "auto", "auto"},
		{step("mars-featurize", ""), "auto", "toy"},
		{step("mars-featurize", ""), "mlp", "mlp"},
		{step("mars-featurize", "a.csv"), "auto", "auto"},
		{step("other", ""), "auto", "auto"},
	} {
		if got := rowsOf(arrowio.Meta{Provenance: test.steps}, nil, few).Arch(test.asked); got != test.want {
			t.Errorf("%+v: %s is %s, want %s", test.steps, test.asked, got, test.want)
		}
	}
}
