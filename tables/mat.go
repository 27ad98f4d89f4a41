package tables

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zlib"

	"mars.dev/mars/arrowio"
)

// MATLAB files of version 5 (save -v6 and -v7) have a header of 128 bytes and elements, one
// for each variable, which may be compressed, as
// https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf says. Those of version
// 7.3 are HDF5.

var matFormat = &format{
	name: "MATLAB (mat)", short: "MATLAB", looksLike: "a MATLAB file", instead: toArrow,
	extensions: []string{".mat"}, begins: prefixes("MATLAB 5.0", matHDF5),
	refuse: func(head []byte) error {
		if !bytes.HasPrefix(head, []byte(matHDF5)) {
			return nil
		}
		return errors.New("holds a MATLAB file of version 7.3 (HDF5), which cannot be read: save it in MATLAB with save(\"x.mat\", \"X\", \"y\", \"-v7\"), or its arrays in Python: numpy.savez(\"x.npz\", X=h5py.File(\"x.mat\")[\"X\"][()].T)")
	},
	read: readMAT, labels: readMATLabels,
}

// matHDF5 is how files of version 7.3 begin.
const matHDF5 = "MATLAB 7.3"

// errOldMAT is the error of a file that is named .mat and does not say that it is one.
var errOldMAT = errors.New("holds a MATLAB file of version 4, or none, which cannot be read: save it in MATLAB with save(\"x.mat\", \"X\", \"y\", \"-v7\"), or in Python: scipy.io.savemat(\"new.mat\", scipy.io.loadmat(\"x.mat\"))")

// Types of elements.
const (
	matMatrix     = 14
	matCompressed = 15
)

// matElements are how elements of numbers are stored.
var matElements = map[uint32]element{
	1: {kind: 'i', size: 1}, 2: {kind: 'u', size: 1}, 3: {kind: 'i', size: 2}, 4: {kind: 'u', size: 2}, 5: {kind: 'i', size: 4}, 6: {kind: 'u', size: 4},
	7: {kind: 'f', size: 4}, 9: {kind: 'f', size: 8}, 12: {kind: 'i', size: 8}, 13: {kind: 'u', size: 8},
	16: {kind: 'u', size: 1}, 17: {kind: 'u', size: 2}, 18: {kind: 'u', size: 4}, // UTF-8, UTF-16, UTF-32
}

// Classes of variables.
const (
	matCell   = 1
	matChar   = 4
	matSparse = 5
	matUint8  = 9
	matUint16 = 11
)

// matClasses are the names of those that hold no numbers.
var matClasses = map[byte]string{matCell: "a cell array", 2: "a struct", 3: "an object", matChar: "text", 16: "a function", 17: "an object (a table, string or categorical array)"}

// A matReader reads what is left of a file, or of an element.
type matReader struct {
	r   io.Reader
	big bool
	mem *arrowio.Budget
}

// A matVariable is one whose values come next.
type matVariable struct {
	*matReader
	name    string
	class   byte
	logical bool
	complex bool
	shape   []int
}

func (r *matReader) order() binary.ByteOrder {
	if r.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// tag reads the beginning of an element: its type, and its data.
func (r *matReader) tag() (kind uint32, size int64, data io.Reader, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, 0, nil, err
	}
	kind = r.order().Uint32(head[:])
	if small := kind >> 16; small != 0 {
		if small > 4 {
			return 0, 0, nil, fmt.Errorf("a small element has %d bytes: it is damaged: copy or download it again", small)
		}
		return kind & 0xffff, int64(small), strings.NewReader(string(head[4 : 4+small])), nil
	}
	size = int64(r.order().Uint32(head[4:]))
	return kind, size, io.LimitReader(r.r, size), nil
}

// element reads a small element whole, with what fills it up.
func (r *matReader) element(most int64) (data []byte, err error) {
	_, size, in, err := r.tag()
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, fmt.Errorf("an element of its header has %d bytes, more than %d: it is damaged: copy or download it again", size, most)
	}
	data = make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, err
	}
	return data, r.pad(in, size)
}

// pad skips what fills an element up to 8 bytes, if that is there.
func (r *matReader) pad(in io.Reader, size int64) error {
	if _, limited := in.(*io.LimitedReader); !limited || size%8 == 0 {
		return nil
	}
	_, err := io.CopyN(io.Discard, r.r, 8-size%8)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// variable reads the header of a variable.
func (r *matReader) variable() (*matVariable, error) {
	var parts [3][]byte
	for i, most := range []int64{8, 4 * 32, 1 << 10} {
		var err error
		if parts[i], err = r.element(most); err != nil {
			return nil, err
		}
	}
	flags, dims, name := parts[0], parts[1], parts[2]
	if len(flags) != 8 || len(dims)%4 != 0 || len(dims) < 8 {
		return nil, errors.New("the header of a variable is damaged: copy or download it again")
	}
	word := r.order().Uint32(flags)
	v := &matVariable{matReader: r, name: string(name), class: byte(word), logical: word&0x200 != 0, complex: word&0x800 != 0}
	for ; len(dims) > 0; dims = dims[4:] {
		v.shape = append(v.shape, int(int32(r.order().Uint32(dims))))
	}
	return v, nil
}

// String names a variable with its size.
func (v *matVariable) String() string {
	sizes := make([]string, len(v.shape))
	for i, n := range v.shape {
		sizes[i] = fmt.Sprint(n)
	}
	return fmt.Sprintf("%s (%s)", v.name, strings.Join(sizes, "×"))
}

// array is the numbers of a variable.
func (v *matVariable) array() (ndarray, error) {
	switch {
	case matClasses[v.class] != "":
		return ndarray{}, fmt.Errorf("is %s: give a matrix of numbers", matClasses[v.class])
	case v.complex:
		return ndarray{}, errors.New("holds complex numbers: give real ones, such as abs(X)")
	}
	kind, size, data, err := v.tag()
	if err != nil {
		return ndarray{}, matError(err)
	}
	e, known := matElements[kind]
	n, ok := product(v.shape)
	if !known || !ok || int64(n)*int64(e.size) != size {
		return ndarray{}, fmt.Errorf("has shape %v and %d bytes of values of type %d: it is damaged: copy or download it again", v.shape, size, kind)
	}
	e.big = v.big
	return ndarray{element: e, shape: v.shape, fortran: true, data: data, mem: v.mem}, nil
}

// table reads a variable as features.
func (v *matVariable) table(ctx context.Context, o Options) (*Table, error) {
	if v.class == matSparse {
		return v.sparse(ctx)
	}
	a, err := v.array()
	t, err := readArrayTable(ctx, o, a, err)
	if err != nil {
		return nil, err
	}
	t.Largest = 0 // by the class, because MATLAB stores small numbers of any class in bytes
	switch {
	case v.logical:
	case v.class == matUint8:
		t.Largest = 255
	case v.class == matUint16:
		t.Largest = 65535
	}
	return t, nil
}

// sparseFill is how many zeros a sparse matrix may have for each value that it has, if it
// is larger than sparseSmall.
const (
	sparseFill  = 1 << 12
	sparseSmall = 1 << 24
)

// sparse reads a sparse matrix as a dense one.
func (v *matVariable) sparse(ctx context.Context) (*Table, error) {
	n, ok := product(v.shape)
	if !ok || len(v.shape) != 2 || v.complex {
		return nil, fmt.Errorf("is a sparse matrix of shape %v: give one of real numbers, of at most 2³¹ values with the zeros", v.shape)
	}
	rows, err := v.values()
	if err != nil {
		return nil, err
	}
	begins, err := v.values()
	if err != nil {
		return nil, err
	}
	values, err := v.values()
	if err != nil {
		return nil, err
	}
	nrow, ncol := v.shape[0], v.shape[1]
	damaged := errors.New("is a sparse matrix whose indices are damaged: copy or download it again")
	if len(begins) != ncol+1 || begins[0] != 0 || int(begins[ncol]) > min(len(rows), len(values)) || !slices.IsSorted(begins) {
		return nil, damaged
	}
	if len(values) > sparseSmall || nrow > sparseSmall {
		return nil, fmt.Errorf("is a sparse matrix of %d×%d with %d values: give a dense one, or fewer rows", nrow, ncol, len(values))
	}
	if n > sparseSmall && n/sparseFill > len(values) {
		return nil, fmt.Errorf("is a sparse matrix of %d×%d, nearly all zeros: bring its columns to fewer, or give those that matter", nrow, ncol)
	}
	if err := take[float32](v.mem, n); err != nil {
		return nil, err
	}
	dense := make([]float32, n)
	for j := range ncol {
		for k := int(begins[j]); k < int(begins[j+1]); k++ {
			i := int(rows[k])
			if i < 0 || i >= nrow {
				return nil, damaged
			}
			dense[i*ncol+j] = values[k]
		}
	}
	give[float32](v.mem, cap(rows)+cap(begins)+cap(values))
	return newTable(ctx, dense, nrow, ncol, []int{ncol}, v.mem)
}

// values reads an element of numbers. As indices they are exact up to sparseSmall.
func (v *matVariable) values() ([]float32, error) {
	kind, size, data, err := v.tag()
	if err != nil {
		return nil, matError(err)
	}
	e, known := matElements[kind]
	if !known || size%int64(e.size) != 0 {
		return nil, fmt.Errorf("has an element of type %d and %d bytes where numbers should be: copy or download it again", kind, size)
	}
	e.big = v.big
	out, err := e.readFloats(data, int(size)/e.size, nil, v.mem)
	if err != nil {
		return nil, err
	}
	return out, matError(v.pad(data, size))
}

// labels reads a variable as the classes of rows: a vector of numbers, rows of text, or a
// cell array of texts.
func (v *matVariable) labels() ([]string, error) {
	n, ok := product(v.shape)
	switch {
	case !ok:
		return nil, fmt.Errorf("has shape %v: labels need one axis: give one label a row", v.shape)
	case v.class == matChar:
		return v.text(n)
	case v.class != matCell && matClasses[v.class] != "":
		return nil, fmt.Errorf("is %s: give labels as numbers, or as cellstr(y)", matClasses[v.class])
	case !slices.Contains(v.shape, n):
		return nil, fmt.Errorf("has shape %v: labels need one axis: give one label a row", v.shape)
	case v.class == matCell:
		return v.cells(n)
	}
	a, err := v.array()
	a.shape = []int{n}
	return readArrayLabels(a, err)
}

// text reads a matrix of characters, a label a row.
func (v *matVariable) text(n int) ([]string, error) {
	kind, size, data, err := v.tag()
	if err != nil {
		return nil, matError(err)
	}
	whole, err := readPieces(data, v.mem)
	if err == nil {
		err = v.mem.Take(whole.size)
	}
	if err != nil {
		return nil, matError(err)
	}
	raw := bytes.Join(whole.data, nil)
	e, known := matElements[kind]
	if !known || e.kind != 'u' && e.size > 1 || int64(len(raw)) != size || size%int64(e.size) != 0 {
		return nil, errors.New("is text that is damaged: copy or download it again")
	}
	rows := v.shape[0]
	if rows == 1 && e.size == 1 { // UTF-8
		return []string{string(raw)}, nil
	}
	if len(raw)/e.size != n {
		return nil, errors.New("is text of several rows and more than a byte a character: give labels as cellstr(y)")
	}
	if err := take[string](v.mem, rows); err != nil {
		return nil, err
	}
	if err := v.mem.Take(int64(n)); err != nil {
		return nil, err
	}
	out := make([]string, rows)
	for i := range out {
		var name strings.Builder
		for k := i; k < n; k += rows {
			var wide [4]byte
			copy(wide[:], raw[k*e.size:(k+1)*e.size])
			if v.big {
				swap(wide[:e.size], e.size)
			}
			name.WriteRune(rune(binary.LittleEndian.Uint32(wide[:])))
		}
		if strings.ContainsRune(name.String(), utf8.RuneError) {
			return nil, errNoText
		}
		out[i] = strings.TrimRight(name.String(), " \x00")
	}
	return out, nil
}

// cells reads a cell array of labels.
func (v *matVariable) cells(n int) (out []string, err error) {
	for len(out) < n {
		kind, _, data, err := v.tag()
		if err != nil {
			return nil, matError(err)
		}
		cell, err := (&matReader{r: data, big: v.big, mem: v.mem}).variable()
		if err != nil {
			return nil, matError(err)
		}
		label := ""
		if size, _ := product(cell.shape); size > 0 {
			names, err := cell.labels()
			if err == nil && (kind != matMatrix || len(names) != 1 || cell.class == matCell) {
				err = errors.New("is no text: give labels as numbers, or as cellstr(y)")
			}
			if err != nil {
				return nil, fmt.Errorf("cell %d: %w", len(out)+1, err)
			}
			label = names[0]
		}
		if _, err := io.Copy(io.Discard, data); err != nil {
			return nil, matError(err)
		}
		if err := v.mem.Take(int64(len(label))); err != nil {
			return nil, err
		}
		if out, err = push(v.mem, out, label); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eachVariable calls read for the variables of a file, until it says that it has enough.
func eachVariable(ctx context.Context, in *input, read func(*matVariable) (enough bool, err error)) error {
	head := make([]byte, 128)
	if _, err := io.ReadFull(in, head); err != nil {
		return matError(err)
	}
	file := &matReader{r: in, big: string(head[126:]) == "MI", mem: in.mem}
	if !file.big && string(head[126:]) != "IM" {
		return errors.New("has no byte order in its header: it is damaged: copy or download it again")
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, _, data, err := file.tag()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return matError(err)
		}
		enough, err := eachElement(file, kind, data, read)
		if err != nil || enough {
			return err
		}
		left, limited := data.(*io.LimitedReader)
		if _, err := io.Copy(io.Discard, data); err != nil {
			return readError(err)
		}
		if limited && left.N > 0 {
			return matError(io.ErrUnexpectedEOF)
		}
	}
}

// eachElement reads the variable of an element, if it has one.
func eachElement(file *matReader, kind uint32, data io.Reader, read func(*matVariable) (bool, error)) (bool, error) {
	if kind == matCompressed {
		unzipped, err := zlib.NewReader(data)
		if err != nil {
			return false, matError(err)
		}
		defer unzipped.Close()
		inner := &matReader{r: unzipped, big: file.big, mem: file.mem}
		if kind, _, data, err = inner.tag(); err != nil {
			return false, matError(err)
		}
		if kind != matMatrix {
			return false, nil
		}
		enough, err := eachElement(inner, kind, data, read)
		if err == nil && enough { // the checksum
			_, err = io.Copy(io.Discard, unzipped)
		}
		return enough, matError(err)
	}
	if kind != matMatrix {
		return false, nil
	}
	if left, ok := data.(*io.LimitedReader); !ok || left.N == 0 { // a variable without a value
		return false, nil
	}
	v, err := (&matReader{r: data, big: file.big, mem: file.mem}).variable()
	if err != nil {
		return false, matError(err)
	}
	if v.name == "" { // MATLAB's own
		return false, nil
	}
	enough, err := read(v)
	if err != nil {
		return false, fmt.Errorf("member %s: %w", v.name, matError(err))
	}
	return enough, nil
}

// matError explains an error of reading an element.
func matError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("is truncated: copy or download it again")
	case errors.Is(err, zlib.ErrChecksum), errors.Is(err, zlib.ErrHeader):
		return fmt.Errorf("is damaged (%w): copy or download it again", err)
	}
	return err
}

// readMAT reads features and labels from variables.
func readMAT(ctx context.Context, in *input, o Options) ([]*Table, error) {
	xName, yName := cmp.Or(o.X, "X"), o.Y
	if yName == "" && o.X == "" {
		yName = "y"
	}
	if o.Labels != "" || o.noLabels() {
		yName = ""
	}
	var t *Table
	var labels, domains []string
	var seen []string
	err := eachVariable(ctx, in, func(v *matVariable) (_ bool, err error) {
		seen = append(seen, v.String())
		switch v.name {
		case xName:
			t, err = v.table(ctx, o)
		case yName:
			labels, err = v.labels()
		case o.Domain:
			domains, err = v.labels()
		}
		return t != nil && (labels != nil || yName == "") && (domains != nil || o.Domain == ""), err
	})
	if err != nil {
		return nil, err
	}
	for _, wanted := range []struct {
		name  string
		there bool
	}{{xName, t != nil}, {o.Y, labels != nil || yName == ""}, {o.Domain, domains != nil}} {
		if wanted.name != "" && !wanted.there {
			return nil, fmt.Errorf("has no member %q (its members are %s): name those with features and labels, as in x.mat:X,y", wanted.name, list(seen))
		}
	}
	if err := t.checkRows(labels, "member "+yName); err != nil {
		return nil, err
	}
	t.Labels = labels
	if o.Domain == "" {
		return []*Table{t}, nil
	}
	if len(domains) != t.Features.Rows {
		return nil, fmt.Errorf("%d rows but %d domains (member %s): give one for each row", t.Features.Rows, len(domains), o.Domain)
	}
	return t.split(ctx, domains, o)
}

// readMATLabels reads the labels alone. If the file has one variable, it needs no name.
func readMATLabels(ctx context.Context, in *input, o Options) (labels []string, err error) {
	name := cmp.Or(o.Y, "y")
	var seen []string
	var other []string
	err = eachVariable(ctx, in, func(v *matVariable) (_ bool, err error) {
		seen = append(seen, v.String())
		switch {
		case v.name == name:
			labels, err = v.labels()
			return true, err
		case len(seen) == 1 && o.Y == "":
			other, _ = v.labels() // if it is the only one
		}
		return false, nil
	})
	switch {
	case err != nil:
		return nil, err
	case labels == nil && len(seen) == 1 && other != nil:
		return other, nil
	case labels == nil:
		return nil, fmt.Errorf("has no member %q (its members are %s): name that with the labels, as in x.mat:y", name, list(seen))
	}
	return labels, nil
}
