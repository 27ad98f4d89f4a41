package arrowio

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func TestChecksumThen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		b := make([]byte, r.IntN(1<<r.IntN(18)+1))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		at := r.IntN(len(b) + 1)
		first, second := checksum(0).after(b[:at]), checksum(0).after(b[at:])
		if got, want := first.then(second, len(b)-at), checksum(0).after(b); got != want {
			t.Fatalf("%d bytes and %d: %08x, want %08x", at, len(b)-at, got, want)
		}
	}
}

// pieces keeps each write.
type pieces [][]byte

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, bytes.Clone(b))
	return len(b), nil
}

// A reader that goes at the end marker must not break the pipe for the trailer.
func TestTrailerComesWithTheEndMarker(t *testing.T) {
	var out pieces
	w := NewWriter(&out, "out", WriteOptions{})
	rec := sampleRecord(t, 5000)
	if err := Copy(t.Context(), w, NewBatches("in", rec.Schema(), rec, rec)); err != nil {
		t.Fatal(err)
	}
	last := out[len(out)-1]
	all := bytes.Join(out, nil)
	want := append([]byte("\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00MARS\x14\x00\x00\x00\x01\x00\x00\x00"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(want[len(want)-4:], uint32(checksum(0).after(all[:len(all)-trailerSize])))
	if !bytes.Equal(last, want) {
		t.Errorf("the last write is %q, want %q", last, want)
	}
}

// Whatever byte is changed, and wherever the stream is cut, no reader takes it for whole. Only the
// trailer as a whole may be gone, as of streams of other programs.
func TestTrailerTellsDamage(t *testing.T) {
	whole := writeWhole(t, StreamKind, Compression{}, sampleRecord(t, 40), sampleRecord(t, 3))
	if batches, rows, err := check(whole); batches != 2 || rows != 43 || err != nil {
		t.Fatalf("%d batches, %d rows, %v", batches, rows, err)
	}
	for at := range whole {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		if _, _, err := check(damaged); err == nil {
			t.Errorf("byte %d of %d is changed: no error", at, len(whole))
		}
		if _, _, err := check(whole[:at]); (err == nil) != (at == len(whole)-trailerSize) {
			t.Errorf("cut at %d of %d: %v", at, len(whole), err)
		}
	}
}

func TestTrailerErrors(t *testing.T) {
	whole := writeWhole(t, StreamKind, Compression{}, sampleRecord(t, 40))
	changed := func(at int, to byte) []byte {
		out := bytes.Clone(whole)
		out[at] = to
		return out
	}
	end := len(whole) - trailerSize
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a value", changed(end-40, whole[end-40]^1), "in: is damaged: its bytes do not fit the checksum at its end: write it again with the program that made it"},
		{"the checksum", changed(len(whole)-1, whole[len(whole)-1]^1), "in: is damaged: its bytes do not fit the checksum"},
		{"a version to come", changed(len(whole)-8, 2), "ends with a checksum of version 2, and this program reads version 1"},
		{"the length", changed(len(whole)-12, 9), "goes on after its end"},
		{"the magic word", changed(end+2, 'x'), "goes on after its end"},
		{"a byte more", append(bytes.Clone(whole), 0), "goes on after its end"},
		{"two streams", append(bytes.Clone(whole), whole...), "goes on after its end"},
		{"a cut", whole[:len(whole)-3], "ends in the middle"},
	} {
		r, err := NewReader(iotest.OneByteReader(bytes.NewReader(c.data)), "in", ReadOptions{})
		if err == nil {
			_, _, err = Check(t.Context(), r)
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
