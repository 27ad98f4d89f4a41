package tables

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/arrowio"
)

// An fcsChannel is a parameter of the events: a column.
type fcsChannel struct {
	name   string // $PnS, or $PnN where that is empty or of several channels
	short  string // $PnN
	kind   byte   // of values: I, F or D
	bytes  int    // of a value
	mask   uint64 // of an integer
	scale  func(float64) float64
	offset int    // in an event
	left   string // why it is no feature unless it is named; "" if it is
}

// fcsEvents are the events of a data set.
type fcsEvents struct {
	channels []fcsChannel
	big      bool
	size     int // bytes of an event
	total    int
	in       io.Reader
	mem      *arrowio.Budget
	spill    *spill // nil: none
	build    *batchBuilder
	event    []byte
	values   []float64
	row      int
}

// maxChannels is the most parameters that a file may have.
const maxChannels = 10000

// events reads what TEXT says of the events.
func (f *fcsFile) events() (*fcsEvents, error) {
	t := f.text
	e := &fcsEvents{mem: f.mem}
	if mode := strings.ToUpper(t["$MODE"]); mode != "L" && mode != "" {
		return nil, fmt.Errorf("has histograms ($MODE is %q): give a file of events (list mode)", t["$MODE"])
	}
	n, err := t.need("$PAR", 1, maxChannels)
	if err != nil {
		return nil, err
	}
	if err := f.mem.Take(n * columnCost); err != nil {
		return nil, err
	}
	for i := range int(n) {
		c, err := t.channel(i + 1)
		if err != nil {
			return nil, err
		}
		c.offset = e.size
		e.size += c.bytes
		e.channels = append(e.channels, c)
	}
	nameChannels(e.channels)
	for i := range e.channels {
		if c := &e.channels[i]; strings.EqualFold(c.short, "time") {
			c.left = "when an event was measured"
			c.scale = t.seconds()
		}
	}
	if e.big, err = t.order(e); err != nil {
		return nil, err
	}
	return e, f.locate(e)
}

// channel reads what TEXT says of parameter n.
func (t fcsText) channel(n int) (c fcsChannel, err error) {
	key := func(letter string) string { return fmt.Sprintf("$P%d%s", n, letter) }
	name := "$DATATYPE"
	if t[key("DATATYPE")] != "" { // as FCS 3.2 has it
		name = key("DATATYPE")
	}
	kind := (strings.ToUpper(t[name]) + "?")[0]
	if c.kind = kind; !strings.Contains("IFD", string(kind)) {
		return c, fmt.Errorf("has values of type %q: I, F and D (%s) can be read: export it again", t[name], name)
	}
	c.short = t[key("N")]
	c.short = cmp.Or(c.short, fmt.Sprintf("P%d", n))
	c.name = t[key("S")]
	width, err := t.need(key("B"), 1, 64)
	if err != nil {
		return c, err
	}
	if want := map[byte]int64{'F': 32, 'D': 64}[kind]; want != 0 && width != want {
		return c, fmt.Errorf("%s is %d, and values of type %c have %d bits: export it again", key("B"), width, kind, want)
	}
	if width%8 != 0 || width == 40 || width == 48 || width == 56 {
		return c, fmt.Errorf("%s is %d: integers of 8, 16, 24, 32 and 64 bits can be read: export it as floating-point numbers", key("B"), width)
	}
	c.bytes = int(width / 8)
	r, err := strconv.ParseFloat(t[key("R")], 64)
	if err != nil || !(r >= 1) {
		r = math.Pow(2, float64(width))
		if kind == 'I' {
			return c, fmt.Errorf("%s is %q, want the range of the channel: export it again", key("R"), t[key("R")])
		}
	}
	c.mask = math.MaxUint64
	if r < 1<<63 {
		c.mask = 1<<bits.Len64(uint64(r)-1) - 1
	}
	c.scale, err = t.scaling(key, r)
	return c, err
}

// scaling is what makes linear numbers of the values: a logarithmic amplifier ($PnE) is
// undone, and the gain ($PnG) is divided by. nil for neither.
func (t fcsText) scaling(key func(string) string, r float64) (func(float64) float64, error) {
	decades, floor := 0.0, 1.0
	if text := t[key("E")]; text != "" {
		a, b, _ := strings.Cut(text, ",")
		var errA, errB error
		decades, errA = strconv.ParseFloat(strings.TrimSpace(a), 64)
		floor, errB = strconv.ParseFloat(strings.TrimSpace(b), 64)
		if errA != nil || errB != nil || !(decades >= 0 && decades < 100) || math.IsInf(floor, 0) || math.IsNaN(floor) {
			return nil, fmt.Errorf("%s is %q, want decades and the smallest value, such as 4,1: export it again", key("E"), text)
		}
		if floor == 0 { // as many write, against the standard
			floor = 1
		}
	}
	gain := 1.0
	if g, err := strconv.ParseFloat(t[key("G")], 64); err == nil && g > 0 && !math.IsInf(g, 0) {
		gain = g
	}
	switch {
	case decades > 0:
		return func(v float64) float64 { return math.Pow(10, decades*v/r) * floor / gain }, nil
	case gain != 1:
		return func(v float64) float64 { return v / gain }, nil
	}
	return nil, nil
}

// seconds is what makes seconds of times: they are in steps of $TIMESTEP. The gain that cytometers
// of BD give for them besides ($PnG) says the same, and is not divided by.
func (t fcsText) seconds() func(float64) float64 {
	step, err := strconv.ParseFloat(t["$TIMESTEP"], 64)
	if err != nil || !(step > 0) || math.IsInf(step, 0) {
		return nil
	}
	return func(v float64) float64 { return v * step }
}

// order is whether the first byte of a value is its highest.
func (t fcsText) order(e *fcsEvents) (big bool, err error) {
	order := strings.ReplaceAll(t["$BYTEORD"], " ", "")
	switch {
	case order == "" && e.size == len(e.channels):
		return false, nil
	case order == "1" || strings.HasPrefix("1,2,3,4,5,6,7,8", order) && strings.HasPrefix(order, "1,2"):
		return false, nil
	case strings.HasSuffix("8,7,6,5,4,3,2,1", order) && strings.HasSuffix(order, "2,1"):
		return true, nil
	}
	return false, fmt.Errorf("$BYTEORD is %q: 1,2,3,4 and 4,3,2,1 can be read: export it again", t["$BYTEORD"])
}

// locate finds the events in the file.
func (f *fcsFile) locate(e *fcsEvents) error {
	begin, size := f.data[0], f.data[1]-f.data[0]+1
	if begin < 58 || size < 0 || begin > f.size {
		return fmt.Errorf("events from byte %d to %d are not in the file of %d bytes: copy or export it again", begin, f.data[1], f.size)
	}
	there := min(size, f.size-begin) / int64(e.size)
	total, known := f.text.number("$TOT")
	if !known { // as FCS 2.0 may leave it out
		total = size / int64(e.size)
	}
	switch {
	case total == 0:
		return errors.New("has no events: give data with at least one")
	case total < 0 || total > there:
		return fmt.Errorf("is truncated: announces %d events of %d bytes, %d are there: copy or download it again", total, e.size, there)
	case total < there:
		return fmt.Errorf("announces %d events of %d bytes ($TOT), and has %d: it is damaged: export it again", total, e.size, there)
	}
	e.total = int(total)
	e.in = bufio.NewReaderSize(io.NewSectionReader(f.r, begin, total*int64(e.size)), 1<<16)
	return nil
}

func (e *fcsEvents) batches() (*batches, error) {
	fields := make([]arrow.Field, len(e.channels))
	for i, c := range e.channels {
		fields[i] = arrow.Field{Name: c.name, Type: arrow.PrimitiveTypes.Float64, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	var err error
	if e.build, err = newBatchBuilder(schema, e.mem); err != nil {
		return nil, err
	}
	e.event, e.values = make([]byte, e.size), make([]float64, len(e.channels))
	return &batches{schema: schema, close: e.build.close, next: func() (arrow.Record, error) { return e.build.batch(e.append) }}, nil
}

// append reads an event into the next batch.
func (e *fcsEvents) append() (int, error) {
	if e.row == e.total {
		return 0, io.EOF
	}
	if _, err := io.ReadFull(e.in, e.event); err != nil {
		return 0, fcsError(fmt.Sprintf("event %d", e.row+1), err)
	}
	e.row++
	for i := range e.channels {
		c := &e.channels[i]
		v := e.value(c, e.event[c.offset:c.offset+c.bytes])
		if c.scale != nil {
			v = c.scale(v)
		}
		e.values[i] = v
	}
	if e.spill != nil {
		e.spill.remove(e.values)
	}
	for i, v := range e.values {
		e.build.Field(i).(*array.Float64Builder).Append(v)
	}
	return 8 * len(e.values), nil
}

// value is a value as it is stored.
func (e *fcsEvents) value(c *fcsChannel, raw []byte) float64 {
	var wide [8]byte
	copy(wide[:], raw)
	if e.big {
		swap(wide[:c.bytes], c.bytes)
	}
	v := binary.LittleEndian.Uint64(wide[:])
	switch c.kind {
	case 'F':
		return float64(math.Float32frombits(uint32(v)))
	case 'D':
		return math.Float64frombits(v)
	}
	return float64(v & c.mask)
}

// A spill is what each channel has of the light of others.
type spill struct {
	channels []int
	inverse  *mat.Dense // of the matrix, whose rows are the dyes
	before   []float64
}

// parseSpill reads a matrix as $SPILLOVER has it: n, names and n×n numbers, row by row.
func parseSpill(text string, channels []fcsChannel, without string) (*spill, error) {
	parts := strings.Split(text, ",")
	n, err := strconv.Atoi(strings.TrimSpace(parts[0]))
	if err != nil || n < 1 || n > len(channels) || len(parts) != 1+n+n*n {
		return nil, fmt.Errorf("%.40q is no matrix of at most %d channels: export the file again", text, len(channels))
	}
	s := &spill{before: make([]float64, n)}
	for _, name := range parts[1 : 1+n] {
		at := channelOf(strings.TrimSpace(name), channels)
		if at < 0 {
			return nil, fmt.Errorf("names the channel %q, which the file has not: export it again", name)
		}
		s.channels = append(s.channels, at)
	}
	values := make([]float64, n*n)
	for i, part := range parts[1+n:] {
		if values[i], err = strconv.ParseFloat(strings.TrimSpace(part), 64); err != nil || values[i]-values[i] != 0 {
			return nil, fmt.Errorf("%.40q is no number: export the file again", part)
		}
	}
	var lu mat.LU
	lu.Factorize(mat.NewDense(n, n, values))
	s.inverse = mat.NewDense(n, n, nil)
	if err := lu.SolveTo(s.inverse, false, mat.NewDiagDense(n, slices.Repeat([]float64{1}, n))); err != nil || lu.Cond() > maxCondition {
		return nil, fmt.Errorf("cannot be inverted: its condition number is %.2g, and above %.0g nothing is left of what was measured: %s, or export the file with another matrix", lu.Cond(), maxCondition, without)
	}
	return s, nil
}

// maxCondition is the condition number of a spillover matrix above which the rounding of
// float32 alone is as large as what is measured. Those of cytometers are below 100, and of
// spectral ones below 1,000.
const maxCondition = 1e6

// channelOf is the index of a channel by its $PnN, or by its number; −1 for none.
func channelOf(name string, channels []fcsChannel) int {
	for i, c := range channels {
		if c.short == name {
			return i
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(channels) {
		return n - 1
	}
	return -1
}

// nothing reports whether no channel has light of another.
func (s *spill) nothing() bool {
	n := len(s.channels)
	return mat.Equal(s.inverse, mat.NewDiagDense(n, slices.Repeat([]float64{1}, n)))
}

// remove takes the spillover out of an event.
func (s *spill) remove(values []float64) {
	for k, i := range s.channels {
		s.before[k] = values[i]
	}
	for k, i := range s.channels {
		sum := 0.0
		for j, v := range s.before {
			sum += v * s.inverse.At(j, k)
		}
		values[i] = sum
	}
}
