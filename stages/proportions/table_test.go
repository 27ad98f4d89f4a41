package proportions

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Up to twelve classes are columns of a table of opinions; more are lines.
func TestOpinionsOfManyClasses(t *testing.T) {
	for _, n := range []int{2, mostColumns, mostColumns + 1} {
		r := &Report{}
		shares := make([]float64, n)
		for k := range shares {
			r.Classes = append(r.Classes, fmt.Sprintf("c%d", k))
			shares[k] = float64(k+1) / float64(n*(n+1)/2)
		}
		r.Proportions.Estimated = shares
		var text bytes.Buffer
		r.writeAll(&text, "opinion\t", []opinion{{"one\t", "one", shares}, {"two\t", "two", shares}})
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		last := strings.Fields(lines[len(lines)-1])
		switch {
		case n <= mostColumns && (len(lines) != 3 || len(last) != n+1 || last[0] != "two" || last[n] != fmt.Sprintf("%.4f", shares[n-1])):
			t.Errorf("%d classes:\n%s", n, text.String())
		case n > mostColumns && (len(lines) < n+4 || len(last) != 3 || last[0][0] != 'c' || last[1] != last[2]):
			t.Errorf("%d classes:\n%s", n, text.String())
		}
	}
}

// full is a disk with room for so many bytes.
type full int

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), int(*f))
	if *f -= full(n); n < len(b) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// A table of which the end is missing is an error, wherever it ends.
func TestTableIsCut(t *testing.T) {
	r := reported(rising(31)...)
	r.Estimators = map[string][]float64{"em": rising(31)}
	for name, write := range map[string]func(io.Writer) error{
		"report":  func(w io.Writer) error { return r.WriteTable(w, false) },
		"details": func(w io.Writer) error { return r.WriteTable(w, true) },
		"targets": Targets{"target", []Target{{"one", r}}}.WriteTable,
	} {
		var whole bytes.Buffer
		if err := write(&whole); err != nil {
			t.Fatal(err)
		}
		for n := whole.Len() - 1; n >= 0; n -= 20 {
			room := full(n)
			if err := write(&room); err == nil {
				t.Errorf("%s: no error for %d of %d bytes", name, n, whole.Len())
			}
		}
	}
}
