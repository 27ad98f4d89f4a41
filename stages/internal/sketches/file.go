package sketches

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
)

// A sketch's file is an Arrow file of its sample, a row a row, so that other tools can look at
// it. What else there is to it is in the schema's metadata, and in two columns: the key, and
// which parts the row is in, as leaf:count with commas between.
const (
	stateKey    = "mars.state" // as all states have it
	Kind        = "sketch"
	headerKey   = "mars.sketch"
	leavesKey   = "mars.sketch.parts"
	checksumKey = "mars.checksum"
	keyColumn   = "mars.key"
	partsColumn = "mars.parts"
)

// Reserved reports whether no column of the rows may have the name.
func Reserved(column string) bool { return column == keyColumn || column == partsColumn }

// Schema is that of the rows alone.
func (s *Sketch) Schema() *arrow.Schema { return arrow.NewSchema(s.fields(), nil) }

func (s *Sketch) fields() []arrow.Field {
	var fields []arrow.Field
	if s.ID != "" {
		fields = append(fields, arrow.Field{Name: s.ID, Type: arrow.BinaryTypes.String})
	}
	if s.Label != "" {
		fields = append(fields, arrow.Field{Name: s.Label, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	for _, c := range s.Columns {
		t := arrow.DataType(arrow.PrimitiveTypes.Float32)
		switch c.Kind {
		case Text:
			t = arrow.BinaryTypes.String
		case Day:
			t = arrow.FixedWidthTypes.Date32
		case Vector:
			t = arrowio.VectorType(c.Width)
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: t, Nullable: c.Kind != Vector})
	}
	return fields
}

// Record is the rows as a batch of Schema.
func (s *Sketch) Record(rows []*Row) arrow.Record {
	return array.NewRecord(s.Schema(), s.columns(rows), int64(len(rows)))
}

func (s *Sketch) columns(rows []*Row) []arrow.Array {
	var columns []arrow.Array
	texts := func(of func(*Row) string) []string {
		values := make([]string, len(rows))
		for i, r := range rows {
			values[i] = of(r)
		}
		return values
	}
	if s.ID != "" {
		columns = append(columns, arrowio.NewStringArray(texts(func(r *Row) string { return r.ID })))
	}
	if s.Label != "" {
		columns = append(columns, arrowio.NewStringsOrNull(texts(func(r *Row) string { return r.Label })))
	}
	number, word := 0, 0
	for _, c := range s.Columns {
		v := arrowio.Vectors{Rows: len(rows), Width: c.width()}
		for _, r := range rows {
			v.Data = append(v.Data, r.Numbers[number:number+v.Width]...)
		}
		number += v.Width
		switch c.Kind {
		case Text:
			columns = append(columns, arrowio.NewStringsOrNull(texts(func(r *Row) string { return r.Texts[word] })))
			word++
		case Vector:
			columns = append(columns, arrowio.NewVectorArray(v))
		case Day:
			b := array.NewDate32Builder(memory.DefaultAllocator)
			for _, day := range v.Data {
				if day == day {
					b.Append(arrow.Date32(day))
				} else {
					b.AppendNull()
				}
			}
			columns = append(columns, b.NewArray())
		default:
			missing := map[int]bool{}
			for i, x := range v.Data {
				if missing[i] = x != x; missing[i] {
					v.Data[i] = 0
				}
			}
			columns = append(columns, arrowio.NewFloatsWithout(v.Data, missing))
		}
	}
	return columns
}

// Save writes the sketch to a file, whole or not at all; a path of "" or - is standard output.
func (s *Sketch) Save(path string) error {
	header, leaves, sum, err := s.contents()
	if err != nil {
		return err
	}
	meta := arrow.NewMetadata([]string{stateKey, headerKey, leavesKey, checksumKey}, []string{Kind, header, leaves, sum})
	fields := append(s.fields(), arrow.Field{Name: keyColumn, Type: &arrow.FixedSizeBinaryType{ByteWidth: len(Key{})}},
		arrow.Field{Name: partsColumn, Type: arrow.BinaryTypes.String})
	keys := array.NewFixedSizeBinaryBuilder(memory.DefaultAllocator, &arrow.FixedSizeBinaryType{ByteWidth: len(Key{})})
	parts := array.NewStringBuilder(memory.DefaultAllocator)
	for _, r := range s.Rows {
		keys.Append(r.Key[:])
		parts.Append(partsText(r.parts))
	}
	schema := arrow.NewSchema(fields, &meta)
	rec := array.NewRecord(schema, append(s.columns(s.Rows), keys.NewArray(), parts.NewArray()), int64(len(s.Rows)))
	defer rec.Release()
	return arrowio.Save(path, rec)
}

func partsText(parts []share) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(p.leaf))
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(p.count, 10))
	}
	return b.String()
}

func parseParts(text string, leaves int) ([]share, error) {
	var parts []share
	for piece := range strings.SplitSeq(text, ",") {
		leaf, count, ok := strings.Cut(piece, ":")
		i, err1 := strconv.Atoi(leaf)
		n, err2 := strconv.ParseInt(count, 10, 64)
		if !ok || err1 != nil || err2 != nil || i < 0 || i >= leaves || n < 1 || len(parts) > 0 && parts[len(parts)-1].leaf >= i {
			return nil, fmt.Errorf("%.40q says of no parts", text)
		}
		parts = append(parts, share{i, n})
	}
	if partsText(parts) != text {
		return nil, fmt.Errorf("%.40q says of no parts as they are written", text)
	}
	return parts, nil
}

// contents are the JSON of header and leaves, and the checksum of all.
func (s *Sketch) contents() (header, leaves, sum string, err error) {
	h, err := json.Marshal(&s.Header)
	if err != nil {
		return "", "", "", err
	}
	l, err := json.Marshal(s.Leaves)
	if err != nil {
		return "", "", "", err
	}
	hash := sha256.New()
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(h)))
	b = append(append(b, h...), l...)
	hash.Write(b)
	for _, r := range s.Rows {
		b = append(b[:0], r.Key[:]...)
		for _, text := range append([]string{r.ID, r.Label, partsText(r.parts)}, r.Texts...) {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
		}
		for _, v := range r.Numbers {
			bits := math.Float32bits(v)
			if v != v {
				bits = 0x7fc00000
			}
			b = binary.LittleEndian.AppendUint32(b, bits)
		}
		hash.Write(b)
	}
	return string(h), string(l), hex.EncodeToString(hash.Sum(nil)), nil
}

// Is reports whether a path is a sketch's file: an Arrow file that says so.
func Is(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if isArrow, err := arrowio.IsArrowFile(path); err != nil || !isArrow {
		return false
	}
	r, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return false
	}
	defer r.Close()
	return IsSchema(r.Schema())
}

// IsSchema reports whether a schema is that of a sketch.
func IsSchema(schema *arrow.Schema) bool {
	kind, _ := schema.Metadata().GetValue(stateKey)
	return kind == Kind
}

// Load reads a sketch. What Save did not write is refused.
func Load(path string) (*Sketch, error) {
	r, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return read(r, path)
}

func read(r *arrowio.Reader, name string) (*Sketch, error) {
	defer r.Close()
	if !IsSchema(r.Schema()) {
		return nil, fmt.Errorf("%s: this is no sketch: give a file that mars sketch or mars merge wrote", name)
	}
	s, err := parse(r)
	if err == nil {
		return s, nil
	}
	if of := (*arrowio.Error)(nil); !errors.As(err, &of) { // which names the file itself
		err = fmt.Errorf("%s: %w", name, err)
	}
	return nil, fmt.Errorf("%w: it is damaged or was changed: make the sketch again", err)
}

func parse(r *arrowio.Reader) (*Sketch, error) {
	s, meta := &Sketch{}, r.Schema().Metadata().ToMap()
	if err := json.Unmarshal([]byte(meta[headerKey]), &s.Header); err != nil {
		return nil, fmt.Errorf("schema metadata %s: %w", headerKey, err)
	}
	if s.Version != version {
		return nil, fmt.Errorf("it is of version %d, and this program reads %d", s.Version, version)
	}
	if err := json.Unmarshal([]byte(meta[leavesKey]), &s.Leaves); err != nil {
		return nil, fmt.Errorf("schema metadata %s: %w", leavesKey, err)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if !slices.EqualFunc(r.Schema().Fields(), append(s.fields(), arrow.Field{Name: keyColumn, Type: &arrow.FixedSizeBinaryType{ByteWidth: len(Key{})}},
		arrow.Field{Name: partsColumn, Type: arrow.BinaryTypes.String}), func(a, b arrow.Field) bool { return a.Name == b.Name && arrow.TypeEqual(a.Type, b.Type) }) {
		return nil, errors.New("its columns are not those that it says")
	}
	if err := arrowio.Each(context.Background(), r, s.readRows); err != nil {
		return nil, err
	}
	if err := s.checkRows(); err != nil {
		return nil, err
	}
	_, _, sum, err := s.contents()
	if err != nil {
		return nil, err
	}
	if sum != meta[checksumKey] {
		return nil, errors.New("it does not fit its checksum")
	}
	return s, nil
}

// check checks header and leaves.
func (s *Sketch) check() error {
	if s.Header.Sample < 1 || s.Header.Sample > MaxSample || len(s.Columns) == 0 {
		return fmt.Errorf("its sample is of %d rows of %d columns", s.Header.Sample, len(s.Columns))
	}
	names := []string{keyColumn, partsColumn}
	for _, name := range []string{s.ID, s.Label} {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, c := range s.Columns {
		names = append(names, c.Name)
		vector := c.Kind == Vector
		if !slices.Contains([]string{Number, Text, Day, Vector}, c.Kind) || vector != (c.Width > 0) || c.Width > 1<<24 {
			return fmt.Errorf("its column %q is of no kind", c.Name)
		}
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		return errors.New("it has two columns of one name")
	}
	if len(s.Leaves) == 0 {
		return errors.New("it has no parts")
	}
	for i, l := range s.Leaves {
		if l == nil {
			return errors.New("it has a part that is none")
		}
		if err := l.check(&s.Header); err != nil {
			return err
		}
		if i > 0 && s.Leaves[i-1].Fingerprint >= l.Fingerprint {
			return errors.New("its parts are in no order")
		}
	}
	return nil
}

// readRows reads a batch of the sample, whose columns are known to be of the right types.
func (s *Sketch) readRows(rec arrow.Record) error {
	for i, column := range rec.Columns() {
		if f := rec.Schema().Field(i); column.NullN() > 0 && (f.Name == keyColumn || f.Name == partsColumn || f.Name == s.ID) {
			return fmt.Errorf("column %q has nulls", f.Name)
		}
	}
	next := 0
	column := func() arrow.Array { next++; return rec.Column(next - 1) }
	text := func(a arrow.Array, i int) string {
		if a.IsNull(i) {
			return ""
		}
		return strings.Clone(a.(*array.String).Value(i))
	}
	n := int(rec.NumRows())
	rows := make([]*Row, n)
	for i := range rows {
		rows[i] = &Row{}
	}
	if s.ID != "" {
		for i, a := 0, column(); i < n; i++ {
			rows[i].ID = text(a, i)
		}
	}
	if s.Label != "" {
		for i, a := 0, column(); i < n; i++ {
			rows[i].Label = text(a, i)
		}
	}
	for _, c := range s.Columns {
		a := column()
		switch c.Kind {
		case Text:
			for i, r := range rows {
				r.Texts = append(r.Texts, text(a, i))
			}
		case Vector:
			v, err := arrowio.VectorColumn(rec, c.Name)
			if err != nil {
				return err
			}
			for i, r := range rows {
				r.Numbers = append(r.Numbers, v.Row(i)...)
			}
		case Day:
			for i, r := range rows {
				v := float32(math.NaN())
				if a.IsValid(i) {
					v = float32(a.(*array.Date32).Value(i))
				}
				r.Numbers = append(r.Numbers, v)
			}
		default:
			for i, r := range rows {
				v := float32(math.NaN())
				if a.IsValid(i) {
					if v = a.(*array.Float32).Value(i); math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
						return fmt.Errorf("column %q: row %d is %v", c.Name, len(s.Rows)+i+1, v)
					}
				}
				r.Numbers = append(r.Numbers, v)
			}
		}
	}
	keys, parts := column().(*array.FixedSizeBinary), column()
	for i, r := range rows {
		r.Key = Key(keys.Value(i))
		var err error
		if r.parts, err = parseParts(text(parts, i), len(s.Leaves)); err != nil {
			return err
		}
	}
	s.Rows = append(s.Rows, rows...)
	return nil
}

// checkRows checks that the sample is one.
func (s *Sketch) checkRows() error {
	var buffer []byte
	for i, r := range s.Rows {
		var key Key
		if key, buffer = s.keyOf(buffer, r.ID, r.Label, r.Numbers, r.Texts); key != r.Key {
			return fmt.Errorf("the key of row %d of its sample is not that of the row", i+1)
		}
		if i > 0 && s.Rows[i-1].Key.compare(r.Key) >= 0 {
			return errors.New("its sample is in no order")
		}
	}
	if len(s.choose(s.Rows)) != len(s.Rows) || len(s.Rows) == 0 {
		return errors.New("its sample is of other rows than it says")
	}
	return nil
}
