package onnx

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A File is what a model's file says of itself: all but what it computes.
type File struct {
	Producer, Version string
	Metadata          map[string]string
	Inputs            []string // names
	Tensors           []Tensor // the graph's constants, without texts
	Graph             []byte   // as Graph.Marshal returns it
}

// IsFile reports whether a file may be ONNX by its first bytes, of which 16 are enough: the
// version of the format and, after it, one of the texts of a model. The format has no mark
// of its own.
func IsFile(head []byte) bool {
	number, kind, n := protowire.ConsumeTag(head)
	if n < 0 || number != modelIRVersion || kind != protowire.VarintType {
		return false
	}
	v, m := protowire.ConsumeVarint(head[n:])
	if m < 0 || v < 1 || v > 1000 || n+m >= len(head) {
		return false
	}
	number, kind, n = protowire.ConsumeTag(head[n+m:])
	return n > 0 && kind == protowire.BytesType && number > modelIRVersion && number <= modelMetadata
}

var errDamaged = errors.New("onnx: the file is damaged or cut short")

// Parse reads a file. The tensors and the graph share its memory.
func Parse(b []byte) (*File, error) {
	f := &File{Metadata: map[string]string{}}
	err := eachField(b, func(number protowire.Number, v []byte, _ uint64) error {
		switch number {
		case modelProducer:
			f.Producer = string(v)
		case modelVersion:
			f.Version = string(v)
		case modelGraph:
			f.Graph = v
		case modelMetadata:
			key, err := textOf(v, 1)
			if err == nil {
				f.Metadata[key], err = textOf(v, 2)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.Graph == nil {
		return nil, fmt.Errorf("%w: it has no graph", errDamaged)
	}
	return f, eachField(f.Graph, func(number protowire.Number, v []byte, _ uint64) error {
		switch number {
		case graphInput:
			name, err := textOf(v, 1)
			f.Inputs = append(f.Inputs, name)
			return err
		case graphTensor:
			t, err := parseTensor(v)
			f.Tensors = append(f.Tensors, t)
			return err
		}
		return nil
	})
}

// textOf is a field of a message that is a text, "" if it is not there.
func textOf(b []byte, field protowire.Number) (text string, err error) {
	err = eachField(b, func(number protowire.Number, v []byte, _ uint64) error {
		if number == field {
			text = string(v)
		}
		return nil
	})
	return text, err
}

func parseTensor(b []byte) (t Tensor, err error) {
	err = eachField(b, func(number protowire.Number, v []byte, i uint64) error {
		switch number {
		case tensorShape:
			if i > maxSize {
				return errDamaged
			}
			t.Shape = append(t.Shape, int(i))
		case tensorType:
			t.Type = Type(i)
		case tensorName:
			t.Name = string(v)
		case tensorRaw:
			t.Raw = v
		}
		return nil
	})
	return t, err
}

// eachField calls f with each field of a message: v of texts, bytes and messages, i of
// whole numbers.
func eachField(b []byte, f func(number protowire.Number, v []byte, i uint64) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errDamaged
		}
		b = b[n:]
		var v []byte
		var i uint64
		switch kind {
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			i, n = protowire.ConsumeVarint(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return errDamaged
		}
		b = b[n:]
		if err := f(number, v, i); err != nil {
			return err
		}
	}
	return nil
}
