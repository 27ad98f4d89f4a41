package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// A task is a source with labels and a target whose truth is known. Labels are 0 to Classes−1;
// classes that the source has no row of are the last ones.
type task struct {
	Name, Kind, Family string
	Source             blas32.General // n_S×d
	Labels             []int32
	Target             blas32.General // n_T×d
	Truth              []int32
	Classes            int
}

// A header is what a file of a task begins with.
type header struct{ SourceRows, TargetRows, Columns, Classes int32 }

// write writes t in binary form, little-endian: its header, the rows of the source as float32
// one after another, their labels as int32, the rows of the target and their truth. The names
// are in tasks.csv.
func (t task) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	h := header{int32(t.Source.Rows), int32(t.Target.Rows), int32(t.Source.Cols), int32(t.Classes)}
	for _, part := range []any{h, t.Source.Data, t.Labels, t.Target.Data, t.Truth} {
		if err := binary.Write(b, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return b.Flush()
}

// read reads what write wrote. It allocates in proportion to what r holds, whatever the header says.
func read(r io.Reader) (task, error) {
	var h header
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return task{}, fmt.Errorf("task: header: %w: make the file again", err)
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		return task{}, fmt.Errorf("task: rows: %w", err)
	}
	if err := h.check(len(rest)); err != nil {
		return task{}, err
	}
	t := task{Classes: int(h.Classes), Labels: make([]int32, h.SourceRows), Truth: make([]int32, h.TargetRows)}
	t.Source, t.Target = matrix(int(h.SourceRows), int(h.Columns)), matrix(int(h.TargetRows), int(h.Columns))
	from := bytes.NewReader(rest)
	for _, part := range []any{t.Source.Data, t.Labels, t.Target.Data, t.Truth} {
		if err := binary.Read(from, binary.LittleEndian, part); err != nil {
			return task{}, fmt.Errorf("task: rows: %w", err)
		}
	}
	return t, t.check()
}

// check tells whether a file with this header may go on with so many bytes.
func (h header) check(bytes int) error {
	if min(h.SourceRows, h.TargetRows, h.Columns, h.Classes) < 1 {
		return fmt.Errorf("task: header: %d and %d rows, %d columns, %d classes: each is at least 1: make the file again",
			h.SourceRows, h.TargetRows, h.Columns, h.Classes)
	}
	// At most 2³²·2³¹, which an uint64 holds.
	cells := (uint64(h.SourceRows) + uint64(h.TargetRows)) * (uint64(h.Columns) + 1)
	if bytes%4 != 0 || uint64(bytes/4) != cells {
		return fmt.Errorf("task: rows: %d bytes follow the header, whose %d + %d rows of %d columns need %d values of 4 bytes: make the file again",
			bytes, h.SourceRows, h.TargetRows, h.Columns, cells)
	}
	return nil
}

// check finds values that are not finite and labels that are no class.
func (t task) check() error {
	for _, side := range []struct {
		name   string
		rows   blas32.General
		labels []int32
	}{{"source", t.Source, t.Labels}, {"target", t.Target, t.Truth}} {
		for i, v := range side.rows.Data {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("task: %s: row %d, column %d: %v is not finite", side.name, i/side.rows.Cols, i%side.rows.Cols, v)
			}
		}
		for i, l := range side.labels {
			if l < 0 || int(l) >= t.Classes {
				return fmt.Errorf("task: %s: row %d: label %d is none of the %d classes", side.name, i, l, t.Classes)
			}
		}
	}
	return nil
}

// valid tells why t is none that the prior may give: every task has enough rows, at least two
// classes in its source with three rows each, two columns or more, none of them constant on
// either side, and finite values.
func (t task) valid() error {
	if t.Source.Rows < leastSource || t.Target.Rows < leastTarget {
		return errors.New("task: fewer rows than the prior draws")
	}
	known := 0
	for _, n := range count(t.Labels, t.Classes) {
		if n > 0 {
			known++
		}
		if n > 0 && n < leastOfClass {
			return errors.New("task: a class of the source has a row or two")
		}
	}
	if known < 2 || t.Source.Cols < 2 {
		return errors.New("task: fewer than two classes or columns")
	}
	for j := range t.Source.Cols {
		if constant(t.Source, j) || constant(t.Target, j) {
			return fmt.Errorf("task: column %d is constant", j)
		}
	}
	return t.check()
}

func matrix(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

func constant(x blas32.General, j int) bool {
	for i := range x.Rows {
		if x.Data[i*x.Stride+j] != x.Data[j] {
			return false
		}
	}
	return true
}

// count tells how many rows have each label.
func count(labels []int32, classes int) []int {
	n := make([]int, classes)
	for _, l := range labels {
		n[l]++
	}
	return n
}
