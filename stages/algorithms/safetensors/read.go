package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Read reads a whole file and checks it: the header's syntax and size, that tensors
// are float32 with shapes that fit their offsets, and that their values follow one
// another from the header to the end of the input, and that all fits its checksum, if it
// has one. The memory that it takes is bounded
// by the size of the input, whatever the header says.
func Read(r io.Reader) (File, error) {
	var f File
	entries, err := f.readHeader(r)
	if err != nil {
		return f, err
	}
	total, err := f.checkLayout(entries)
	if err != nil {
		return f, err
	}
	body, err := io.ReadAll(io.LimitReader(r, total+1))
	switch {
	case err != nil:
		return f, fmt.Errorf("safetensors: values: %w", err)
	case int64(len(body)) < total:
		return f, fmt.Errorf("safetensors: the file is cut short: %d of %d bytes of values are there", len(body), total)
	case int64(len(body)) > total:
		return f, errors.New("safetensors: bytes follow the last tensor: the file is damaged")
	}
	for i, t := range f.Tensors {
		start, end := entries[t.Name].Offsets[0], entries[t.Name].Offsets[1]
		f.Tensors[i].Data = decode(body[start:end])
	}
	return f, f.verify()
}

// verify checks the content by its checksum, if there is one: other programs' files
// have none. It takes it out of the metadata.
func (f *File) verify() error {
	want, there := f.Metadata[checksumKey]
	if !there {
		return nil
	}
	if f.checksum() != want {
		return errors.New("safetensors: the content does not fit its checksum: it was changed or is damaged: make it again")
	}
	delete(f.Metadata, checksumKey)
	f.Checked = true
	return nil
}

// ReadMetadata reads the metadata of a file and none of its values.
func ReadMetadata(r io.Reader) (map[string]string, error) {
	var f File
	_, err := f.readHeader(r)
	delete(f.Metadata, checksumKey)
	return f.Metadata, err
}

// readHeader fills Metadata and the tensors' names and shapes, in the header's order.
func (f *File) readHeader(r io.Reader) (map[string]entry, error) {
	header, err := headerText(r)
	if err != nil {
		return nil, err
	}
	return f.parseHeader(header)
}

// headerText reads the header, as far as it is there.
func headerText(r io.Reader) ([]byte, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, fmt.Errorf("safetensors: the file ends before its header: %w", err)
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	if n < 2 || n > maxHeader {
		return nil, fmt.Errorf("safetensors: a header of %d bytes: not a safetensors file (want 2 to %d)", n, maxHeader)
	}
	header, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	if uint64(len(header)) < n {
		return nil, fmt.Errorf("safetensors: the file is cut short: %d of %d bytes of header are there", len(header), n)
	}
	if header[0] != '{' {
		return nil, errors.New("safetensors: the header is not a JSON object: not a safetensors file")
	}
	return header, nil
}

// parseHeader sets Metadata and the tensors' names and shapes, in the header's order, and
// returns the header's entries by tensor name.
func (f *File) parseHeader(header []byte) (map[string]entry, error) {
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if _, err := d.Token(); err != nil {
		return nil, headerError(err)
	}
	entries := map[string]entry{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, headerError(err)
		}
		if err := f.parseField(d, token.(string), entries); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, headerError(err)
	}
	if rest := header[d.InputOffset():]; strings.Trim(string(rest), " ") != "" {
		return nil, errors.New("safetensors: header: text follows its JSON object")
	}
	return entries, nil
}

// parseField reads the value of one key of the header.
func (f *File) parseField(d *json.Decoder, key string, entries map[string]entry) error {
	if key == metadataKey {
		if f.Metadata != nil {
			return errors.New("safetensors: header: metadata appears twice")
		}
		if err := d.Decode(&f.Metadata); err != nil {
			return headerError(err)
		}
		return nil
	}
	if _, twice := entries[key]; twice {
		return fmt.Errorf("safetensors: header: tensor %q appears twice", key)
	}
	var e entry
	if err := d.Decode(&e); err != nil {
		return headerError(err)
	}
	entries[key] = e
	f.Tensors = append(f.Tensors, Tensor{Name: key, Shape: e.Shape})
	return nil
}

func headerError(err error) error { return fmt.Errorf("safetensors: header: %w", err) }

// checkLayout sorts the tensors by offset, checks that they are float32 and have neither
// gaps nor overlaps, and returns the number of bytes of their values.
func (f *File) checkLayout(entries map[string]entry) (int64, error) {
	slices.SortStableFunc(f.Tensors, func(a, b Tensor) int {
		x, y := entries[a.Name].Offsets, entries[b.Name].Offsets
		return slices.Compare(x[:], y[:])
	})
	var end int64
	for _, t := range f.Tensors {
		e := entries[t.Name]
		if e.Type != float32Type {
			return 0, fmt.Errorf("safetensors: tensor %q is %q: only F32 is read: save it as float32", t.Name, e.Type)
		}
		n, err := elements(e.Shape)
		if err != nil {
			return 0, fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
		}
		if e.Offsets[0] != end || e.Offsets[1] != end+4*n {
			return 0, fmt.Errorf("safetensors: tensor %q: its place %v does not follow the %d bytes before it with %d values", t.Name, e.Offsets, end, n)
		}
		if end = e.Offsets[1]; end > maxBody {
			return 0, fmt.Errorf("safetensors: more than %d bytes of values: too large a model", int64(maxBody))
		}
	}
	return end, nil
}

// elements is the number of values of a shape. It fails if that is more than maxBody/4.
func elements(shape []int) (int64, error) {
	n := int64(1)
	for _, k := range shape {
		if k < 0 || k > maxBody/4 {
			return 0, fmt.Errorf("shape %v is impossible", shape)
		}
		if n *= int64(k); n > maxBody/4 {
			return 0, fmt.Errorf("shape %v is too large", shape)
		}
	}
	return n, nil
}

func decode(b []byte) []float32 {
	values := make([]float32, len(b)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return values
}
