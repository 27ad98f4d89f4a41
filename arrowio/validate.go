package arrowio

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// validate checks every array of a decoded batch, so that no later access can
// leave its buffers: lengths, null counts, offsets, sizes, views, type codes,
// run ends, dictionary indices, and that text is UTF-8. Nothing in arrow/go
// checks any of it.
func (b *batch) validate() error {
	at := 0
	for _, l := range b.columns {
		if err := b.validateArray(l, &at); err != nil {
			return err
		}
	}
	return nil
}

// validateArray checks the array of layout l whose node is number *at, and its
// children, whose nodes follow.
func (b *batch) validateArray(l *layout, at *int) error {
	a := arrayCheck{batch: b, layout: l, node: &b.nodes[*at]}
	*at++
	first := *at
	a.children = b.nodes[first:]
	if err := a.check(); err != nil {
		return &fault{l.path, err}
	}
	for _, child := range l.children {
		if err := b.validateArray(child, at); err != nil {
			return err
		}
	}
	if l.dt.ID() == arrow.MAP && (b.nodes[first].nulls != 0 || b.nodes[first+1].nulls != 0) {
		return &fault{l.path, errors.New("is a map with null keys")}
	}
	return nil
}

// arrayCheck checks one array.
type arrayCheck struct {
	batch    *batch
	layout   *layout
	node     *node
	children []node // the first is that of the first child
}

func (a *arrayCheck) check() error {
	if n := a.node.length; n < 0 || n > 8*a.batch.size+freeRows {
		return fmt.Errorf("claims %d values in %d bytes", n, a.batch.size)
	}
	if a.layout.hasValidity() {
		if err := a.checkValidity(); err != nil {
			return err
		}
	} else {
		a.node.nulls = 0
	}
	switch a.layout.form {
	case formNull:
		a.node.nulls = a.node.length
	case formFixed:
		return a.checkFixed()
	case formBool:
		return a.need(1, a.node.length, 1)
	case formBinary:
		return a.checkBinary()
	case formView:
		return a.checkViews()
	case formList:
		return a.checkOffsets(a.child(0).length, nil)
	case formListView:
		return a.checkListView()
	case formFixedList:
		return a.checkChild(0, a.node.length, a.layout.width)
	case formStruct, formSparse:
		return a.checkChildren()
	case formDense:
		return a.checkDense()
	case formRunEnd:
		return a.checkRunEnds()
	}
	return nil
}

// need checks that buffer i holds n values of bitWidth bits.
func (a *arrayCheck) need(i, n, bitWidth int) error {
	have := a.batch.spans[a.node.first+i].len
	if bitWidth > 0 && n > 8*have/bitWidth {
		return fmt.Errorf("has a buffer of %d bytes for %d values of %d bits", have, n, bitWidth)
	}
	return nil
}

// child is the node of child i.
func (a *arrayCheck) child(i int) *node {
	skip := 0
	for _, l := range a.layout.children[:i] {
		skip += l.count()
	}
	return &a.children[skip]
}

// checkChild checks that child i has width values for each of n.
func (a *arrayCheck) checkChild(i, n, width int) error {
	have := a.child(i).length
	if have < 0 || have%width != 0 || have/width != n {
		return fmt.Errorf("has %d elements for %d values of %d each", have, n, width)
	}
	return nil
}

// checkChildren checks that every child has as many values as the parent.
func (a *arrayCheck) checkChildren() error {
	for i := range a.layout.children {
		if err := a.checkChild(i, a.node.length, 1); err != nil {
			return err
		}
	}
	if a.layout.form == formSparse {
		return a.checkCodes()
	}
	return nil
}

// checkValidity checks the null count against the validity bitmap. A count that is
// unknown (-1) is set.
func (a *arrayCheck) checkValidity() error {
	n := a.node
	bitmap := a.batch.bytes(n, 0)
	if len(bitmap) == 0 {
		if n.nulls > 0 {
			return fmt.Errorf("has %d nulls but no validity bitmap", n.nulls)
		}
		n.nulls = 0
		return nil
	}
	if err := a.need(0, n.length, 1); err != nil {
		return err
	}
	nulls := n.length - bitutil.CountSetBits(bitmap, 0, n.length)
	if n.nulls != nulls && n.nulls != -1 {
		return fmt.Errorf("has %d nulls in its validity bitmap, but says %d", nulls, n.nulls)
	}
	if n.nulls == -1 {
		a.batch.raw = false
	}
	n.nulls = nulls
	return nil
}

// valuesOf views bytes as numbers.
func valuesOf[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](data []byte) []T {
	var zero T
	n := len(data) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), n)
}

// null reports whether value i is null.
func (a *arrayCheck) null(i int) bool {
	return a.node.nulls > 0 && a.batch.bytes(a.node, 0)[i/8]>>(i%8)&1 == 0
}

func (a *arrayCheck) checkFixed() error {
	if err := a.need(1, a.node.length, 8*a.layout.width); err != nil {
		return err
	}
	if a.layout.dict == nil {
		return nil
	}
	return a.checkIndices(a.layout.dict.len())
}

// checkIndices checks that every index is within a dictionary of n values.
func (a *arrayCheck) checkIndices(n int) error {
	indices := a.batch.bytes(a.node, 1)
	switch a.layout.dt.(*arrow.DictionaryType).IndexType.ID() {
	case arrow.INT8:
		return checkBelow(a, valuesOf[int8](indices), n)
	case arrow.INT16:
		return checkBelow(a, valuesOf[int16](indices), n)
	case arrow.INT32:
		return checkBelow(a, valuesOf[int32](indices), n)
	case arrow.INT64:
		return checkBelow(a, valuesOf[int64](indices), n)
	case arrow.UINT8:
		return checkBelow(a, valuesOf[uint8](indices), n)
	case arrow.UINT16:
		return checkBelow(a, valuesOf[uint16](indices), n)
	case arrow.UINT32:
		return checkBelow(a, valuesOf[uint32](indices), n)
	}
	return checkBelow(a, valuesOf[uint64](indices), n)
}

func checkBelow[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](a *arrayCheck, indices []T, n int) error {
	for i, k := range indices[:a.node.length] {
		if (k < 0 || uint64(k) >= uint64(n)) && !a.null(i) {
			return fmt.Errorf("row %d: refers to value %d of a dictionary of %d", i, k, n)
		}
	}
	return nil
}

func (a *arrayCheck) checkBinary() error {
	data := a.batch.bytes(a.node, 2)
	if a.layout.utf8 {
		return a.checkOffsets(len(data), data)
	}
	return a.checkOffsets(len(data), nil)
}

// checkOffsets checks that the offsets of buffer 1 rise from 0 or more to at
// most end and, where text is given, that each value is UTF-8.
func (a *arrayCheck) checkOffsets(end int, text []byte) error {
	if a.node.length == 0 {
		return nil // the one offset may be missing
	}
	if err := a.need(1, a.node.length+1, 8*a.layout.width); err != nil {
		return err
	}
	offsets := a.batch.bytes(a.node, 1)
	if valuesOf[int32](offsets)[0] != 0 {
		a.batch.raw = false // older readers take offsets to start at 0
	}
	if a.layout.width == 4 {
		return checkRising(valuesOf[int32](offsets)[:a.node.length+1], end, text)
	}
	return checkRising(valuesOf[int64](offsets)[:a.node.length+1], end, text)
}

func checkRising[T int32 | int64](offsets []T, end int, text []byte) error {
	last := offsets[0]
	if last < 0 {
		return fmt.Errorf("row 0: starts at %d", last)
	}
	for i, o := range offsets[1:] {
		if o < last {
			return fmt.Errorf("row %d: ends at %d, before its start at %d", i, o, last)
		}
		last = o
	}
	if int64(last) > int64(end) {
		return fmt.Errorf("row %d: ends at %d, its values end at %d", len(offsets)-2, last, end)
	}
	if text == nil {
		return nil
	}
	return checkText(offsets, text)
}

var errNotText = errors.New("is not UTF-8, though its type says so: write it as binary, or repair the text")

// checkText checks that the values are UTF-8: the whole is, and no value starts
// inside a character.
func checkText[T int32 | int64](offsets []T, text []byte) error {
	if !utf8.Valid(text[offsets[0]:offsets[len(offsets)-1]]) {
		return errNotText
	}
	for _, o := range offsets {
		if int(o) < len(text) && o < offsets[len(offsets)-1] && !utf8.RuneStart(text[o]) {
			return errNotText
		}
	}
	return nil
}

func (a *arrayCheck) checkListView() error {
	for i := 1; i <= 2; i++ {
		if err := a.need(i, a.node.length, 8*a.layout.width); err != nil {
			return err
		}
	}
	offsets, sizes := a.batch.bytes(a.node, 1), a.batch.bytes(a.node, 2)
	end := int64(a.child(0).length)
	if a.layout.width == 4 {
		return checkViewsIn(valuesOf[int32](offsets), valuesOf[int32](sizes), a.node.length, end)
	}
	return checkViewsIn(valuesOf[int64](offsets), valuesOf[int64](sizes), a.node.length, end)
}

func checkViewsIn[T int32 | int64](offsets, sizes []T, n int, end int64) error {
	for i := range n {
		o, s := int64(offsets[i]), int64(sizes[i])
		if o < 0 || s < 0 || o > end || s > end-o {
			return fmt.Errorf("row %d: takes %d elements at %d of %d", i, s, o, end)
		}
	}
	return nil
}

// checkViews checks the views of a string_view or binary_view array. The views
// of nulls may be anything.
func (a *arrayCheck) checkViews() error {
	if err := a.need(1, a.node.length, 8*viewWidth); err != nil {
		return err
	}
	views := a.batch.bytes(a.node, 1)
	for i := range a.node.length {
		if a.null(i) {
			continue
		}
		value, err := a.view(views[i*viewWidth : (i+1)*viewWidth])
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		if a.layout.utf8 && !utf8.Valid(value) {
			return fmt.Errorf("row %d: %w", i, errNotText)
		}
	}
	return nil
}

// view returns the bytes that a view shows. Up to 12 are in the view itself;
// otherwise it has the first 4, and the buffer and the offset of all.
func (a *arrayCheck) view(v []byte) ([]byte, error) {
	words := valuesOf[int32](v)
	size, buffer, offset := int(words[0]), int(words[2]), int(words[3])
	switch {
	case size < 0:
		return nil, fmt.Errorf("has length %d", size)
	case size <= 12:
		return v[4 : 4+size], nil
	case buffer < 0 || buffer >= a.node.variadic:
		return nil, fmt.Errorf("is in buffer %d of %d", buffer, a.node.variadic)
	}
	data := a.batch.bytes(a.node, 2+buffer)
	if offset < 0 || size > len(data)-offset {
		return nil, fmt.Errorf("takes %d bytes at %d of %d", size, offset, len(data))
	}
	if !bytes.Equal(v[4:8], data[offset:offset+4]) {
		return nil, errors.New("does not begin with its prefix")
	}
	return data[offset : offset+size], nil
}

// childOfCode gives, for each type code, the number of its child, -1 for none.
func (a *arrayCheck) childOfCode() (children [128]int) {
	for i := range children {
		children[i] = -1
	}
	for i, code := range a.layout.dt.(arrow.UnionType).TypeCodes() {
		children[code] = i
	}
	return children
}

func (a *arrayCheck) checkCodes() error {
	if err := a.need(0, a.node.length, 8); err != nil {
		return err
	}
	children := a.childOfCode()
	for i, code := range a.batch.bytes(a.node, 0)[:a.node.length] {
		if code > 127 || children[code] < 0 {
			return fmt.Errorf("row %d: has type code %d, which its union does not have", i, int8(code))
		}
	}
	return nil
}

func (a *arrayCheck) checkDense() error {
	if err := errors.Join(a.need(1, a.node.length, 32), a.checkCodes()); err != nil {
		return err
	}
	children := a.childOfCode()
	codes, offsets := a.batch.bytes(a.node, 0), valuesOf[int32](a.batch.bytes(a.node, 1))
	for i := range a.node.length {
		if n := a.child(children[codes[i]]).length; offsets[i] < 0 || int(offsets[i]) >= n {
			return fmt.Errorf("row %d: is value %d of %d", i, offsets[i], n)
		}
	}
	return nil
}

// checkRunEnds checks that the run ends rise strictly up to the length.
func (a *arrayCheck) checkRunEnds() error {
	ends := a.child(0)
	if ends.nulls != 0 {
		return errors.New("has null run ends")
	}
	if a.child(1).length < ends.length {
		return fmt.Errorf("has %d values for %d runs", a.child(1).length, ends.length)
	}
	l := a.layout.children[0]
	e := arrayCheck{batch: a.batch, layout: l, node: ends}
	if err := e.need(1, ends.length, 8*l.width); err != nil || ends.length < 0 {
		return errors.Join(err, errors.New("has no valid run ends"))
	}
	data := a.batch.bytes(ends, 1)
	switch l.width {
	case 2:
		return checkRuns(valuesOf[int16](data)[:ends.length], a.node.length)
	case 4:
		return checkRuns(valuesOf[int32](data)[:ends.length], a.node.length)
	}
	return checkRuns(valuesOf[int64](data)[:ends.length], a.node.length)
}

func checkRuns[T int16 | int32 | int64](ends []T, n int) error {
	last := T(0)
	for i, end := range ends {
		if end <= last {
			return fmt.Errorf("run %d: ends at %d, the one before at %d", i, end, last)
		}
		last = end
	}
	if int64(last) < int64(n) {
		return fmt.Errorf("has runs up to %d of %d values", last, n)
	}
	return nil
}
