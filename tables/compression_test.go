package tables

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// What compressed data say that they need of memory is not believed.
func TestCompressionWindow(t *testing.T) {
	content := "a,b\n1,2\n"
	large := oracleFile(t, "../formats/frame.csv.xz")
	large[16] = 38 // the dictionary is of 2 GB
	binary.LittleEndian.PutUint32(large[20:], crc32.ChecksumIEEE(large[12:20]))
	for name, data := range map[string]string{
		"a.csv.zst": "\x28\xb5\x2f\xfd\x00\xa0" + string([]byte{byte(len(content)<<3 | 1), 0, 0}) + content, // a window of 1 GB
		"a.csv.xz":  string(large),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(t.Context(), strings.NewReader(data), name, Options{Memory: arrowio.NewBudget(1 << 30)})
		wantError(t, err, "data ask for more memory than they may have: raise --memory-limit")
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20 {
			t.Errorf("%s: %d bytes were allocated", name, got)
		}
	}
}

// An error of compressed data says where it is, and is no error of the table.
func TestDamagedCompression(t *testing.T) {
	for _, name := range []string{"frame.csv.gz", "frame.csv.zst", "frame.csv.bz2", "frame.csv.xz", "frame.csv.lz4"} {
		data := oracleFile(t, "../formats/"+name)
		_, cut := Read(t.Context(), bytes.NewReader(data[:len(data)-9]), name, Options{})
		wantError(t, cut, name+": is truncated: its ")
		wantError(t, cut, "data stop at byte ")
		whole, err := Read(t.Context(), bytes.NewReader(data), name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for at := 20; at < len(data)-8; at++ {
			changed := bytes.Clone(data)
			changed[at] ^= 0x55
			got, err := Read(t.Context(), bytes.NewReader(changed), name, Options{})
			if err == nil && !slices.Equal(got.Features.Data, whole.Features.Data) { // some bits say nothing
				t.Errorf("%s: is read as other numbers with a change at byte %d", name, at)
			}
		}
	}
	twice := append([]byte("\x28\xb5\x2f\xfd\x20\x0c"), 0x61, 0, 0)
	twice = append(twice, "\x1f\x8b\x08xxxxxxxxx"...)
	_, err := Read(t.Context(), bytes.NewReader(twice), "a.csv.gz.zst", Options{})
	wantError(t, err, "holds a gzip file, which cannot be read: it is compressed twice: decompress it once")
}

// What is behind compressed data is said to be that; more streams are read, and empty
// members however many.
func TestBehindCompression(t *testing.T) {
	for _, name := range []string{"gz", "xz"} {
		data := oracleFile(t, "../formats/frame.csv."+name)
		for _, more := range []string{"a", "not compressed at all", "\xfd7zX"} {
			_, err := Read(t.Context(), bytes.NewReader(append(bytes.Clone(data), more...)), "a.csv."+name, Options{})
			wantError(t, err, "a.csv."+name+": has bytes after its "+name)
		}
		if _, err := Read(t.Context(), bytes.NewReader(append(bytes.Clone(data), 0, 0, 0, 0)), "a.csv."+name, Options{}); err != nil {
			t.Errorf("%s: with zeros behind: %v", name, err)
		}
	}
	var empty bytes.Buffer
	w := gzip.NewWriter(&empty)
	w.Close()
	many := append(bytes.Repeat(empty.Bytes(), 200_000), oracleFile(t, "../formats/frame.csv.gz")...)
	if _, err := Read(t.Context(), bytes.NewReader(many), "a.csv.gz", Options{}); err != nil {
		t.Errorf("behind empty members: %v", err)
	}
}
