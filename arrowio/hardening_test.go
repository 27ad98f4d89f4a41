package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

// What the framing of streams and files may hold that is damaged, as later versions of arrow-go
// than the one that decodes here were mended for (its pull requests 955, 991, 1062, 1097 and 1142).

// beginOf is where message i begins in a stream or a file.
func beginOf(t *testing.T, data []byte, i int) int {
	t.Helper()
	at := 0
	if bytes.HasPrefix(data, []byte("ARROW1")) {
		at = 8
	}
	for ; i > 0; i-- {
		meta := int(binary.LittleEndian.Uint32(data[at+4:]))
		next := bytes.Index(data[at+8+meta:], []byte{255, 255, 255, 255})
		if next < 0 {
			t.Fatal("there are fewer messages")
		}
		at += 8 + meta + next
	}
	return at
}

// blockAt is where the footer of a file has the block of the message at a place: offset, length
// of metadata and, 16 bytes behind, of the body.
func blockAt(t *testing.T, data []byte, message int) int {
	t.Helper()
	footer := len(data) - 10 - int(binary.LittleEndian.Uint32(data[len(data)-10:]))
	at := bytes.Index(data[footer:], binary.LittleEndian.AppendUint64(nil, uint64(message)))
	if at < 0 {
		t.Fatal("the footer does not name the message")
	}
	return footer + at
}

func TestDamagedFraming(t *testing.T) {
	le := binary.LittleEndian
	rec := sampleRecord(t, 40)
	stream, file := write(t, kinds[0], codecs[0], rec, rec), write(t, kinds[1], codecs[0], rec, rec)
	if !bytes.HasPrefix(file, []byte("ARROW1")) {
		stream, file = file, stream
	}
	for name, edit := range map[string]func(data []byte, at int) []byte{
		"a cut behind the mark":     func(data []byte, at int) []byte { return data[:at+4] },
		"a cut within the length":   func(data []byte, at int) []byte { return data[:at+6] },
		"a cut behind the length":   func(data []byte, at int) []byte { return data[:at+8] },
		"a cut within the metadata": func(data []byte, at int) []byte { return data[:at+40] },
		"a cut before the body":     func(data []byte, at int) []byte { return data[:at+8+int(le.Uint32(data[at+4:]))] },
		"a cut within the body":     func(data []byte, at int) []byte { return data[:at+16+int(le.Uint32(data[at+4:]))] },
		"metadata of 2 GB":          func(data []byte, at int) []byte { le.PutUint32(data[at+4:], math.MaxInt32); return data },
		"metadata of less than 0":   func(data []byte, at int) []byte { le.PutUint32(data[at+4:], 1<<31); return data },
		"metadata of 3 bytes":       func(data []byte, at int) []byte { le.PutUint32(data[at+4:], 3); return data },
		"a body of 2⁶² bytes":       func(data []byte, at int) []byte { return bodyLength(t, data, at, 1<<62) },
		"a body of 200 GB":          func(data []byte, at int) []byte { return bodyLength(t, data, at, 200<<30) },
		"a body of less than 0":     func(data []byte, at int) []byte { return bodyLength(t, data, at, -8) },
		"a body of no whole words":  func(data []byte, at int) []byte { return bodyLength(t, data, at, 13) },
	} {
		data := bytes.Clone(stream)
		refused(t, "stream, "+name, edit(data, beginOf(t, data, 1)))
	}
	for name, edit := range map[string]func(data []byte, at, block int){
		"a block before the file":             func(data []byte, _, block int) { le.PutUint64(data[block:], 1<<63) },
		"a block behind the file":             func(data []byte, _, block int) { le.PutUint64(data[block:], 1<<40) },
		"a block whose end overflows":         func(data []byte, _, block int) { le.PutUint64(data[block:], math.MaxInt64-7) },
		"a block at no whole word":            func(data []byte, at, block int) { le.PutUint64(data[block:], uint64(at+4)) },
		"a block of metadata of less than 0":  func(data []byte, _, block int) { le.PutUint32(data[block+8:], 1<<31) },
		"a block of metadata of 2 GB":         func(data []byte, _, block int) { le.PutUint32(data[block+8:], math.MaxInt32-7) },
		"a block without metadata":            func(data []byte, _, block int) { le.PutUint32(data[block+8:], 0) },
		"a block with less metadata":          func(data []byte, _, block int) { le.PutUint32(data[block+8:], le.Uint32(data[block+8:])-8) },
		"a block with more metadata":          func(data []byte, _, block int) { le.PutUint32(data[block+8:], le.Uint32(data[block+8:])+8) },
		"a block with less body":              func(data []byte, _, block int) { le.PutUint64(data[block+16:], le.Uint64(data[block+16:])-8) },
		"a block with a body of less than 0":  func(data []byte, _, block int) { le.PutUint64(data[block+16:], 1<<63) },
		"a block with a body beyond the file": func(data []byte, _, block int) { le.PutUint64(data[block+16:], 1<<40) },
		"an end of stream in a block":         func(data []byte, at, _ int) { le.PutUint32(data[at+4:], 0) },
		"no mark before a block":              func(data []byte, at, _ int) { le.PutUint32(data[at:], 7) },
		"a message that is another's length":  func(data []byte, at, _ int) { le.PutUint32(data[at+4:], le.Uint32(data[at+4:])-8) },
		"a body that the message has shorter": func(data []byte, at, _ int) { bodyLength(t, data, at, 8) },
	} {
		data := bytes.Clone(file)
		at := beginOf(t, data, 1)
		edit(data, at, blockAt(t, data, at))
		refused(t, "file, "+name, data)
	}
}

// bodyLength changes the length of the body that the message at a place says.
func bodyLength(t *testing.T, data []byte, at int, n int64) []byte {
	t.Helper()
	meta := data[at+8:][:binary.LittleEndian.Uint32(data[at+4:])]
	body := len(data[at+8+len(meta):])
	if next := bytes.Index(data[at+8+len(meta):], []byte{255, 255, 255, 255}); next >= 0 {
		body = next
	}
	k := bytes.Index(meta, binary.LittleEndian.AppendUint64(nil, uint64(body)))
	if k < 0 {
		t.Fatal("the message does not say how long its body is")
	}
	binary.LittleEndian.PutUint64(meta[k:], uint64(n))
	return data
}

// refused fails if data are read, or refused otherwise than by an error that names the input.
func refused(t *testing.T, name string, data []byte) {
	t.Helper()
	rows, err := survive(t, data)
	if err == nil {
		t.Errorf("%s: is read, as batches of %v rows", name, rows)
	} else if strings.Contains(err.Error(), "runtime error") || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("%s: %v", name, err)
	}
}

// fullDisk takes so many bytes and then no more.
type fullDisk struct{ left int }

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space is left")
	}
	return len(p), nil
}

// A stream or file that cannot be written ends with the error, whatever compresses it.
func TestWriteErrorsEnd(t *testing.T) {
	rec := zooRecord(t)
	for _, codec := range codecs {
		for left := 0; left < 4000; left += 500 {
			for _, w := range []*Writer{NewWriter(&fullDisk{left}, "out", WriteOptions{Compression: codec}), NewFileWriter(&fullDisk{left}, "out", WriteOptions{Compression: codec})} {
				err := w.Begin(rec.Schema())
				for range 20 {
					if err == nil {
						err = w.Write(rec)
					}
				}
				if err == nil || !strings.Contains(err.Error(), "no space is left") {
					t.Errorf("%v, room for %d bytes: %v", codec, left, err)
				}
			}
		}
	}
}
