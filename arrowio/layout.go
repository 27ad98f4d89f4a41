package arrowio

import (
	"github.com/apache/arrow/go/v15/arrow"
)

// form is the physical layout of an array: which buffers it has and what they
// hold (Arrow columnar format, "Physical memory layout").
type form uint8

const (
	formNull      form = iota // no buffers
	formFixed                 // validity, values of width bytes
	formBool                  // validity, values of one bit
	formBinary                // validity, offsets of width bytes, data
	formView                  // validity, views of 16 bytes, any number of data buffers
	formList                  // validity, offsets of width bytes; one child
	formListView              // validity, offsets and sizes of width bytes; one child
	formFixedList             // validity; one child of width elements a row
	formStruct                // validity; children
	formSparse                // type codes; children
	formDense                 // type codes, offsets; children
	formRunEnd                // no buffers; run ends and values
)

// buffers of each form, without the data buffers of views.
var formBuffers = [...]int{
	formNull: 0, formFixed: 2, formBool: 2, formBinary: 3, formView: 2, formList: 2, formListView: 3,
	formFixedList: 1, formStruct: 1, formSparse: 1, formDense: 2, formRunEnd: 0,
}

const viewWidth = 16 // bytes of a view

// layout is how arrays of one type lie in a message: a tree like the type's.
// Reader and writer walk it in the same order, parents first.
type layout struct {
	path     string         // column and child names, joined by dots
	dt       arrow.DataType // of an extension type its storage
	form     form
	width    int  // bytes or elements, as the form says
	utf8     bool // data is text
	children []*layout
	dict     *dictionary // of a dictionary type, whose own form is that of its indices
}

// dictionary is the current state of one dictionary of a stream.
type dictionary struct {
	id     int64
	values *layout
	data   arrow.ArrayData // nil until the first dictionary batch
}

func (d *dictionary) len() int {
	if d.data == nil {
		return 0
	}
	return d.data.Len()
}

func (d *dictionary) set(data arrow.ArrayData) {
	if d.data != nil {
		d.data.Release()
	}
	d.data = data
}

// layouts is the layout of all columns of a schema.
type layouts struct {
	columns      []*layout
	dictionaries map[int64]*dictionary
	ids          []int64 // of the dictionary types that are still to come
}

// layoutOf lays schema out; ids are those of its dictionaries as decodeSchema
// gives them.
func layoutOf(schema *arrow.Schema, ids []int64) (*layouts, error) {
	ls := &layouts{dictionaries: map[int64]*dictionary{}, ids: ids}
	for _, f := range schema.Fields() {
		l, err := ls.layout(joinPath("", f.Name), f.Type)
		if err != nil {
			return nil, err
		}
		ls.columns = append(ls.columns, l)
	}
	return ls, nil
}

// release lets go of the dictionaries.
func (ls *layouts) release() {
	for _, d := range ls.dictionaries {
		d.set(nil)
	}
}

func (ls *layouts) layout(path string, dt arrow.DataType) (*layout, error) {
	l := &layout{path: path, dt: dt}
	switch t := dt.(type) {
	case arrow.ExtensionType:
		return ls.layout(path, t.StorageType())
	case *arrow.DictionaryType:
		l.form, l.width = formFixed, t.IndexType.(arrow.FixedWidthDataType).BitWidth()/8
		return l, ls.dictionary(l, t)
	case *arrow.BooleanType:
		l.form = formBool
	case *arrow.NullType:
		l.form = formNull
	case arrow.FixedWidthDataType:
		l.form, l.width = formFixed, t.BitWidth()/8
	default:
		l.variable()
	}
	return l, ls.addChildren(l)
}

// variable sets the form of the types without a fixed width.
func (l *layout) variable() {
	switch l.dt.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		l.form, l.width = formBinary, 4
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		l.form, l.width = formBinary, 8
	case arrow.BinaryViewDataType:
		l.form = formView
	case *arrow.ListType, *arrow.MapType:
		l.form, l.width = formList, 4
	case *arrow.LargeListType:
		l.form, l.width = formList, 8
	case *arrow.ListViewType:
		l.form, l.width = formListView, 4
	case *arrow.LargeListViewType:
		l.form, l.width = formListView, 8
	case *arrow.FixedSizeListType:
		l.form, l.width = formFixedList, int(l.dt.(*arrow.FixedSizeListType).Len())
	case *arrow.StructType:
		l.form = formStruct
	case *arrow.SparseUnionType:
		l.form = formSparse
	case *arrow.DenseUnionType:
		l.form = formDense
	case *arrow.RunEndEncodedType:
		l.form = formRunEnd
	default:
		panic("arrowio: no layout for type " + l.dt.String())
	}
	l.utf8 = IsText(l.dt)
}

func (ls *layouts) addChildren(l *layout) error {
	nested, ok := l.dt.(arrow.NestedType)
	if !ok {
		return nil
	}
	for _, f := range nested.Fields() {
		child, err := ls.layout(joinPath(l.path, f.Name), f.Type)
		if err != nil {
			return err
		}
		l.children = append(l.children, child)
	}
	return nil
}

// dictionary gives l its dictionary; types that share an id share it.
func (ls *layouts) dictionary(l *layout, t *arrow.DictionaryType) error {
	id := ls.ids[0]
	ls.ids = ls.ids[1:]
	values, err := ls.layout(l.path, t.ValueType)
	if err != nil {
		return err
	}
	if l.dict = ls.dictionaries[id]; l.dict == nil {
		l.dict = &dictionary{id: id, values: values}
		ls.dictionaries[id] = l.dict
	} else if !arrow.TypeEqual(l.dict.values.dt, t.ValueType) {
		return &fault{l.path, errDamaged}
	}
	return nil
}
