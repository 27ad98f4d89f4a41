package tables

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

func textFields(names ...string) (fields []arrow.Field) {
	for _, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	return fields
}

// The columns of several files are those of any: null where a file has none, and text where
// types differ.
func TestColumnsOfSeveral(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"a.csv":   "x,day\n1,Mo\n2,\n",
		"b.jsonl": "{\"x\": 3, \"site\": true}\n{\"x\": null, \"site\": false}\n",
		"c.csv":   "day,x\nTu,4\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	columns, uneven, err := Columns(t.Context(), "a.csv,b.jsonl,c.csv", Options{})
	if err != nil || !slices.Equal(uneven, []string{"x", "day", "site"}) || len(columns) != 3 || columns[2].Type.ID() != arrow.BOOL {
		t.Fatalf("%v, %q, %v", columns, uneven, err)
	}
	var rows []string
	err = EachBatch(t.Context(), "a.csv,b.jsonl,c.csv", Options{}, columns, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			var cells []string
			for _, c := range rec.Columns() {
				cells = append(cells, c.ValueStr(i))
			}
			rows = append(rows, strings.Join(cells, " "))
		}
		return nil
	})
	want := []string{"1 Mo (null)", "2  (null)", "3 (null) true", "(null) (null) false", "4 Tu (null)"}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%q, %v", rows, err)
	}
	if _, uneven, err = Columns(t.Context(), "a.csv,c.csv", Options{}); err != nil || uneven != nil {
		t.Errorf("%q, %v", uneven, err)
	}
}
