package tables

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An array of objects is read as lines of them are, wherever it is broken.
func TestJSONArray(t *testing.T) {
	for _, tc := range []struct {
		text     string
		features []float32
		labels   []string
		fault    string
	}{
		{`[{"x":1,"label":"a"},{"x":2,"label":"b"}]`, []float32{1, 2}, []string{"a", "b"}, ""},
		{" \ufeff"[1:] + "\n[\r\n {\n\t\"x\": 1 ,\n\"label\"\n:\"a\"}\n\n,\n{ \"x\":2,\"label\":\"b\" }\n]\n\n", []float32{1, 2}, []string{"a", "b"}, ""},
		{`[{"x":1,"label":"}],[{"},{"x":2,"label":"\"}\\"},{"x":3,"label":"\\\"{"}]`, []float32{1, 2, 3}, []string{"}],[{", `"}\`, `\"{`}, ""},
		{`[{"x":1,"o":{"y":4}},{"x":2,"o":{"y":5}}]`, []float32{1, 4, 2, 5}, nil, ""},
		{`[{"x":1},{"x":"a"},{"x":2}`, nil, nil, "ends within the array, in or after object 3: it is cut off: copy it again"},
		{`[{"x":1},{"x":2`, nil, nil, "ends within the array, in or after object 2"},
		{`[{"x":1},{"x":2,`, nil, nil, "ends within the array"},
		{`[{"x":1},{"x":2},]`, nil, nil, `after object 2: has ']' where an object should be: give one array of objects`},
		{`[{"x":1}{"x":2}]`, nil, nil, `after object 1: has '{' where a comma or ] should be`},
		{`[{"x":1},3]`, nil, nil, `after object 1: has '3' where an object should be`},
		{"[{\"x\":1}]\n[{\"x\":1}]", nil, nil, `after object 1: has '[' where the end should be`},
		{`[{"x":1},{"x":2]}]`, nil, nil, `after object 2: has '}' where a comma or ] should be`},
		{`[{"x":1},{"x":{"y":1}}]`, nil, nil, `object 2: column 6: "x" has objects here and numbers in other rows`},
		{"[{\"x\":\"a\nb\"}]", nil, nil, `a string has no end on its line`},
	} {
		path := filepath.Join(t.TempDir(), "t.json")
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Open(t.Context(), path, Options{})
		if tc.fault != "" {
			wantError(t, err, tc.fault)
			continue
		}
		if err != nil || !slices.Equal(got.Features.Data, tc.features) || !slices.Equal(got.Labels, tc.labels) {
			t.Errorf("%.60q: %v: %v, labels %q; want %v, %q", tc.text, err, got, strings.Join(got.Labels, " "), tc.features, tc.labels)
		}
	}
}
