package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func sample() File {
	return File{
		Metadata: map[string]string{"key": "a \"value\"", "other": "ü"},
		Tensors: []Tensor{
			{Name: "g.0.weight", Shape: []int{2, 3}, Data: []float32{1, -2, 3.5, 0, float32(math.Inf(1)), 1e-40}},
			{Name: "empty", Shape: []int{0, 4}, Data: []float32{}},
			{Name: "scalar", Shape: []int{}, Data: []float32{7}},
		},
	}
}

func written(tb testing.TB, f File) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestReadGivesWhatWasWritten(t *testing.T) {
	for _, f := range []File{sample(), {Tensors: []Tensor{}}, {Metadata: map[string]string{"k": "v"}, Tensors: []Tensor{}}} {
		got, err := Read(bytes.NewReader(written(t, f)))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Tensors) == 0 {
			got.Tensors = f.Tensors
		}
		if len(f.Metadata) == 0 {
			got.Metadata = f.Metadata
		}
		if !got.Checked {
			t.Error("what was written has no checksum")
		}
		if got.Checked = false; !reflect.DeepEqual(got, f) {
			t.Errorf("got %+v, want %+v", got, f)
		}
	}
}

// A file of which any bit is changed is refused, unless the bit is in the name of the
// checksum or of the metadata: then it is another program's file.
func TestChecksum(t *testing.T) {
	b := written(t, sample())
	header := int(8 + binary.LittleEndian.Uint64(b))
	accepted := 0
	for i := range b {
		for bit := range 8 {
			changed := bytes.Clone(b)
			changed[i] ^= 1 << bit
			f, err := Read(bytes.NewReader(changed))
			if err != nil {
				continue
			}
			if accepted++; i >= header {
				t.Errorf("bit %d of byte %d: a changed value is taken for right", bit, i)
			}
			if f.Checked && !reflect.DeepEqual(f.Tensors, sample().Tensors) {
				t.Errorf("bit %d of byte %d: the checksum fits other tensors", bit, i)
			}
		}
	}
	if accepted > 8*40 {
		t.Errorf("%d changed files are taken for right", accepted)
	}
}

// The metadata are there without the values, which need not be.
func TestReadMetadata(t *testing.T) {
	b := written(t, sample())
	header := 8 + binary.LittleEndian.Uint64(b)
	if got, err := ReadMetadata(bytes.NewReader(b[:header])); err != nil || !reflect.DeepEqual(got, sample().Metadata) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := ReadMetadata(bytes.NewReader(b[:header-1])); err == nil {
		t.Error("a header that is cut is taken for whole")
	}
	if _, err := ReadMetadata(strings.NewReader("id,x,y\n1,2,3\n4,5,6\n")); err == nil {
		t.Error("a table is taken for a model")
	}
}

func TestValuesAreAligned(t *testing.T) {
	b := written(t, sample())
	if n := binary.LittleEndian.Uint64(b); n%alignment != 0 {
		t.Errorf("a header of %d bytes", n)
	}
}

// file is a file with the given header and n bytes of values.
func file(header string, n int) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + strings.Repeat("\x00", n)
}

func TestReadRefuses(t *testing.T) {
	tensor := func(name, shape string, from, to int) string {
		return fmt.Sprintf(`"%s":{"dtype":"F32","shape":%s,"data_offsets":[%d,%d]}`, name, shape, from, to)
	}
	cases := []struct{ want, file string }{
		{"ends before its header", "1234567"},
		{"header of 3472328296227680304 bytes", "0000000000"},
		{"header of 0 bytes", file("", 0)},
		{"of header are there", file("{}", 0)[:9]},
		{"not a JSON object", file("[]", 0)},
		{"header:", file(`{"a"}`, 0)},
		{"header:", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}}`, 4)},
		{"header:", file(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}`, 4)},
		{"header:", file(`{`+tensor("a", "[1]", 0, 4), 4)},
		{"text follows", file(`{`+tensor("a", "[1]", 0, 4)+`}{}`, 4)},
		{"appears twice", file(`{`+tensor("a", "[1]", 0, 4)+`,`+tensor("a", "[1]", 4, 8)+`}`, 8)},
		{"metadata appears twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0)},
		{"does not follow", file(`{`+tensor("a", "[1]", 4, 8)+`}`, 8)},
		{"does not follow", file(`{`+tensor("a", "[2]", 0, 8)+`,`+tensor("b", "[1]", 4, 8)+`}`, 8)},
		{"does not follow", file(`{`+tensor("a", "[2]", 0, 4)+`}`, 4)},
		{"is impossible", file(`{`+tensor("a", "[-1]", 0, 4)+`}`, 4)},
		{"is too large", file(`{`+tensor("a", "[1000000,1000000]", 0, 4)+`}`, 4)},
		{"only F32", file(`{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, 2)},
		{"cut short: 7 of 8", file(`{`+tensor("a", "[2]", 0, 8)+`}`, 7)},
		{"bytes follow", file(`{`+tensor("a", "[2]", 0, 8)+`}`, 9)},
	}
	for _, k := range cases {
		if _, err := Read(strings.NewReader(k.file)); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("want an error with %q, got %v", k.want, err)
		}
	}
}

// For any input, Read fails or returns a file that stays the same when it is written and
// read again.
func FuzzRead(f *testing.F) {
	f.Add(written(f, sample()))
	f.Add([]byte(file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} `, 4)))
	f.Add([]byte(file(`{"__metadata__":{"k":"v"}}`, 0)))
	f.Fuzz(func(t *testing.T, input []byte) {
		first, err := Read(bytes.NewReader(input))
		if err != nil {
			return
		}
		b := written(t, first)
		second, err := Read(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, written(t, second)) {
			t.Error("written again, it differs")
		}
	})
}
