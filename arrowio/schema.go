package arrowio

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// Values of the enumerations of Arrow's Message.fbs and Schema.fbs.
const (
	headerSchema     = 1
	headerDictionary = 2
	headerBatch      = 3

	metadataV4 = 3
	metadataV5 = 4
)

// Kinds of type, the union Type of Schema.fbs.
const (
	typeNull = iota + 1
	typeInt
	typeFloatingPoint
	typeBinary
	typeUtf8
	typeBool
	typeDecimal
	typeDate
	typeTime
	typeTimestamp
	typeInterval
	typeList
	typeStruct
	typeUnion
	typeFixedSizeBinary
	typeFixedSizeList
	typeMap
	typeDuration
	typeLargeBinary
	typeLargeUtf8
	typeLargeList
	typeRunEndEncoded
	typeBinaryView
	typeUtf8View
	typeListView
	typeLargeListView
)

// maxDepth is how deep types may nest.
const maxDepth = 64

var errDamaged = errors.New("is damaged: its metadata is no valid flatbuffer")

// typeFault is a type that cannot be read.
type typeFault struct{ what, advice string }

func (e *typeFault) Error() string { return e.what }

// schemaDecoder turns the Schema table of a message into an arrow.Schema.
type schemaDecoder struct {
	dictionaries []int64 // ids, in the order in which the types have them
	budget       int     // fields and metadata pairs that may still come: since tables may be shared, their number needs a bound
}

// bytesPerItem is less than any field or pair takes in the flatbuffer.
const bytesPerItem = 16

// decodeSchema decodes t. The ids of the dictionaries come in the order in
// which a walk of the types, parents first, meets the dictionary types.
func decodeSchema(t table) (*arrow.Schema, []int64, error) {
	if t.int16(0, 0) != 0 {
		return nil, nil, &typeFault{"is big-endian", "write it on a little-endian machine"}
	}
	d := schemaDecoder{budget: t.flatSize() / bytesPerItem}
	fields, err := d.fields(t.tables(1), "", 0)
	if err != nil {
		return nil, nil, err
	}
	meta, err := d.metadata(t.tables(2))
	if err != nil || t.f == nil || t.f.bad {
		return nil, nil, errDamaged
	}
	return arrow.NewSchema(fields, &meta), d.dictionaries, nil
}

// spend takes n items off the budget.
func (d *schemaDecoder) spend(n int) error {
	if d.budget -= n; d.budget < 0 {
		return errDamaged
	}
	return nil
}

func (d *schemaDecoder) metadata(pairs tables) (arrow.Metadata, error) {
	if err := d.spend(pairs.n); err != nil {
		return arrow.Metadata{}, err
	}
	keys, values := make([]string, pairs.n), make([]string, pairs.n)
	for i := range keys {
		pair := pairs.at(i)
		keys[i], values[i] = pair.text(0), pair.text(1)
	}
	return arrow.NewMetadata(keys, values), nil
}

func (d *schemaDecoder) fields(ts tables, parent string, depth int) ([]arrow.Field, error) {
	if err := d.spend(ts.n); err != nil {
		return nil, err
	}
	out := make([]arrow.Field, ts.n)
	for i := range out {
		var err error
		if out[i], err = d.field(ts.at(i), parent, depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *schemaDecoder) field(t table, parent string, depth int) (arrow.Field, error) {
	f := arrow.Field{Name: t.text(0), Nullable: t.bool(1)}
	var err error
	if f.Metadata, err = d.metadata(t.tables(6)); err != nil || depth > maxDepth || !t.present() || t.f.bad {
		return f, errDamaged
	}
	path := joinPath(parent, f.Name)
	encoding := t.table(4)
	if encoding.present() {
		d.dictionaries = append(d.dictionaries, encoding.int64(0))
	}
	children, err := d.fields(t.tables(5), path, depth+1)
	if err != nil {
		return f, err
	}
	if f.Type, err = typeOf(t.byte(2), t.table(3), children); err != nil {
		return f, &fault{path, err}
	}
	if encoding.present() {
		f.Type, err = dictionaryType(encoding, f.Type)
	}
	if err != nil {
		return f, &fault{path, err}
	}
	return f, nil
}

// joinPath names a child in errors. It is cut where it gets long, so that deep
// types with long names cost little.
func joinPath(parent, name string) string {
	const maxPath = 100
	if parent != "" {
		name = parent + "." + name
	}
	if len(name) > maxPath {
		name = strings.ToValidUTF8(name[:maxPath], "") + "…"
	}
	return name
}

func dictionaryType(encoding table, values arrow.DataType) (arrow.DataType, error) {
	index := arrow.DataType(arrow.PrimitiveTypes.Int32)
	if t := encoding.table(1); t.present() {
		var err error
		if index, err = intType(t.int32(0, 0), t.bool(1)); err != nil {
			return nil, err
		}
	}
	return &arrow.DictionaryType{IndexType: index, ValueType: values, Ordered: encoding.bool(2)}, nil
}

// typeOf decodes one type; unknown ones are refused by what they are.
func typeOf(kind int, t table, children []arrow.Field) (arrow.DataType, error) {
	switch kind {
	case typeList, typeLargeList, typeListView, typeLargeListView, typeFixedSizeList, typeMap:
		return listType(kind, t, children)
	case typeStruct:
		return arrow.StructOf(children...), nil
	case typeUnion:
		return unionType(t, children)
	case typeRunEndEncoded:
		return runEndType(children)
	}
	if len(children) > 0 {
		return nil, errDamaged
	}
	switch kind {
	case typeInt:
		return intType(t.int32(0, 0), t.bool(1))
	case typeFloatingPoint:
		return choose(t.int16(0, 0), "floating point type", dataTypes(arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64))
	case typeDecimal:
		return decimalType(t)
	case typeFixedSizeBinary:
		return fixedBinaryType(t.int32(0, 0))
	case typeDate, typeTime, typeTimestamp, typeInterval, typeDuration:
		return timeType(kind, t)
	}
	if dt, ok := plainTypes[kind]; ok {
		return dt, nil
	}
	return nil, &typeFault{fmt.Sprintf("has a type (number %d of the format) that is not supported", kind), "cast the column before writing it"}
}

// plainTypes are the types without parameters.
var plainTypes = map[int]arrow.DataType{
	typeNull:        arrow.Null,
	typeBool:        arrow.FixedWidthTypes.Boolean,
	typeBinary:      arrow.BinaryTypes.Binary,
	typeUtf8:        arrow.BinaryTypes.String,
	typeLargeBinary: arrow.BinaryTypes.LargeBinary,
	typeLargeUtf8:   arrow.BinaryTypes.LargeString,
	typeBinaryView:  arrow.BinaryTypes.BinaryView,
	typeUtf8View:    arrow.BinaryTypes.StringView,
}

// choose returns the choice of number i.
func choose[T any](i int, what string, choices []T) (T, error) {
	if i < 0 || i >= len(choices) {
		var none T
		return none, &typeFault{fmt.Sprintf("has an unknown %s (number %d)", what, i), "cast the column before writing it"}
	}
	return choices[i], nil
}

func dataTypes(types ...arrow.DataType) []arrow.DataType { return types }

func intType(bits int, signed bool) (arrow.DataType, error) {
	for _, dt := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	} {
		if dt.(arrow.FixedWidthDataType).BitWidth() == bits && arrow.IsSignedInteger(dt.ID()) == signed {
			return dt, nil
		}
	}
	return nil, &typeFault{fmt.Sprintf("is an integer of %d bits, which is not supported", bits), "cast it to int64 before writing it"}
}

func decimalType(t table) (arrow.DataType, error) {
	precision, scale, bits := int32(t.int32(0, 0)), int32(t.int32(1, 0)), t.int32(2, 128)
	const maxDigits = 76
	if precision < 1 || precision > maxDigits || scale < -maxDigits || scale > maxDigits {
		return nil, errDamaged // printing such a number could take all memory
	}
	switch bits {
	case 128:
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}, nil
	case 256:
		return &arrow.Decimal256Type{Precision: precision, Scale: scale}, nil
	default:
		return nil, &typeFault{fmt.Sprintf("is a decimal%d, which is not supported", bits), "cast it to decimal128 or float64 before writing it"}
	}
}

func fixedBinaryType(width int) (arrow.DataType, error) {
	if width < 0 {
		return nil, errDamaged
	}
	return &arrow.FixedSizeBinaryType{ByteWidth: width}, nil
}

var timeUnits = []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond}

func timeType(kind int, t table) (arrow.DataType, error) {
	switch kind {
	case typeDate:
		return choose(t.int16(0, 1), "date unit", dataTypes(arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64))
	case typeInterval:
		return choose(t.int16(0, 0), "interval unit", dataTypes(arrow.FixedWidthTypes.MonthInterval,
			arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval))
	case typeTimestamp:
		unit, err := choose(t.int16(0, 0), "time unit", timeUnits)
		return &arrow.TimestampType{Unit: unit, TimeZone: t.text(1)}, err
	}
	unit, err := choose(t.int16(0, 1), "time unit", timeUnits)
	if err != nil || kind == typeDuration {
		return &arrow.DurationType{Unit: unit}, err
	}
	switch bits := t.int32(1, 32); {
	case bits == 32 && (unit == arrow.Second || unit == arrow.Millisecond):
		return &arrow.Time32Type{Unit: unit}, nil
	case bits == 64 && (unit == arrow.Microsecond || unit == arrow.Nanosecond):
		return &arrow.Time64Type{Unit: unit}, nil
	}
	return nil, errDamaged
}

func listType(kind int, t table, children []arrow.Field) (arrow.DataType, error) {
	if len(children) != 1 {
		return nil, errDamaged
	}
	child := children[0]
	switch kind {
	case typeList:
		return arrow.ListOfField(child), nil
	case typeLargeList:
		return arrow.LargeListOfField(child), nil
	case typeListView:
		return arrow.ListViewOfField(child), nil
	case typeLargeListView:
		return arrow.LargeListViewOfField(child), nil
	case typeMap:
		return mapType(t, child)
	}
	width := t.int32(0, 0)
	switch {
	case width < 0:
		return nil, errDamaged
	case width == 0:
		return nil, &typeFault{"is a list of fixed size 0, which is not supported", "drop the column"}
	}
	return arrow.FixedSizeListOfField(int32(width), child), nil
}

func mapType(t table, pairs arrow.Field) (arrow.DataType, error) {
	pair, ok := pairs.Type.(*arrow.StructType)
	if !ok || pair.NumFields() != 2 {
		return nil, errDamaged
	}
	key, item := pair.Field(0), pair.Field(1)
	m := arrow.MapOfWithMetadata(key.Type, key.Metadata, item.Type, item.Metadata)
	m.SetItemNullable(item.Nullable)
	m.KeysSorted = t.bool(0)
	return m, nil
}

func unionType(t table, children []arrow.Field) (arrow.DataType, error) {
	ids, n := t.vector(1, 4)
	codes := make([]arrow.UnionTypeCode, len(children))
	seen := map[arrow.UnionTypeCode]bool{}
	for i := range codes {
		codes[i] = arrow.UnionTypeCode(i)
		if n > 0 && n == len(children) && ids[4*i] < 128 && ids[4*i+1]|ids[4*i+2]|ids[4*i+3] == 0 {
			codes[i] = arrow.UnionTypeCode(ids[4*i])
		} else if n > 0 {
			return nil, errDamaged
		}
		if seen[codes[i]] || i > 127 {
			return nil, errDamaged
		}
		seen[codes[i]] = true
	}
	mode, err := choose(t.int16(0, 0), "union mode", []arrow.UnionMode{arrow.SparseMode, arrow.DenseMode})
	if err != nil {
		return nil, err
	}
	return arrow.UnionOf(mode, children, codes), nil
}

func runEndType(children []arrow.Field) (arrow.DataType, error) {
	if len(children) != 2 {
		return nil, errDamaged
	}
	switch children[0].Type.ID() {
	case arrow.INT16, arrow.INT32, arrow.INT64:
		return arrow.RunEndEncodedOf(children[0].Type, children[1].Type), nil
	}
	return nil, errDamaged
}
