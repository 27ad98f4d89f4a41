package featurize

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// Columns that say nothing of the target are left out or doubted, each with a reason, whether it is read in blocks or as a whole.
func TestColumnsThatTheTargetLost(t *testing.T) {
	folder := t.TempDir()
	source := writeFile(t, folder, "s.csv", mixedTable(60, 0))
	row := func(i int) map[string]string {
		k := i*7 + 3
		return map[string]string{"a": fmt.Sprintf("%d.5", k%11), "b": fmt.Sprint(k % 13), "kind": []string{"x", "y", "z"}[k%3], "day": fmt.Sprintf("2024-01-%02d", 1+k%28)}
	}
	for name, tc := range map[string]struct {
		change func(i int, row map[string]string)
		told   string // %s: the target, and the source
		model  string // the same of a target whose model was learnt before; "": nothing
	}{
		"an empty column": {func(_ int, r map[string]string) { r["b"] = "" }, "%s: columns that are left out, because no row has a value: b", "%s: columns say nothing that was learnt: b (no row has a value): write them as they were written there, or learn without them"},
		"a stuck column": {func(_ int, r map[string]string) { r["a"] = "3.25" },
			"%s: columns that are left out, because all rows have one value, as of a sensor that has died or a stain that was forgotten, and those of %s have many: a: choose them with --columns if they are features", ""},
		"other categories": {func(_ int, r map[string]string) { r["kind"] += "!" }, "%s: columns that are left out, because most of their values are none of %s: kind",
			"%s: columns say nothing that was learnt: kind (30 rows, all rows, have a value that the rows lack that were learnt on): write them as they were written there, or learn without them"},
		"some other categories": {func(i int, r map[string]string) {
			if i < 6 {
				r["kind"] = "v"
			}
		}, "%s: values that the source lacks: kind (6 rows, 20.0 %%)", "%s: values that the source lacks: kind (6 rows, 20.0 %%)"},
		"another year": {func(_ int, r map[string]string) { r["day"] = "2031" + r["day"][4:] }, "%s: all dates are outside those of %s, so how many days they are apart is left out: day", ""},
	} {
		text := "a,b,kind,day\n"
		for i := range 30 {
			r := row(i)
			tc.change(i, r)
			text += strings.Join([]string{r["a"], r["b"], r["kind"], r["day"]}, ",") + "\n"
		}
		target := writeFile(t, folder, "t.csv", text)
		for _, drawn := range []int{0, 30} {
			for learnt, o := range map[bool]Options{false: {Source: SideOptions{Path: source}}, true: {Prepared: preparedOf(t, mixedTable(60, 0)), Classes: []string{"p", "q"}}} {
				o.Target = SideOptions{Path: target, MaxRows: drawn}
				var log bytes.Buffer
				env, out := logged(&log), &collected{rows: map[string][][]float32{}}
				env.Columns = arrowio.DefaultColumns()
				if err := Files(t.Context(), env, o, out); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				want := tc.told
				if learnt {
					want = tc.model
				}
				want = strings.Replace(want, "%s", target, 1)
				want = strings.ReplaceAll(strings.Replace(want, "%s", source, 1), "%%", "%")
				if want != "" && !slices.Contains(said(&log), want) {
					t.Errorf("%s, %d rows drawn, of a model %v: it did not say\n%s\nbut\n%s", name, drawn, learnt, want, strings.Join(said(&log), "\n"))
				}
				if len(out.rows["target"]) != 30 || !learnt && len(out.rows["source"][0]) != len(out.rows["target"][0]) {
					t.Errorf("%s: %d rows of the target", name, len(out.rows["target"]))
				}
			}
		}
	}
}

// A target of plain numbers flows: all of its columns but identities are features, and large numbers keep their differences.
func TestTargetOfNumbersFlows(t *testing.T) {
	text := "key,a,b\n"
	for i := range 30 {
		text += fmt.Sprintf("%d,%d.5,%d\n", i, i%7, 4_000_000_000+i*i%30)
	}
	path := writeFile(t, t.TempDir(), "t.csv", text)
	var log bytes.Buffer
	env, out := logged(&log), &collected{rows: map[string][][]float32{}}
	env.Columns = arrowio.DefaultColumns()
	if err := Files(t.Context(), env, Options{Target: SideOptions{Path: path}}, out); err != nil {
		t.Fatal(err)
	}
	first := out.rows["target"][0]
	for i, row := range out.rows["target"] {
		if len(row) != 2 || float64(row[0])-float64(first[0]) != float64(i%7) || float64(row[1])-float64(first[1]) != float64(i*i%30) {
			t.Errorf("row %d is %v, after %v", i, row, first)
		}
	}
	for _, want := range []string{path + ": 30 target rows of 2 numbers", "features: a, b", path + ": columns that are left out, because they have another whole number in each row, as identities do: key: choose them with --columns if they are features"} {
		if !slices.Contains(said(&log), want) {
			t.Errorf("it said %q, not %s", said(&log), want)
		}
	}
}
