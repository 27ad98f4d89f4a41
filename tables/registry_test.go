package tables

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// What is given where Arrow is wanted is named, with what to do about it.
func TestNotArrow(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"a,b,c\n1,2,3\n", "looks like CSV: read it with mars-featurize"},
		{"a\tb\n", "looks like CSV"},
		{"hello world, this is text", "looks like CSV"},
		{"hello world\n", "looks like text"},
		{"é", "looks like text"},
		{`{"a": 1}`, "looks like JSON"},
		{"\n [1, 2]", "looks like JSON"},
		{"\x1f\x8b\x08\x00\x00\x00\x00\x00", "looks like a gzip file: decompress it first"},
		{"PAR1\x15\x04\x15\x00", "looks like a Parquet file: read it with mars-featurize"},
		{"\x93NUMPY\x01\x00v\x00", "NumPy"},
		{"PK\x03\x04\x14\x00\x00\x00", "npz"},
		{"PK\x05\x06", "npz"},
		{"\x00\x00\x08\x03", "an IDX file"},
		{"FCS3.0", "an FCS file of a flow cytometer: convert it to Arrow"},
		{"FEA1\x00\x00\x00\x00", "Feather version 1"},
		{"<html>", "an HTML page"},
		{"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer"},
		{"version,1", "CSV"},
		{"ARROW", "looks like text"},
		{"caf\xc3", "looks like text"}, // cut in the middle of é
		{"\ufffd,b", "looks like CSV"}, // the sign for what could not be decoded
		{strings.Repeat("é", 1000)[:arrowio.SniffLength-1], "looks like text"},
		{"\x10\x00\x00\x00\x00\x00\x0a\x00", "is neither an Arrow stream nor an Arrow file"},
		{"\x00\x00\x00\x00", "neither"},
		{"a \x00", "neither"},
		{"caf\xe9,b", "neither"}, // Latin-1
	} {
		_, err := arrowio.NewReader(strings.NewReader(c.input), "in.dat", arrowio.ReadOptions{})
		wantError(t, err, c.want)
	}
}

// A format says all that it has to: what it is called, how it is told, and what to do where
// it is not what is wanted. It is read in one way, and fuzzed, and on the page of formats.
func TestFormatsAreWhole(t *testing.T) {
	page, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range readable {
		if f.name == "" || f.short == "" || !strings.Contains(string(page), strings.Fields(f.short)[0]) {
			t.Errorf("%q (%q) has no name, or is not in docs/formats.md", f.name, f.short)
		}
		if f != textFormat && (f.begins == nil) == (f.text == nil) {
			t.Errorf("%s: is told by its first bytes or as text", f.name)
		}
		if f.begins != nil && f != arrowFormat && (f.looksLike == "" || f.instead == "") {
			t.Errorf("%s: says nothing where Arrow is wanted", f.name)
		}
		ways := slices.DeleteFunc([]bool{f.open != nil, f.array != nil, f.read != nil}, func(is bool) bool { return !is })
		if len(ways) != 1 {
			t.Errorf("%s: is read in %d ways", f.name, len(ways))
		}
		if len(seeds[f]) == 0 {
			t.Errorf("%s: has no seeds for fuzzing", f.name)
		}
	}
	for _, f := range foreigns {
		if f.remedy == "" || f.instead == "" {
			t.Errorf("%s: there is no advice", f.what)
		}
	}
}
