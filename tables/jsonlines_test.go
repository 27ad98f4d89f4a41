package tables

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mars.dev/mars/internal/race"
)

// linesOf is a line n times.
func linesOf(row string, n int) string { return strings.Repeat(row+"\n", n) }

func TestJSONLines(t *testing.T) {
	sample := linesOf(`{"x":1,"n":7}`, sampleBytes/14+1)
	for _, tc := range []struct {
		text     string
		o        Options
		features []float32
		columns  []string
		labels   []string
		fault    string
	}{
		{"{\"x\":1,\"y\":true}\n\n  {\"y\":false,\"x\":-2e1}", Options{}, []float32{1, 1, -20, 0}, []string{"x", "y"}, nil, ""},
		{"\ufeff{\"x\":1}\r\n{\"x\":2}\r\n", Options{}, []float32{1, 2}, []string{"x"}, nil, ""},
		{`{"a":{"x":1,"b":{"y":2}},"label":"\u00e9\n\ud83d\ude00"}`, Options{}, []float32{1, 2}, []string{"a.x", "a.b.y"}, []string{"é\n😀"}, ""},
		{"{\"x\":1,\"label\":9007199254740993}\n{\"x\":1,\"label\":null}", Options{}, []float32{1, 1}, []string{"x"}, []string{"9007199254740993", ""}, ""},
		{"{\"x\":1,\"label\":1}\n{\"x\":1,\"label\":\"b\"}", Options{}, []float32{1, 1}, []string{"x"}, []string{"1", "b"}, ""},
		{"{\"v\":[1,2],\"n\":3}\n{\"v\":[3,4]}", Options{}, []float32{1, 2, 3, 4}, nil, nil, ""},
		{"{\"x\":1}\n{\"x\":null}", Options{}, nil, nil, nil, `column "x": row 2: is null`},
		{"{\"x\":1}\n{\"x\":NaN}", Options{}, nil, nil, nil, `column "x": row 2: is null`},
		{"{\"x\":1,\"y\":2}\n{\"x\":-Infinity}", Options{Columns: []string{"x"}}, nil, nil, nil, `column "x": row 2: is -Inf`},
		{"{\"x\":1}\n{\"x\":01}", Options{}, nil, nil, nil, `line 2: column 6: "01" is no value of JSON`},
		{"{\"x\":1}\n{\"x\":1", Options{}, nil, nil, nil, `line 2: column 7: the end of the line where "}" should be`},
		{"{\"x\":1}\n[1]", Options{}, nil, nil, nil, `line 2: has "[" where an object should be: JSON lines have one object a line`},
		{"{\"x\":1}{\"x\":1}\n", Options{}, nil, nil, nil, `line 1: column 8: "{" after the object: JSON lines have one object a line`},
		{"{\"x\":1,\"x\":2}\n", Options{}, nil, nil, nil, `line 1: column 12: key "x" is there twice`},
		{"{\"a.x\":1,\"a\":{\"x\":2}}\n", Options{}, nil, nil, nil, `column "a.x" is there twice, as a key and as one of an object`},
		{"{\"x\":1}\n{\"x\":{\"y\":1}}\n", Options{}, nil, nil, nil, `line 2: column 6: "x" has objects here and numbers in other rows`},
		{"{\"x\":\"\\q\"}\n", Options{}, nil, nil, nil, `column 7: "\\q" is no escape of JSON`},
		{"{\"x\":\"\\ud83\"}\n", Options{}, nil, nil, nil, `four hexadecimal digits`},
		{"{\"x\":\"a\xff\"}\n", Options{}, nil, nil, nil, `0xff is not valid UTF-8`},
		{`{"x":` + strings.Repeat("[", 200), Options{}, nil, nil, nil, `more than 100 deep`},
		{`{"x":` + strings.Repeat(`{"x":`, 200), Options{}, nil, nil, nil, `more than 100 deep`},
		{`{"a":{"0":1,"1":2},"b":{"0":3,"1":4}}`, Options{}, nil, nil, nil, `write rows instead: to_json("x.jsonl", orient="records", lines=True)`},
		{"{\"x\":1,\n\"y\":2}", Options{}, nil, nil, nil, `line 1: column 8: the end of the line where a key in quotes should be`},
		{"{}\n{}", Options{}, nil, nil, nil, "t.jsonl: has no columns: all objects are empty: give objects with keys"},
		{"{\"a\":{}}", Options{Columns: []string{"x"}}, nil, nil, nil, "has no columns: all objects are empty"},
		{"{\n\"y\":2}", Options{}, nil, nil, nil, `holds JSON, which cannot be read`},
		{"[[2]]", Options{}, nil, nil, nil, `holds JSON, which cannot be read`},
		{sample + `{"x":"a"}`, Options{}, nil, nil, nil, fmt.Sprintf(`line %d: column 6: "x" has text here and numbers in the rows before`, sampleBytes/14+2)},
		{sample + `{"x":1,"new":2}`, Options{}, nil, nil, nil, `key "new" is in none of the first 16 MB: name the feature columns with --columns`},
		{sample + `{"x":1.5,"new":2}`, Options{Columns: []string{"x"}}, slices.Repeat([]float32{1}, sampleBytes/14+1), []string{"x"}, nil, ""},
		{sample + `{"x":1,"n":2.5}`, Options{ID: "n", Columns: []string{"x"}}, nil, nil, nil, `"n" is 2.5 here and has whole numbers in the rows before`},
	} {
		if race.Detector && len(tc.text) > sampleBytes {
			continue // a minute
		}
		got, err := read("t.jsonl", tc.text, tc.o)
		if tc.fault != "" {
			wantError(t, err, tc.fault)
			continue
		}
		if err != nil {
			t.Errorf("%.60q: %v", tc.text, err)
			continue
		}
		features := got.Features.Data
		if len(tc.features) > 10 { // the last row is another
			features = features[:len(features)-1]
		}
		if !slices.Equal(features, tc.features) || !slices.Equal(got.Columns, tc.columns) || !slices.Equal(got.Labels, tc.labels) {
			t.Errorf("%.60q: features of %q, labels %q; want %q, %q", tc.text, got.Columns, got.Labels, tc.columns, tc.labels)
		}
	}
	_, err := read("t.csv", "{\"x\":1}\n", Options{})
	wantError(t, err, "t.csv: is named .csv but holds JSON lines: rename it")
	for _, half := range []string{`\ud83d`, `\udfff`, `\ud800\ud800`} {
		_, err := read("t", `{"x":1,"label":"`+half+"\"}\n", Options{})
		wantError(t, err, "is half a character")
	}
	if r, n := unicodeEscape([]byte(`\ufffd`)); r != utf8.RuneError || n != 6 {
		t.Errorf("the sign of a character that is none is %q of %d bytes", r, n)
	}
	if r, n := unicodeEscape([]byte(`\ud83dx`)); r != utf8.RuneError || n != 0 {
		t.Errorf("half a pair is %q of %d bytes", r, n)
	}
}

// BenchmarkJSONLines reads 20 numbers, a label and an id a row.
func BenchmarkJSONLines(b *testing.B) {
	var row strings.Builder
	row.WriteString(`{"name":"row 1","label":"a"`)
	for j := range 20 {
		fmt.Fprintf(&row, `,"feature_%d":%g`, j, 0.123456*float64(j+1))
	}
	row.WriteString("}")
	text := linesOf(row.String(), 20000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read(b.Context(), strings.NewReader(text), "a.jsonl", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
