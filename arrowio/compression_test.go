package arrowio

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

func TestParseCompression(t *testing.T) {
	for text, want := range map[string]Compression{
		"none": {}, "lz4": {Codec: LZ4}, "zstd": {Codec: Zstd},
		"lz4:1": {LZ4, 1}, "lz4:9": {LZ4, 9}, "zstd:1": {Zstd, 1}, "zstd:22": {Zstd, 22},
	} {
		got, err := ParseCompression(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":        `compression "": is unknown: use none, lz4 or zstd`,
		"gzip":    `compression "gzip": is unknown: use none, lz4 or zstd`,
		"none:1":  `compression "none:1": none has no levels: leave the level out`,
		"lz4:0":   `compression "lz4:0": the levels of lz4 are 1 to 9: give one of them`,
		"lz4:10":  `compression "lz4:10": the levels of lz4 are 1 to 9: give one of them`,
		"zstd:23": `compression "zstd:23": the levels of zstd are 1 to 22: give one of them`,
		"zstd:":   `compression "zstd:": the levels of zstd are 1 to 22: give one of them`,
	} {
		if _, err := ParseCompression(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// What is kept for a batch is given back once, so that it lives as long as its owner wants.
func TestKeptArraysAreReleasedOnce(t *testing.T) {
	checked := memory.NewCheckedAllocator(memory.DefaultAllocator)
	b := array.NewInt64Builder(checked)
	b.AppendValues([]int64{1, 2, 3}, nil)
	a := b.NewArray()
	b.Release()
	var s scratch
	s.keep(a)
	s.reset()
	s.reset()
	if checked.CurrentAlloc() == 0 {
		t.Error("the array is gone while its owner holds it")
	}
	a.Release()
	checked.AssertSize(t, 0)
}
