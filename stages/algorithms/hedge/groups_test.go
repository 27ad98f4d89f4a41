package hedge

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
)

// Intervals of sums are those of sums: of each class by itself they are the classes', a sum and the rest are
// as wide, and all classes together are all rows. Files and sums over all rows keep that.
func TestGroups(t *testing.T) {
	p := newProblem(600, even, uneven, apart).Problem
	m, err := Fit(t.Context(), p, Options{Groups: [][]int{{0, 0, 0}, {0, 1, 1}, {0, 1, 2}}, Interval: &IntervalOptions{}})
	if err != nil {
		t.Fatal(err)
	}
	a, _, _ := everyRow(t, m, p, 2)
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	loaded, err := Load(strings.NewReader(text), "m")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(loaded.GroupsAt(0.9), m.GroupsAt(0.9)) {
		t.Errorf("a file has the intervals %v, want %v", loaded.GroupsAt(0.9), m.GroupsAt(0.9))
	}
	for name, m := range map[string]*Model{"fit": m, "every row": m.With(a)} {
		all := m.GroupsAt(0.9)
		if one := all[0]; one.Upper[0] < 1-1e-9 || one.Lower[0] < 1-1e-6 {
			t.Errorf("%s: all classes together have a share of %v to %v", name, one.Lower[0], one.Upper[0])
		}
		width := func(v *Interval, k int) float64 { return v.Upper[k] - v.Lower[k] }
		if two := all[1]; math.Abs(width(two, 0)-width(two, 1)) > 1e-9 {
			t.Errorf("%s: a class has a width of %v, the others together %v", name, width(two, 0), width(two, 1))
		}
		if added := width(m.Interval, 1) + width(m.Interval, 2); width(all[1], 1) > added-1e-3 {
			t.Errorf("%s: two classes together have a width of %v, their added ends %v", name, width(all[1], 1), added)
		}
		for k := range p.Classes {
			if math.Abs(all[2].Lower[k]-m.Interval.Lower[k]) > 1e-9 || math.Abs(all[2].Upper[k]-m.Interval.Upper[k]) > 1e-9 {
				t.Errorf("%s: class %d by itself has %v to %v, the class %v to %v", name, k, all[2].Lower[k], all[2].Upper[k], m.Interval.Lower[k], m.Interval.Upper[k])
			}
		}
	}
	for was, is := range map[string]string{`\"groups\":[[0,0,0]`: `\"groups\":[[0,0]`, `\"groups\":[[0,0,0],`: `\"groups\":[`, `[0,1,2]]`: `[0,1,9]]`, `\"group_sampling\":[[`: `\"group_sampling\":[[-`} {
		damaged := strings.Replace(text, was, is, 1)
		if damaged == text {
			t.Errorf("the file has no %q", was)
		}
		if _, err := Load(strings.NewReader(damaged), "m"); err == nil || !strings.HasPrefix(err.Error(), "m: ") {
			t.Errorf("%s: a damaged file: %v", is, err)
		}
	}
}
