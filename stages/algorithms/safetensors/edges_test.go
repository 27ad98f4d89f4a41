package safetensors

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Headers and values are read up to their bounds, and one more is refused.
func TestBounds(t *testing.T) {
	for n, want := range map[int]string{maxHeader: "", maxHeader + 1: "safetensors: a header of 16777217 bytes: not a safetensors file (want 2 to 16777216)"} {
		_, err := Read(strings.NewReader(file("{"+strings.Repeat(" ", n-2)+"}", 0)))
		if text := fmt.Sprint(err); err != nil && text != want || err == nil && want != "" {
			t.Errorf("a header of %d bytes: %v", n, err)
		}
	}
	const most = maxBody / 4
	for _, test := range []struct {
		shapes [][]int
		want   string
	}{
		{[][]int{{most}}, ""},
		{[][]int{{2, most / 2}}, ""},
		{[][]int{{most}, {0}}, ""},
		{[][]int{{most + 1}}, `safetensors: tensor "0": shape [1073741825] is impossible`},
		{[][]int{{2, most/2 + 1}}, `safetensors: tensor "0": shape [2 536870913] is too large`},
		{[][]int{{most}, {1}}, "safetensors: more than 4294967296 bytes of values: too large a model"},
	} {
		var f File
		entries, at := map[string]entry{}, int64(0)
		for i, shape := range test.shapes {
			n := int64(4)
			for _, k := range shape {
				n *= int64(k)
			}
			entries[fmt.Sprint(i)] = entry{Type: float32Type, Shape: shape, Offsets: [2]int64{at, at + n}}
			at += n
			f.Put(fmt.Sprint(i), nil, shape...)
		}
		total, err := f.checkLayout(entries)
		if err == nil && (test.want != "" || total != maxBody) || err != nil && err.Error() != test.want {
			t.Errorf("%v: %d bytes, %v", test.shapes, total, err)
		}
	}
}

// What cannot be written is an error, in the header as in each tensor.
func TestWriteToAFullDisk(t *testing.T) {
	f := sample()
	full := errors.New("the disk is full")
	for calls := range 1 + len(f.Tensors) {
		if err := Write(&failing{calls, full}, f); !errors.Is(err, full) {
			t.Errorf("after %d writes: %v", calls, err)
		}
	}
	if err := Write(&failing{1 + len(f.Tensors), full}, f); err != nil {
		t.Error(err)
	}
}

// failing is a writer that fails after some calls.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return io.Discard.Write(p)
}

// A number of any size is positive, and a value is kept in a file that has no metadata yet.
func TestTyped(t *testing.T) {
	var f File
	f.Put("none", nil, 0, 4)
	f.Put("one", make([]float32, 4), 1, 4)
	if _, err := f.GetMatrix("none", AnySize, 4); err == nil || err.Error() != "tensor none has shape [0 4]: want [-1 4], where -1 is any positive number" {
		t.Errorf("got %v", err)
	}
	if x, err := f.GetMatrix("one", AnySize, 4); err != nil || x.Rows != 1 {
		t.Errorf("got %v, %v", x, err)
	}
	if _, err := f.GetMatrix("none", 0, 4); err != nil {
		t.Error(err)
	}
	if err := f.PutJSON("n", 7); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := f.GetJSON("n", &n); err != nil || n != 7 {
		t.Errorf("got %d, %v", n, err)
	}
}
