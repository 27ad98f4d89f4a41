package arrowio

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

func tableOf(t *testing.T, records ...arrow.Record) *Table {
	t.Helper()
	table := NewTable("table")
	if err := table.Begin(records[0].Schema()); err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		if err := table.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	return table
}

// A table gives its rows as often as it is read.
func TestTable(t *testing.T) {
	records := []arrow.Record{zooRecord(t), zooRecord(t).NewSlice(1, 4)}
	table := tableOf(t, records...)
	for pass := range 4 {
		checkPass(t, table, records, pass == 2) // pass 2 stops early
		if err := table.Rewind(); err != nil {
			t.Fatal(err)
		}
	}
	if table.Name() != "table" || !table.Schema().Equal(records[0].Schema()) {
		t.Errorf("the table is %s of %s", table.Name(), table.Schema())
	}
}

// Batches of a reader outlive it in a table, and Release gives their memory back.
func TestTableHoldsMemory(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	records := []arrow.Record{sampleRecord(t, 5), sampleRecord(t, 6)}
	r, err := NewReader(bytes.NewReader(write(t, StreamKind, Compression{}, records...)), "in", ReadOptions{Allocator: mem})
	if err != nil {
		t.Fatal(err)
	}
	table := NewTable("table")
	if err := errors.Join(Copy(t.Context(), table, r), r.Close()); err != nil {
		t.Fatal(err)
	}
	checkPass(t, table, records, false)
	table.Release()
	mem.AssertSize(t, 0)
}

// A table whose producer has failed is not taken for whole.
func TestTableFails(t *testing.T) {
	broken := errors.New("broken")
	table := NewTable("table")
	if err := errors.Join(table.Begin(sampleRecord(t, 5).Schema()), table.Write(sampleRecord(t, 5))); err != nil {
		t.Fatal(err)
	}
	table.Fail(broken)
	if err := table.Close(); !errors.Is(err, broken) {
		t.Errorf("Close: %v", err)
	}
	if _, rows, err := Check(t.Context(), table); rows != 5 || !errors.Is(err, broken) {
		t.Errorf("%d rows, %v", rows, err)
	}
	whole := tableOf(t, sampleRecord(t, 5))
	whole.Fail(broken)
	if _, rows, err := Check(t.Context(), whole); rows != 5 || err != nil {
		t.Errorf("failed after its end: %d rows, %v", rows, err)
	}
}

// A spool of a table holds nothing itself.
func TestSpoolOfTable(t *testing.T) {
	records := []arrow.Record{sampleRecord(t, 5), sampleRecord(t, 6)}
	s, err := NewSpool(tableOf(t, records...), SpoolOptions{Memory: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		checkPass(t, s, records, false)
		if len(s.held) > 0 || s.file != nil {
			t.Error("the spool holds what the table has")
		}
		if err := s.Rewind(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Next(); err == io.EOF {
		t.Error("a rewound spool is empty")
	}
}
