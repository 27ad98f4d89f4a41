package tables

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// A slice does not grow beyond its budget in silence: what it holds is kept or an error
// comes of it.
func TestPushKeepsToTheBudget(t *testing.T) {
	mem := arrowio.NewBudget(1 << 10)
	var s []int64
	for i := range 1 << 10 {
		longer, err := push(mem, s, int64(i))
		if err != nil {
			if i == 0 || i > 1<<7 {
				t.Errorf("%d numbers of 8 bytes are in a budget of 1024", i)
			}
			return
		}
		if s = longer; len(s) != i+1 || s[i] != int64(i) || s[0] != 0 {
			t.Fatalf("after %d numbers there are %d", i+1, len(s))
		}
	}
	t.Error("the budget has no end")
}

// A text of many rows makes room for all of them once it knows how many there are about, and
// takes no more memory than growing by halves would.
func TestRoomForTheWhole(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y\n")
	const rows = 200_000
	for i := range rows {
		fmt.Fprintf(&text, "%d.5,-%d.25\n", i%1000, i%7)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, most := cap(table.Features.Data), 2*rows*105/100; len(table.Features.Data) != 2*rows || got > most {
		t.Errorf("%d values have room for %d, want at most %d", len(table.Features.Data), got, most)
	}
}

// What an input says of its size is believed once a part of it has been seen, and only where
// there is memory for it.
func TestExtendAhead(t *testing.T) {
	lie := func() float64 { return claimOf(1, 1<<60) }
	s, err := extendAhead(nil, []float32(nil), 10, lie)
	if err != nil || cap(s) != 10 {
		t.Errorf("an early claim makes room for %d values, %v; want 10", cap(s), err)
	}
	mem := arrowio.NewBudget(400)
	s, err = extendAhead(mem, []float32(nil), 10, func() float64 { return 16 })
	if err != nil || cap(s) != 10 {
		t.Errorf("a claim beyond the memory makes room for %d values, %v; want 10", cap(s), err)
	}
	if s, err = extendAhead(mem, s, 1, func() float64 { return 4 }); err != nil || len(s) != 11 || cap(s) < 44 {
		t.Errorf("a claim that is believed makes room for %d values, %v; want 44", cap(s), err)
	}
}

func TestParseID(t *testing.T) {
	for name, want := range map[string]bool{"0": true, "-1": true, "12": true, "+1": false, "01": false, "-0": false, "": false, "-": false, "--1": false, "-+1": false, "1e3": false, "9223372036854775808": false} {
		v, ok := parseID(name)
		if ok != want || ok && strconv.FormatInt(v, 10) != name {
			t.Errorf("parseID(%q) = %d, %v", name, v, ok)
		}
	}
}

// A text that does not fit is refused by the limit, wherever in a row that is reached: with names, numbers and what only looks
// like a number.
func TestTextInLittleMemory(t *testing.T) {
	text := "id,a,kind,b,label\n"
	for i := range 150 {
		text += fmt.Sprintf("r%d,%d,k%d, 1e%d,l%d\n", i, i, i%3, i%4, i%2)
	}
	for name, o := range map[string]Options{"all": {}, "mixed": {Mixed: true}, "identities": {OnlyIDs: true}} {
		for limit := int64(1); ; limit += 40 + limit/200 {
			o.Memory = arrowio.NewBudget(limit)
			table, err := Read(t.Context(), strings.NewReader(text), "t.csv", o)
			if err == nil {
				if table.Features.Rows != 150 || len(table.IDNames) != 150 {
					t.Errorf("%s: in %d bytes, %d rows of %d names", name, limit, table.Features.Rows, len(table.IDNames))
				}
				break
			}
			if short := (*arrowio.LimitError)(nil); !errors.As(err, &short) {
				t.Fatalf("%s: in %d bytes: %v", name, limit, err)
			}
		}
	}
}
