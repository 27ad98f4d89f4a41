package arrowio

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Vectors is a column of vectors: row i is Data[i*Width:(i+1)*Width].
type Vectors struct {
	Data  []float32
	Rows  int
	Width int
}

// Row is a view of row i.
func (v Vectors) Row(i int) []float32 { return v.Data[i*v.Width : (i+1)*v.Width : (i+1)*v.Width] }

// Missing reports whether row i has no value: all of it is NaN.
func (v Vectors) Missing(i int) bool {
	return v.Width > 0 && !slices.ContainsFunc(v.Row(i), func(x float32) bool { return x == x })
}

// Ints is a column of integers.
type Ints struct {
	Values []int32
	Valid  []bool // nil if no value is null
}

// Null reports whether row i is null.
func (v Ints) Null(i int) bool { return v.Valid != nil && !v.Valid[i] }

// Strings is a column of strings. They are copies and outlive the batch.
type Strings struct {
	Values []string
	Valid  []bool // nil if no value is null
}

// Null reports whether row i is null.
func (v Strings) Null(i int) bool { return v.Valid != nil && !v.Valid[i] }

// Domain says which side a row is on.
type Domain uint8

// The two domains.
const (
	SourceDomain Domain = iota
	TargetDomain
)

func (d Domain) String() string {
	if d == SourceDomain {
		return "source"
	}
	return "target"
}

// column finds the one column of that name.
func column(rec arrow.Record, name string) (arrow.Array, error) {
	switch at := rec.Schema().FieldIndices(name); len(at) {
	case 1:
		return rec.Column(at[0]), nil
	case 0:
		return nil, columnError(name, "name another by its flag, or run the stage that adds it", "is missing (the columns are %s)", fieldNames(rec.Schema()))
	default:
		return nil, columnError(name, "rename all but one", "is there %d times", len(at))
	}
}

func fieldNames(schema *arrow.Schema) string {
	text := ""
	for i, f := range schema.Fields() {
		if i == 12 {
			return text + ", …"
		}
		if i > 0 {
			text += ", "
		}
		text += f.Name
	}
	return text
}

// A RowError is about one row of a column.
type RowError struct {
	Column string
	Row    int // from 0, within the batch; people are told numbers from 1
	Err    error
}

func (e *RowError) Error() string {
	return fmt.Sprintf("column %q: row %d: %v", e.Column, e.Row+1, e.Err)
}

func (e *RowError) Unwrap() error { return e.Err }

func rowError(column string, row int, format string, args ...any) error {
	return &RowError{Column: column, Row: row, Err: fmt.Errorf(format, args...)}
}

func typeError(name string, got arrow.DataType, want string) error {
	return columnError(name, "must be "+want, "has type %s", got)
}

// columnError is about a column of an input whose name Located adds.
func columnError(name, advice, format string, args ...any) error {
	return &Error{Column: name, Err: fmt.Errorf(format, args...), Advice: advice}
}

// IntColumn reads a column of any integer type, of booleans, of dictionaries of
// integers, or of floats that are whole numbers (NaN means null, as pandas writes
// missing labels), as int32.
func IntColumn(rec arrow.Record, name string) (Ints, error) {
	col, err := column(rec, name)
	if err != nil {
		return Ints{}, err
	}
	return intsOf(col, name)
}

func intsOf(col arrow.Array, name string) (Ints, error) {
	switch c := col.(type) {
	case *array.Int32:
		return convertInts(name, c, c.Int32Values())
	case *array.Int64:
		return convertInts(name, c, c.Int64Values())
	case *array.Int16:
		return convertInts(name, c, c.Int16Values())
	case *array.Int8:
		return convertInts(name, c, c.Int8Values())
	case *array.Uint8:
		return convertInts(name, c, c.Uint8Values())
	case *array.Uint16:
		return convertInts(name, c, c.Uint16Values())
	case *array.Uint32:
		return convertInts(name, c, c.Uint32Values())
	case *array.Uint64:
		return convertInts(name, c, c.Uint64Values())
	case *array.Float32:
		return convertInts(name, c, c.Float32Values())
	case *array.Float64:
		return convertInts(name, c, c.Float64Values())
	case *array.Float16:
		return convertInts(name, c, widenHalves(c.Values()))
	case *array.Boolean:
		return boolInts(c), nil
	case *array.Dictionary:
		return dictionaryInts(name, c)
	case *array.Null:
		return Ints{Values: make([]int32, c.Len()), Valid: make([]bool, c.Len())}, nil
	}
	return Ints{}, typeError(name, col.DataType(), "an integer, or floats that are whole numbers")
}

type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// convertInts copies values into int32, with NaN and nulls as invalid rows.
func convertInts[T number](name string, col arrow.Array, values []T) (Ints, error) {
	out := Ints{Values: make([]int32, len(values)), Valid: validity(col)}
	for i, x := range values {
		if out.Null(i) {
			continue
		}
		if x != x {
			out.Valid = setNull(out.Valid, i, len(values))
			continue
		}
		out.Values[i] = int32(x)
		if float64(x) < math.MinInt32 || float64(x) > math.MaxInt32 || T(out.Values[i]) != x {
			return Ints{}, rowError(name, i, "%v is not a whole number in the range of int32: convert the column", x)
		}
	}
	return out, nil
}

// boolInts reads false as 0 and true as 1.
func boolInts(c *array.Boolean) Ints {
	out := Ints{Values: make([]int32, c.Len()), Valid: validity(c)}
	for i := range out.Values {
		if !out.Null(i) && c.Value(i) {
			out.Values[i] = 1
		}
	}
	return out
}

// dictionaryInts looks up the integers of a dictionary, as pandas' categories
// of numbers come.
func dictionaryInts(name string, c *array.Dictionary) (Ints, error) {
	words, err := intsOf(c.Dictionary(), name)
	if err != nil {
		return Ints{}, err
	}
	out := Ints{Values: make([]int32, c.Len())}
	for i := range out.Values {
		if k := c.GetValueIndex(i); c.IsNull(i) || words.Null(k) {
			out.Valid = setNull(out.Valid, i, c.Len())
		} else {
			out.Values[i] = words.Values[k]
		}
	}
	return out, nil
}

// validity says of each row whether it is not null; nil if no row is null.
func validity(col arrow.Array) []bool {
	if col.NullN() == 0 {
		return nil
	}
	valid := make([]bool, col.Len())
	for i := range valid {
		valid[i] = col.IsValid(i)
	}
	return valid
}

func setNull(valid []bool, i, n int) []bool {
	if valid == nil {
		valid = make([]bool, n)
		for j := range valid {
			valid[j] = true
		}
	}
	valid[i] = false
	return valid
}

// FloatColumn reads a column of floats or integers as float32. Nulls, NaN and
// infinite values are errors that name the row.
func FloatColumn(rec arrow.Record, name string) ([]float32, error) {
	col, err := column(rec, name)
	if err != nil {
		return nil, err
	}
	if i := firstNull(col); i >= 0 {
		return nil, rowError(name, i, "is null: fill or drop the row")
	}
	values, err := floatsOf(col, name)
	if err != nil {
		return nil, err
	}
	if i := firstNonFinite(values); i >= 0 {
		return nil, rowError(name, i, "is %v: fill or drop the row", values[i])
	}
	return values, nil
}

// FloatColumnWithGaps reads such a column with NaN where a value is null or NaN. Infinite
// values are errors that name the row.
func FloatColumnWithGaps(rec arrow.Record, name string) ([]float32, error) {
	values, err := Floats(rec, name)
	if err != nil {
		return nil, err
	}
	for from := 0; ; from++ {
		i := firstNonFinite(values[from:])
		if i < 0 {
			return values, nil
		}
		if from += i; values[from] == values[from] {
			return nil, rowError(name, from, "is %v, or too large for float32: mend or drop the row", values[from])
		}
	}
}

// Floats reads such a column as it is, with NaN where a value is null.
func Floats(rec arrow.Record, name string) ([]float32, error) {
	col, err := column(rec, name)
	if err != nil {
		return nil, err
	}
	values, err := floatsOf(col, name)
	if err != nil || col.NullN() == 0 {
		return values, err
	}
	values = slices.Clone(values)
	for i := range values {
		if col.IsNull(i) {
			values[i] = float32(math.NaN())
		}
	}
	return values, nil
}

// AreFinite reports whether no value is NaN or infinite.
func AreFinite(values []float32) bool { return firstNonFinite(values) < 0 }

func firstNull(col arrow.Array) int {
	if col.NullN() == 0 {
		return -1
	}
	for i := range col.Len() {
		if col.IsNull(i) {
			return i
		}
	}
	return -1
}

func firstNonFinite(values []float32) int {
	// Added to the exponent of two values at a time, 1 reaches the sign where the exponent is the highest.
	const exponents, one, signs, some = 0x7f800000_7f800000, 0x00800000_00800000, 0x80000000_80000000, 8
	var pairs []uint64
	if len(values) >= 2*some {
		pairs = unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(values))), len(values)/2)
	}
	at := 0
	for ; len(pairs)-at >= some; at += some {
		p := pairs[at : at+some : at+some]
		a, b := (p[0]&exponents+one)|(p[1]&exponents+one), (p[2]&exponents+one)|(p[3]&exponents+one)
		c, d := (p[4]&exponents+one)|(p[5]&exponents+one), (p[6]&exponents+one)|(p[7]&exponents+one)
		if (a|b|c|d)&signs != 0 {
			break
		}
	}
	for i, x := range values[2*at:] {
		if x-x != 0 {
			return 2*at + i
		}
	}
	return -1
}

// floatsOf views float32 arrays and converts other numbers.
func floatsOf(col arrow.Array, name string) ([]float32, error) {
	values, ok := numbersOf[float32](col)
	if !ok {
		return nil, typeError(name, col.DataType(), "numbers")
	}
	return values, nil
}

// numbersOf views arrays of F and converts other numbers.
func numbersOf[F float32 | float64](col arrow.Array) ([]F, bool) {
	switch c := col.(type) {
	case *array.Float32:
		return convertFloats[F](c.Float32Values()), true
	case *array.Float64:
		return convertFloats[F](c.Float64Values()), true
	case *array.Float16:
		return convertFloats[F](widenHalves(c.Values())), true
	case *array.Int8:
		return convertFloats[F](c.Int8Values()), true
	case *array.Int16:
		return convertFloats[F](c.Int16Values()), true
	case *array.Int32:
		return convertFloats[F](c.Int32Values()), true
	case *array.Int64:
		return convertFloats[F](c.Int64Values()), true
	case *array.Uint8:
		return convertFloats[F](c.Uint8Values()), true
	case *array.Uint16:
		return convertFloats[F](c.Uint16Values()), true
	case *array.Uint32:
		return convertFloats[F](c.Uint32Values()), true
	case *array.Uint64:
		return convertFloats[F](c.Uint64Values()), true
	case *array.Boolean:
		return convertFloats[F](boolInts(c).Values), true
	case *array.Decimal128:
		scale := c.DataType().(*arrow.Decimal128Type).Scale
		return eachFloat(c.Len(), func(i int) F { return F(c.Value(i).ToFloat64(scale)) }), true
	case *array.Decimal256:
		scale := c.DataType().(*arrow.Decimal256Type).Scale
		return eachFloat(c.Len(), func(i int) F { return F(c.Value(i).ToFloat64(scale)) }), true
	}
	return nil, false
}

func eachFloat[F float32 | float64](n int, value func(i int) F) []F {
	out := make([]F, n)
	for i := range out {
		out[i] = value(i)
	}
	return out
}

func convertFloats[F float32 | float64, T number](values []T) []F {
	if same, ok := any(values).([]F); ok {
		return same
	}
	out := make([]F, len(values))
	for i, x := range values {
		out[i] = F(x)
	}
	return out
}

// Doubles reads a column of numbers, or the elements of one of vectors, end to end, as
// float64, NaN where one is null. It is nil where float32 holds all that the type can hold, and for a column
// that is neither.
func Doubles(rec arrow.Record, name string) []float64 {
	col, err := column(rec, name)
	if err != nil {
		return nil
	}
	if elements, _, err := elementsOf(col, name); err == nil {
		defer elements.Release()
		col = elements
	}
	values := doublesOf(col)
	if col.NullN() > 0 {
		values = slices.Clone(values)
		for i := range values {
			if col.IsNull(i) {
				values[i] = math.NaN()
			}
		}
	}
	return values
}

func doublesOf(col arrow.Array) []float64 {
	switch col.(type) {
	case *array.Float32, *array.Float16, *array.Int8, *array.Int16, *array.Uint8, *array.Uint16, *array.Boolean:
		return nil // float32 holds all of them
	}
	values, _ := numbersOf[float64](col)
	return values
}

func widenHalves[T interface{ Float32() float32 }](values []T) []float32 {
	out := make([]float32, len(values))
	for i, x := range values {
		out[i] = x.Float32()
	}
	return out
}

// IsText reports whether values of the type are strings, be it by a dictionary.
func IsText(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

// StringColumn reads a column of utf8, large_utf8 or string_view, or of a
// dictionary of any of them.
func StringColumn(rec arrow.Record, name string) (Strings, error) {
	col, err := column(rec, name)
	if err != nil {
		return Strings{}, err
	}
	at, ok := stringAt(col)
	if !ok {
		return Strings{}, typeError(name, col.DataType(), "strings")
	}
	return stringsOf(at, col.Len()), nil
}

// stringsOf are n strings, and which of them are not null.
func stringsOf(at func(i int) (string, bool), n int) Strings {
	out := Strings{Values: make([]string, n)}
	for i := range out.Values {
		text, valid := at(i)
		if !valid {
			out.Valid = setNull(out.Valid, i, n)
			continue
		}
		out.Values[i] = text
	}
	return out
}

// stringAt gives access to the strings of any layout. The strings are copies; rows
// with the same value of a dictionary share one.
func stringAt(col arrow.Array) (func(i int) (string, bool), bool) {
	switch c := col.(type) {
	case array.StringLike:
		return func(i int) (string, bool) {
			if c.IsNull(i) {
				return "", false
			}
			return string([]byte(c.Value(i))), true
		}, true
	case *array.Null:
		return func(int) (string, bool) { return "", false }, true
	case *array.Dictionary:
		return dictionaryStringAt(c)
	}
	return nil, false
}

func dictionaryStringAt(c *array.Dictionary) (func(i int) (string, bool), bool) {
	at, ok := stringAt(c.Dictionary())
	if !ok {
		return nil, false
	}
	words := make([]string, c.Dictionary().Len())
	valid := make([]bool, len(words))
	for i := range words {
		words[i], valid[i] = at(i)
	}
	return func(i int) (string, bool) {
		if c.IsNull(i) {
			return "", false
		}
		k := c.GetValueIndex(i)
		return words[k], valid[k]
	}, true
}

// LabelColumn reads a column of class labels as indices: integers as IntColumn
// reads them, strings by their place in classes.
func LabelColumn(rec arrow.Record, name string, classes []string) (Ints, error) {
	col, err := column(rec, name)
	if err != nil {
		return Ints{}, err
	}
	at, ok := stringAt(col)
	if !ok || col.DataType().ID() == arrow.NULL {
		return intsOf(col, name)
	}
	words := stringsOf(at, col.Len())
	index := make(map[string]int32, len(classes))
	for i, class := range classes {
		index[class] = int32(i)
	}
	out := Ints{Values: make([]int32, len(words.Values)), Valid: words.Valid}
	for i, word := range words.Values {
		k, known := index[word]
		if !known && !out.Null(i) {
			return Ints{}, rowError(name, i, "class %s is not among the %d known (metadata %s): name the classes there in order, or use indices", strconv.Quote(word), len(classes), ClassesKey)
		}
		out.Values[i] = k
	}
	return out, nil
}

// DomainColumn reads the column that says which side each row is on. A null or
// any other value is an error naming it and its row.
func DomainColumn(rec arrow.Record, name string) ([]Domain, error) {
	col, err := column(rec, name)
	if err != nil {
		return nil, err
	}
	at, ok := stringAt(col)
	if !ok {
		return nil, typeError(name, col.DataType(), `strings, "source" or "target"`)
	}
	out := make([]Domain, col.Len())
	for i := range out {
		text, valid := at(i)
		switch {
		case valid && text == "source":
			out[i] = SourceDomain
		case valid && text == "target":
			out[i] = TargetDomain
		case !valid:
			return nil, rowError(name, i, `is null: must be "source" or "target"`)
		default:
			return nil, rowError(name, i, `is %q: must be "source" or "target"`, text)
		}
	}
	return out, nil
}
