package write

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
)

func TestCSV(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "label", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "features", Type: arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32)},
		{Name: "note, with comma", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[
		{"id": 0, "label": 0, "features": [0, 0, 0], "note, with comma": [1.5, 2], "text": "=1"},
		{"id": 1, "label": null, "features": [1, 0, 0], "note, with comma": null, "text": "a"}]`))
	if err != nil {
		t.Fatal(err)
	}
	for o, want := range map[CSVOptions]string{
		{}:                                  "id,label,features_0,features_1,features_2,\"note, with comma\",text\n0,0,0,0,0,\"[1.5, 2]\",=1\n1,,1,0,0,,a\n",
		{Spreadsheet: true, Separator: ';'}: "id;label;features_0;features_1;features_2;note, with comma;text\n0;0;0;0;0;[1.5, 2];'=1\n1;;1;0;0;;a\n",
	} {
		var out strings.Builder
		if err := o.Write(t.Context(), &out, arrowio.NewBatches("rows", schema, rec)); err != nil || out.String() != want {
			t.Errorf("%+v: %v\n%s, want\n%s", o, err, out.String(), want)
		}
	}
}
