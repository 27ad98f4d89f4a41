package tables

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/internal/contexttest"
)

// longTexts are inputs that take many reads, by name.
func longTexts() map[string]string {
	rows := 4 * stepValues
	numbers := strings.Repeat("\x00\x00\x80\x3f", 3*rows)
	idx := string(binary.BigEndian.AppendUint32([]byte{0, 0, 0x0e, 2}, uint32(rows))) + "\x00\x00\x00\x03"
	var csv strings.Builder
	csv.WriteString("id,x,label\n")
	for i := range rows {
		fmt.Fprintf(&csv, "%d,0.25,%d\n", i, i%3)
	}
	return map[string]string{
		"fortran.npy": npy(fmt.Sprintf("{'descr': '<f4', 'fortran_order': True, 'shape': (%d, 3)}", rows), numbers),
		"last.npy":    npy(fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 5, 1, 3)}", rows/5), numbers[:4*15*(rows/5)]),
		"long.idx":    idx + strings.Repeat(string(binary.BigEndian.AppendUint64(nil, math.Float64bits(0.5))), 3*rows),
		"long.csv":    csv.String(),
	}
}

func TestReadStopsWithItsContext(t *testing.T) {
	for name, text := range longTexts() {
		t.Run(name, func(t *testing.T) {
			contexttest.Stops(t, 10, func(ctx context.Context) error {
				_, err := Read(ctx, strings.NewReader(text), name, Options{})
				return err
			})
		})
	}
}

// Files of all kinds, from disk and through a pipe.
func TestReadOfAllKindsStopsWithItsContext(t *testing.T) {
	for _, name := range []string{"plain.npz", "snappy.parquet", "polars.parquet", "stream.arrow", "stream.arrows", "digits.gz", "frame.csv"} {
		t.Run(name, func(t *testing.T) {
			contexttest.Stops(t, 2, func(ctx context.Context) error {
				_, err := Open(ctx, filepath.Join(oracle, name), Options{})
				return err
			})
			data := oracleFile(t, name)
			contexttest.Stops(t, 2, func(ctx context.Context) error {
				_, err := Read(ctx, bytes.NewBuffer(data), name, Options{})
				return err
			})
		})
	}
}

func TestGatherStopsWithItsContext(t *testing.T) {
	table, err := newTable(t.Context(), make([]float32, 6), 6, 1, []int{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	contexttest.Stops(t, 3, func(ctx context.Context) error {
		_, err := table.Gather(ctx, make([]int, 3*stepValues))
		return err
	})
}
