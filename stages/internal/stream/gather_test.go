package stream

import (
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// numbered is a stream of target rows 0, 1, … in batches of some size.
type numbered struct {
	rows, size, next int
}

func (n *numbered) Name() string { return "test" }

func (n *numbered) Schema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "domain", Type: arrow.BinaryTypes.String}, {Name: "features", Type: arrowio.VectorType(1)}}, nil)
}

func (n *numbered) Next() (arrow.Record, error) {
	if n.next == n.rows {
		return nil, io.EOF
	}
	size := min(n.size, n.rows-n.next)
	values := make([]float32, size)
	for i := range values {
		values[i] = float32(n.next + i)
	}
	n.next += size
	domains := slices.Repeat([]arrowio.Domain{arrowio.TargetDomain}, size)
	return array.NewRecord(n.Schema(), []arrow.Array{arrowio.NewDomainArray(domains),
		arrowio.NewVectorArray(arrowio.Vectors{Data: values, Rows: size, Width: 1})}, int64(size)), nil
}

func sampled(t *testing.T, rows, size, limit int, seed uint64) []float32 {
	t.Helper()
	r := &Rows{Env: stages.Env{Columns: arrowio.DefaultColumns(), Seed: seed}, Stream: &numbered{rows: rows, size: size}}
	s, err := r.Gather(t.Context(), nil, Want{Vector: "features", Target: true, MaxTarget: limit})
	if err != nil {
		t.Fatal(err)
	}
	return s.Target.Data
}

// A sample has rows from all parts of the stream, each once. The batches do not matter,
// the seed does.
func TestSample(t *testing.T) {
	const rows, limit = 10_000, 1_000
	first := sampled(t, rows, 300, limit, 1)
	if again := sampled(t, rows, 7, limit, 1); !slices.Equal(first, again) {
		t.Error("the sample depends on the batches")
	}
	if other := sampled(t, rows, 300, limit, 2); slices.Equal(first, other) {
		t.Error("the sample does not depend on the seed")
	}
	counts := make([]int, 10)
	seen := map[float32]bool{}
	for _, v := range first {
		counts[int(v)*10/rows]++
		seen[v] = true
	}
	if len(first) != limit || len(seen) != limit {
		t.Errorf("%d rows, %d different: want %d", len(first), len(seen), limit)
	}
	for i, n := range counts {
		if n < 60 || n > 140 { // 4 standard deviations
			t.Errorf("%d rows are of the tenth %d, want about 100", n, i)
		}
	}
	if all := sampled(t, 500, 300, limit, 1); len(all) != 500 || all[499] != 499 {
		t.Errorf("of 500 rows %d are kept", len(all))
	}
}
