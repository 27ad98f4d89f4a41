package arrowio

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/internal/damage"
)

// specimen is a valid input.
type specimen struct {
	name string
	data []byte
	rows []int64 // of its batches
}

// specimens are valid streams and files of every layout and codec, with
// several batches, and dictionaries that are replaced and extended.
func specimens(t testing.TB) []specimen {
	var out []specimen
	all, sample := zooRecord(t), sampleRecord(t, 40)
	for _, kind := range kinds {
		for _, c := range codecs[:3] {
			name := fmt.Sprintf("%s, %s", kind, c)
			out = append(out,
				specimen{"zoo, " + name, write(t, kind, c, all, all.NewSlice(1, 3)), []int64{5, 2}},
				specimen{"sample, " + name, write(t, kind, c, sample, sample.NewSlice(3, 20)), []int64{40, 17}})
		}
	}
	for _, deltas := range []bool{false, true} {
		out = append(out, specimen{fmt.Sprint("dictionaries, deltas ", deltas), dictionaryStream(t, deltas), []int64{3, 40, 20}})
	}
	return out
}

// dictionaryStream is a stream by arrow/go whose dictionary grows, and is then
// replaced.
func dictionaryStream(t testing.TB, deltas bool) []byte {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt, Nullable: true}}, nil)
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema), ipc.WithDictionaryDeltas(deltas))
	for _, b := range []struct {
		words   []string
		indices []int32
	}{
		{[]string{"a", "b"}, []int32{0, 1, 0}},
		{[]string{"a", "b", "c"}, make([]int32, 40)}, // bodies of different lengths
		{[]string{"z"}, make([]int32, 20)},
	} {
		indices, words := NewIntArray(b.indices, nil), NewStringArray(b.words)
		rec := array.NewRecord(schema, []arrow.Array{array.NewDictionaryArray(dt, indices, words)}, int64(len(b.indices)))
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestDictionaryChanges(t *testing.T) {
	want := []string{"a 2", "a 3", "z 1"} // first value and length of the dictionary
	for _, deltas := range []bool{false, true} {
		records, err := readAll(dictionaryStream(t, deltas), ReadOptions{})
		if err != nil {
			t.Fatalf("deltas %v: %v", deltas, err)
		}
		for i, rec := range records {
			first, _ := cell(rec.Column(0), 0, 0)
			got := fmt.Sprint(first, " ", rec.Column(0).(*array.Dictionary).Dictionary().Len())
			if got != want[i] {
				t.Errorf("deltas %v: batch %d is %s, want %s", deltas, i, got, want[i])
			}
		}
	}
}

// meter is an allocator that keeps the most it has had out at a time.
type meter struct {
	memory.Allocator
	now, peak atomic.Int64
}

func (m *meter) Allocate(n int) []byte {
	m.peak.Store(max(m.peak.Load(), m.now.Add(int64(n))))
	return m.Allocator.Allocate(n)
}

func (m *meter) Free(b []byte) {
	m.now.Add(-int64(len(b)))
	m.Allocator.Free(b)
}

// survive reads data, which may be damaged, with everything that can be done to
// its batches, and returns the rows of each. It fails the test when the reader
// breaks its memory limit or leaks.
func survive(t testing.TB, data []byte) (rows []int64, err error) {
	const limit = 16 << 20
	m := &meter{Allocator: memory.NewGoAllocator()}
	records, err := readAll(data, ReadOptions{Budget: NewBudget(limit), Allocator: m})
	for _, rec := range records {
		rows = append(rows, rec.NumRows())
		if rec.NumRows() < 1000 { // columns of nulls may be very long at no cost
			touch(rec)
		}
		rec.Release()
	}
	if m.peak.Load() > limit || m.now.Load() != 0 {
		t.Errorf("memory: at most %d of %d bytes, %d at the end", m.peak.Load(), limit, m.now.Load())
	}
	return rows, err
}

// touch reads all values of rec, in ways that would leave the buffers of an array
// that is not what it says.
func touch(rec arrow.Record) {
	for _, col := range rec.Columns() {
		for i := range col.Len() {
			_, _ = cell(col, i, 0)
		}
	}
	_ = array.RecordEqual(rec, rec)
	w := NewWriter(new(bytes.Buffer), "touch", WriteOptions{})
	if w.Begin(rec.Schema()) == nil {
		w.Write(rec)
		w.Fail(fmt.Errorf("done"))
	}
}

// The 14 specimens make 21,000 mutations in the ordinary tests; a long run asks
// for more.
var mutations = flag.Int("mutations", 1500, "mutations of each specimen")

var seed = flag.Uint64("seed", 4, "of the mutations")

func TestMutations(t *testing.T) {
	for k, s := range specimens(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			checkMutations(t, s, k)
		})
	}
}

func checkMutations(t *testing.T, s specimen, k int) {
	r := rand.New(rand.NewPCG(uint64(k), *seed))
	count := *mutations
	if testing.Short() {
		count /= 10
	}
	for i := range count {
		what, data := damage.Bytes(r, s.data)
		if bytes.Equal(data, s.data) {
			continue
		}
		checkMutation(t, s, fmt.Sprintf("mutation %d (%s)", i, what), data)
	}
}

// checkMutation checks that damaged data is an error or has all of its rows.
func checkMutation(t *testing.T, s specimen, name string, data []byte) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", name, p)
			panic(p)
		}
	}()
	start := time.Now()
	rows, err := survive(t, data)
	if spent := time.Since(start); spent > 5*time.Second {
		t.Errorf("%s: took %v", name, spent)
	}
	if err == nil && fmt.Sprint(rows) != fmt.Sprint(s.rows) {
		t.Errorf("%s: no error, but batches of %v rows instead of %v", name, rows, s.rows)
	}
}

func TestEveryCutIsAnError(t *testing.T) {
	for _, s := range specimens(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if rows, err := survive(t, s.data); err != nil || fmt.Sprint(rows) != fmt.Sprint(s.rows) {
				t.Fatalf("whole: %v, %v", rows, err)
			}
			step := 1
			if testing.Short() {
				step = 13
			}
			for n := 0; n < len(s.data); n += step {
				if _, _, err := check(s.data[:n]); err == nil {
					t.Errorf("cut at %d of %d: no error", n, len(s.data))
				}
			}
		})
	}
}

// check reads and validates data.
func check(data []byte) (batches int, rows int64, err error) {
	r, err := NewReader(bytes.NewReader(data), "in", ReadOptions{})
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	return Check(context.Background(), r)
}
