package classes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/spelling"
)

// Labels go up to the last class, and two classes at least have rows.
func TestNewPresent(t *testing.T) {
	for _, c := range []struct {
		labels []int32
		want   string // the present classes, or the error
	}{
		{[]int32{0, 3}, "[0 3] [0 1] [0.5 0.5]"},
		{[]int32{3, 1, 3, 3}, "[1 3] [1 0 1 1] [0.25 0.75]"},
		{[]int32{0, 4}, "source row 1 has label 4: labels go from 0 to 3"},
		{[]int32{-1, 0}, "source row 0 has label -1: labels go from 0 to 3"},
		{[]int32{2, 2}, "all source rows are of class 2: give rows of at least two classes"},
		{nil, "there are no source rows: give labelled rows"},
	} {
		p, err := NewPresent(c.labels, 4)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(p.Class, p.Labels, p.Prior)
		}
		if got != c.want {
			t.Errorf("labels %v: %s, want %s", c.labels, got, c.want)
		}
	}
}

// Values of present classes go to their places among all, and come back.
func TestAllAndOf(t *testing.T) {
	some := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	for _, c := range []struct {
		labels []int32
		all    []float64
		rows   []float32
	}{
		{[]int32{1, 2}, []float64{0, 5, 6, 0}, []float32{0, 1, 2, 0, 0, 3, 4, 0}},
		{[]int32{0, 1}, []float64{5, 6, 0, 0}, []float32{1, 2, 0, 0, 3, 4, 0, 0}},
	} {
		p, err := NewPresent(c.labels, 4)
		if err != nil {
			t.Fatal(err)
		}
		all, rows := p.All([]float64{5, 6}), p.AllRows(some)
		if !slices.Equal(all, c.all) || !slices.Equal(rows.Data, c.rows) {
			t.Errorf("classes %v: %v and %v, want %v and %v", c.labels, all, rows.Data, c.all, c.rows)
		}
		if back := p.OfRows(rows); !slices.Equal(p.Of(all), []float64{5, 6}) || !slices.Equal(back.Data, some.Data) {
			t.Errorf("classes %v: back come %v and %v", c.labels, p.Of(all), back.Data)
		}
	}
}

// So many absent classes are named one by one, and more together; the last one too.
func TestWarnings(t *testing.T) {
	for _, absent := range []int{0, 1, spelling.MaxNamed, spelling.MaxNamed + 1} {
		p, err := NewPresent([]int32{0, 1}, 2+absent)
		if err != nil {
			t.Fatal(err)
		}
		var want, names []string
		for k := range absent {
			names = append(names, fmt.Sprint(2+k))
			want = append(want, "class "+names[k]+" has no source rows: its share of the target can not be estimated and is given as 0")
		}
		if absent > spelling.MaxNamed {
			want = []string{fmt.Sprintf("%d classes have no source rows: their shares of the target can not be estimated and are given as 0: %s", absent, spelling.List(names))}
		}
		if got := p.Warnings(); !slices.Equal(got, want) {
			t.Errorf("%d classes are absent: %s, want %s", absent, strings.Join(got, "; "), strings.Join(want, "; "))
		}
	}
}
