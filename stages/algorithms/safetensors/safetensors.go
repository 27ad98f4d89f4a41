// Package safetensors reads and writes float32 tensors in the safetensors format
// (https://huggingface.co/docs/safetensors): eight bytes with the length of the header,
// a JSON header with each tensor's type, shape and offsets, and the values,
// little-endian and without gaps.
package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// A File is the content of a safetensors file.
type File struct {
	Metadata map[string]string
	Tensors  []Tensor // in the order of their values in the file

	// Checked says that the file had a checksum, which its content fits.
	Checked bool
}

// A Tensor is a named array of float32, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// Get returns the named tensor.
func (f *File) Get(name string) (Tensor, bool) {
	for _, t := range f.Tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

const (
	float32Type = "F32"
	metadataKey = "__metadata__"
	checksumKey = "mars.checksum" // in the metadata: the SHA-256 of all else

	// maxHeader bounds the header; the format's own bound is 100 MB.
	maxHeader = 1 << 24
	// maxBody bounds the values.
	maxBody = 1 << 32
	// alignment is that of the first value in the file, in bytes.
	alignment = 8
)

// entry is a tensor in the header.
type entry struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// Fits reports whether a tensor's shape is possible and that of its values.
func Fits(t Tensor) bool {
	n, err := elements(t.Shape)
	return err == nil && n == int64(len(t.Data))
}

// Write writes the file with a checksum of its content. It panics if a tensor's shape does not fit its values.
func Write(w io.Writer, f File) error {
	header := formatHeader(f)
	buffer := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	if _, err := w.Write(append(buffer, header...)); err != nil {
		return err
	}
	for _, t := range f.Tensors {
		buffer = buffer[:0]
		for _, v := range t.Data {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		if _, err := w.Write(buffer); err != nil {
			return err
		}
	}
	return nil
}

func formatHeader(f File) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	metadata := maps.Clone(f.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	metadata[checksumKey] = f.checksum()
	writeField(&b, metadataKey, metadata)
	var offset int64
	for _, t := range f.Tensors {
		if !Fits(t) {
			panic("safetensors: Write: shape of " + t.Name + " does not fit its values")
		}
		end := offset + 4*int64(len(t.Data))
		shape := append([]int{}, t.Shape...) // an empty shape is [], not null
		writeField(&b, t.Name, entry{float32Type, shape, [2]int64{offset, end}})
		offset = end
	}
	b.WriteByte('}')
	for b.Len()%alignment != 0 {
		b.WriteByte(' ')
	}
	return b.Bytes()
}

// checksum is the SHA-256 of the metadata and the tensors: names, shapes and values.
func (f *File) checksum() string {
	h := sha256.New()
	text := func(s string) { // a hash's Write never fails
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		if key != checksumKey {
			text(key)
			text(f.Metadata[key])
		}
	}
	var buffer []byte
	for _, t := range f.Tensors {
		text(t.Name)
		text(fmt.Sprint(t.Shape))
		buffer = buffer[:0]
		for _, v := range t.Data {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		h.Write(buffer)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeField appends a key and its value to the JSON object in b.
func writeField(b *bytes.Buffer, key string, value any) {
	if b.Len() > 1 {
		b.WriteByte(',')
	}
	b.Write(text(key))
	b.WriteByte(':')
	b.Write(text(value))
}

// text is the JSON of texts and whole numbers, which never fails.
func text(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return b
}
