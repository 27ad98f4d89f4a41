package tables

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"mars.dev/mars/arrowio"
)

var idxFormat = &format{
	name: "IDX", short: "IDX", looksLike: "an IDX file", instead: readIt,
	begins: func(head []byte) bool { // then comes the type of its elements
		return len(head) >= 4 && head[0] == 0 && head[1] == 0 && head[2] != 0
	},
	array: func(ctx context.Context, in *input, o Options) (*Table, error) {
		return readIDXTable(ctx, in, o, in.mem)
	},
	labels: func(_ context.Context, in *input, _ Options) ([]string, error) {
		return readArrayLabels(readIDX(in, in.mem))
	},
}

// idxElements are the types of an IDX file, by the third byte of its magic
// number. All are big-endian.
var idxElements = map[byte]element{
	0x08: {kind: 'u', size: 1, big: true},
	0x09: {kind: 'i', size: 1, big: true},
	0x0b: {kind: 'i', size: 2, big: true},
	0x0c: {kind: 'i', size: 4, big: true},
	0x0d: {kind: 'f', size: 4, big: true},
	0x0e: {kind: 'f', size: 8, big: true},
}

// readIDX reads the header of an IDX file, the format of MNIST
// (http://yann.lecun.com/exdb/mnist): two zero bytes, the type, the number of
// axes, and each axis' size in four bytes.
func readIDX(r io.Reader, mem *arrowio.Budget) (ndarray, error) {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return ndarray{}, fmt.Errorf("IDX header: %w", readError(err))
	}
	e, ok := idxElements[magic[2]]
	if magic[0] != 0 || magic[1] != 0 || !ok || magic[3] == 0 {
		return ndarray{}, fmt.Errorf("IDX header: magic number % x is not that of IDX: check that this is the right file", magic)
	}
	shape := make([]int, magic[3])
	for i := range shape {
		var size [4]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return ndarray{}, fmt.Errorf("IDX header: byte %d: %w", 4+4*i, readError(err))
		}
		shape[i] = int(binary.BigEndian.Uint32(size[:]))
	}
	return ndarray{element: e, shape: shape, data: r, mem: mem}, nil
}

// readIDXTable reads an IDX file of features. One with a single axis is an error,
// because it is a file of labels.
func readIDXTable(ctx context.Context, r io.Reader, o Options, mem *arrowio.Budget) (*Table, error) {
	a, err := readIDX(r, mem)
	if err == nil && len(a.shape) == 1 {
		err = errors.New("has one axis, as IDX files of labels have: give the file of images, and this one as its labels")
	}
	return readArrayTable(ctx, o, a, err)
}
