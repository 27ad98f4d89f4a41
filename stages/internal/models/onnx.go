package models

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/internal/state"
)

// An ONNX file holds the model that it was made of: its metadata under their own keys, its
// tensors as constants of the graph as far as the graph has them by the same names, and
// under OriginKey what is left. Checksums tell a file that another program has changed, whose
// graph and origin may say different things.

// OriginKey is the key in the metadata of an ONNX file of what it was made of.
const OriginKey = "mars.onnx"

const originFormat = "mars-onnx-1"

// An origin is the value of OriginKey.
type origin struct {
	Format string `json:"format"`
	Graph  string `json:"graph"` // SHA-256
	Sum    string `json:"sum"`   // SHA-256 of the file that the model was made of

	Keys    []string `json:"keys,omitempty"`    // of its metadata
	Tensors []string `json:"tensors,omitempty"` // names in order
	// Rest is a safetensors file of the tensors that the graph lacks, or the whole of a
	// matched mixture.
	Rest []byte `json:"rest"`
}

// IsONNX reports whether a file looks like ONNX.
func IsONNX(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	n, _ := io.ReadFull(f, head)
	return onnx.IsFile(head[:n])
}

// PutOrigin adds to an ONNX model's metadata what it was made of: the content of the file.
func PutOrigin(m *onnx.Model, content []byte) error {
	o := origin{Format: originFormat, Graph: sum(m.Graph.Marshal()), Rest: content}
	if !arrowio.IsArrow(content) {
		f, err := safetensors.Read(bytes.NewReader(content))
		if err != nil {
			return err
		}
		var rest safetensors.File
		for _, t := range f.Tensors {
			o.Tensors = append(o.Tensors, t.Name)
			if !m.Graph.Has(t.Name, t.Shape, onnx.FloatBytes(t.Data)) {
				rest.Tensors = append(rest.Tensors, t)
			}
		}
		o.Keys = slices.Sorted(maps.Keys(f.Metadata))
		maps.Copy(m.Metadata, f.Metadata)
		if o.Rest, err = written(rest); err != nil {
			return err
		}
		if content, err = written(f); err != nil {
			return err
		}
	}
	o.Sum = sum(content)
	text, err := json.Marshal(o)
	m.Metadata[OriginKey] = string(text)
	return err
}

func written(f safetensors.File) ([]byte, error) {
	var b bytes.Buffer
	err := safetensors.Write(&b, f)
	return b.Bytes(), err
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// errChanged is the error of an ONNX file that is no longer what mars export wrote.
var errChanged = errors.New("this ONNX model was changed after mars export wrote it: run it with ONNX Runtime, or give the model that it was made of")

// restore returns the file that an ONNX file was made of, and the SHA-256 of the ONNX file.
func restore(path string) (content []byte, fileSum string, err error) {
	file, fileSum, err := state.Load(path, func(r io.Reader, _ string) (*onnx.File, error) {
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		return onnx.Parse(b)
	})
	if err != nil {
		return nil, "", err
	}
	var o origin
	text, there := file.Metadata[OriginKey]
	switch {
	case !there:
		return nil, "", &Foreign{file.Producer, file.Inputs}
	case json.Unmarshal([]byte(text), &o) != nil:
		return nil, "", errChanged
	case o.Format != originFormat:
		return nil, "", fmt.Errorf("this ONNX model is of a newer version of MARS (%s, format %q): update MARS, or run it with ONNX Runtime", file.Version, o.Format)
	case sum(file.Graph) != o.Graph:
		return nil, "", errChanged
	}
	content = o.Rest
	if o.Tensors != nil {
		if content, err = o.safetensors(file); err != nil {
			return nil, "", err
		}
	}
	if sum(content) != o.Sum {
		return nil, "", errChanged
	}
	return content, fileSum, nil
}

// A Foreign is the error of another program's ONNX model.
type Foreign struct {
	Producer string
	Inputs   []string // names
}

func (e *Foreign) Error() string {
	return fmt.Sprintf("this is an ONNX model of %s, and only those of mars export are read: run it with ONNX Runtime, and give mars label its outputs as columns of a table",
		cmp.Or(e.Producer, "another program"))
}

// safetensors puts the file together again.
func (o *origin) safetensors(file *onnx.File) ([]byte, error) {
	rest, err := safetensors.Read(bytes.NewReader(o.Rest))
	if err != nil {
		return nil, errChanged
	}
	constants := map[string]onnx.Tensor{}
	for _, t := range file.Tensors {
		constants[t.Name] = t
	}
	f := safetensors.File{Metadata: map[string]string{}}
	for _, key := range o.Keys {
		f.Metadata[key] = file.Metadata[key]
	}
	for _, name := range o.Tensors {
		t, there := rest.Get(name)
		if c, both := constants[name]; !there {
			t = safetensors.Tensor{Name: name, Shape: append([]int{}, c.Shape...), Data: floats(c.Raw)}
			if !both || !safetensors.Fits(t) {
				return nil, errChanged
			}
		}
		f.Tensors = append(f.Tensors, t)
	}
	return written(f)
}

func floats(raw []byte) []float32 {
	values := make([]float32, len(raw)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return values
}
