package featurize

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables"
)

// Codes of rows that mars ask chose by a model's doubt, and of one that it drew uniformly.
const (
	byDoubt, byDoubtToo = "30u30c0s-gswmxldx-2c46-cbwkwn-ktrzkh", "30u30c0s-gswmxldx-4c7-cbwkwn-ktrzkh"
	uniformly           = "30u30c0s-gswmxldx-1u129-chlmlf-bbdpsn"
)

// Of batches the rows that were chosen by doubt are left out, with a word for each file that loses some.
func TestChosenRowsAreLeftOut(t *testing.T) {
	folder := t.TempDir()
	sheet := func(name string, codes ...string) string {
		text := "x;label;site;drawn\n"
		for i, code := range codes {
			class := string(rune('a' + i%2))
			if code == byDoubtToo {
				class = "" // nobody has labelled it
			}
			text += fmt.Sprintf("%d,5;%s;s%d;%s\n", i, class, i%2, code)
		}
		return writeFile(t, folder, name, text)
	}
	one, two := sheet("one.csv", byDoubt, "", uniformly, byDoubt), sheet("two.csv", "", byDoubtToo, "")
	three, all := sheet("three.csv", "", uniformly), sheet("all.csv", byDoubt, byDoubt)
	labels := writeFile(t, folder, "labels.csv", "label;drawn\na;\nb;"+byDoubt+"\n")
	const why = " that mars ask chose by the model's doubt, as such are no sample of their batch: mars ask --uniform draws none"
	for name, tc := range map[string]struct {
		source SideOptions
		files  bool
		want   [][]float32
		told   []string // of rows that are left out
		err    string
	}{
		"one of several files": {source: SideOptions{Path: one + "," + three}, files: true, want: [][]float32{{1.5}, {2.5}, {0.5}, {1.5}}, told: []string{one + ": left out 2 rows" + why}},
		"unlabelled ones":      {source: SideOptions{Path: two + "," + three}, files: true, want: [][]float32{{0.5}, {2.5}, {0.5}, {1.5}}},
		"two files":            {source: SideOptions{Path: one + "," + all}, files: true, want: [][]float32{{1.5}, {2.5}}, told: []string{one + ": left out 2 rows" + why, all + ": left out 2 rows" + why}, err: "is one file, so one batch"},
		"a column of batches":  {source: SideOptions{Path: one, Format: tables.Options{Batch: "site"}}, want: [][]float32{{1.5}, {2.5}}, told: []string{one + ": left out 2 rows" + why}},
		"a part of a file":     {source: SideOptions{Path: one, Column: "label", Domains: []string{"a"}, Format: tables.Options{Batch: "site", Label: "drawn"}}, told: []string{one + ": left out 1 row" + why}, err: "all rows are of batch"},
		"no batches":           {source: SideOptions{Path: one}, want: [][]float32{{0.5}, {1.5}, {2.5}, {3.5}}},
		"all":                  {source: SideOptions{Path: all, Format: tables.Options{Batch: "site"}}, told: []string{all + ": left out 2 rows" + why}, err: all + ": mars ask chose all its rows by the model's doubt, and they are no sample of their batch: draw rows with mars ask --uniform"},
		"labels in a file":     {source: SideOptions{Path: three, Format: tables.Options{Labels: labels, Batch: "site", Label: "label"}}, err: labels + ": 1 row of it mars ask chose by the model's doubt, and they are no sample of their batch: drop the rows whose part is chosen, or draw with mars ask --uniform"},
	} {
		var log bytes.Buffer
		env, out := logged(&log), &collected{rows: map[string][][]float32{}}
		env.Columns = arrowio.DefaultColumns()
		if tc.source.Format.Exclude = []string{"site", "drawn"}; tc.source.Format.Label == "drawn" {
			tc.source.Format.Exclude = nil
		}
		err := Files(t.Context(), env, Options{Source: tc.source, BatchFiles: tc.files, DropUnlabelled: true}, out)
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && !slices.EqualFunc(out.rows["source"], tc.want, slices.Equal) {
			t.Errorf("%s: the rows are %v", name, out.rows["source"])
		}
		told := slices.DeleteFunc(said(&log), func(line string) bool {
			return !strings.Contains(line, "left out") || !strings.Contains(line, "mars ask")
		})
		if !slices.Equal(told, tc.told) {
			t.Errorf("%s: it said %q", name, told)
		}
	}
}

// A file that cannot be looked at for chosen rows is an error.
func TestChosenRowsErrors(t *testing.T) {
	folder := t.TempDir()
	twice := writeFile(t, folder, "twice.csv", "a,a\n1,2\n")
	table := suspect(2, true, map[string]func(int) float32{"a": func(int) float32 { return 0 }})
	for path, want := range map[string]string{
		filepath.Join(folder, "*.txt"): "no file has a name of this pattern",
		twice:                          `column "a" is there twice`,
	} {
		if got, err := dropChosen(t.Context(), logged(&bytes.Buffer{}), table, &SideOptions{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
}
