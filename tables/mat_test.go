package tables

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestMATErrors(t *testing.T) {
	types := filepath.Join(formats, "types.mat")
	plain := oracleFile(t, "../formats/plain-false.mat")
	damaged := oracleFile(t, "../formats/plain-true.mat")
	damaged[len(damaged)-2] ^= 1
	complexes := bytes.Clone(plain)
	at := bytes.Index(complexes, []byte("\x06\x00\x00\x00\x08\x00\x00\x00\x06\x00\x00\x00"))
	complexes[at+9] = 8
	for _, tc := range []struct{ path, text, want string }{
		{types, "", `has no member "X" (its members are X_int8 (5×3), X_uint8 (5×3)`},
		{types + ":X_int8,no", "", `has no member "no"`},
		{types + ":cells", "", "member cells: is a cell array: give a matrix of numbers"},
		{types + ":chars", "", "member chars: is text: give a matrix of numbers"},
		{types + ":X_int8,X_uint8", "", "member X_uint8: has shape [5 3]: labels need one axis"},
		{types + ":images,row", "", "2 rows but 5 labels (member row)"},
		{filepath.Join(formats, "old.mat"), "", "holds a MATLAB file of version 4, or none, which cannot be read: save it in MATLAB with save("},
		{"a.mat", "MATLAB 7.3 MAT-file, Platform: GLNXA64", "holds a MATLAB file of version 7.3 (HDF5), which cannot be read: save it in MATLAB"},
		{"a.mat", "hello\n", "is named .mat but holds a text table"},
		{"a.mat", string(plain[:60]), "a.mat: is truncated"},
		{"a.mat", string(plain[:len(plain)-30]), "member y: is truncated"},
		{"a.mat", string(damaged), "is damaged (zlib: invalid checksum)"},
		{"a.mat", string(complexes), "member X: holds complex numbers: give real ones"},
		{"a.mat", matOf(2, 1, 1, "X", 9, 8) + strings.Repeat("\x00", 8), "member X: is a struct"},
		{"a.mat", matOf(17, 1, 1, "X", 9, 8) + strings.Repeat("\x00", 8), "member X: is an object (a table, string or categorical array)"},
		{"a.mat", matOf(6, 2, 1, "X", 9, 8) + strings.Repeat("\x00", 8), "member X: has shape [2 1] and 8 bytes of values of type 9: it is damaged"},
		{"a.mat", matOf(6, 1<<31, 1<<31, "X", 9, 8) + strings.Repeat("\x00", 8), "it is damaged"},
	} {
		var err error
		if tc.text == "" {
			_, err = Open(t.Context(), tc.path, Options{})
		} else {
			_, err = read(tc.path, tc.text, Options{})
		}
		wantError(t, err, tc.want)
	}
}

// A sparse matrix that is nearly empty makes no large dense one.
func TestMATSparseBomb(t *testing.T) {
	text := matOf(5, 1<<14, 1<<14, "X", 5, 0) + "\x05\x00\x00\x00\x04\x00\x01\x00" + strings.Repeat("\x00", 1<<16+8)
	text += "\x09\x00\x00\x00\x00\x00\x00\x00"
	data := []byte(text)
	data[132], data[133], data[134] = byte(len(text)-136), byte((len(text)-136)>>8), byte((len(text)-136)>>16)
	_, err := read("a.mat", string(data), Options{})
	wantError(t, err, "member X: is a sparse matrix of 16384×16384, nearly all zeros")
}
