package sheet

import (
	"os"
	"path/filepath"
	"testing"
)

// Rows are known to be chosen by their codes, in whatever order a spreadsheet has left them. Other tables have none.
func TestChosen(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "table.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct {
		name, text string
		want       map[int]bool
	}{
		{"a sheet", "x;drawn\n1,5;30u30c0s-gswmxldx-2c46-cbwkwn-ktrzkh\n2,5; 30u30c0s-gswmxldx-1u129-chlmlf-bbdpsn\n3,5;\n4,5;30u30c0s-gswmxldx-4c7-cbwkwn-ktrzkh \n", map[int]bool{0: true, 3: true}},
		{"a column of another program", "x,drawn\n1,chosen\n2,c\n", map[int]bool{}},
		{"no such column", "x,y\n1,2\n", nil},
	} {
		got, err := Chosen(t.Context(), write(tc.text))
		if err != nil || len(got) != len(tc.want) {
			t.Errorf("%s: %v, %v", tc.name, got, err)
		}
		for i := range tc.want {
			if !got[i] {
				t.Errorf("%s: row %d is not chosen: %v", tc.name, i, got)
			}
		}
	}
	if got, err := Chosen(t.Context(), t.TempDir()); got != nil || err != nil {
		t.Errorf("a folder: %v, %v", got, err)
	}
}
