package featurize

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/stages/internal/prepared"
	"mars.dev/mars/tables"
)

func newLiveText(t testing.TB, o tables.Options) *LiveText {
	t.Helper()
	text, err := (&prepared.Preparation{Columns: []string{"a", "b"}}).Text()
	if err != nil {
		t.Fatal(err)
	}
	live, err := NewLive(text, o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &LiveText{Live: live, Name: "test"}
}

// readLive reads text in parts that end where cuts are, and says what came of it. Ahead,
// the next part has come while one is read.
func readLive(t testing.TB, o tables.Options, text string, cuts []int, ahead bool) (said []string) {
	t.Helper()
	in := newLiveText(t, o)
	at, cuts := 0, append(slices.Clone(cuts), len(text))
	more := func(held []byte) []byte {
		held = append(held, text[at:cuts[0]]...)
		at, cuts = cuts[0], cuts[1:]
		return held
	}
	var held []byte
	lines := 0 // of held, if that is known
	for len(cuts) > 0 || lines > 0 {
		if lines == 0 {
			held = more(held)
			var err error
			if lines, err = in.Cut(held, len(cuts) == 0); err != nil {
				return append(said, err.Error())
			}
		}
		n := lines
		var follows []byte
		lines = 0
		next := func() []byte {
			follows = append(follows, held[n:]...)
			if len(cuts) > 1 { // the last part is known to be that by its end alone
				follows = more(follows)
			}
			var err error
			if lines, err = in.Cut(follows, false); err != nil {
				t.Fatal(err)
			}
			return follows[:lines]
		}
		if !ahead {
			next = nil
		}
		done, err := in.Read(context.Background(), held[:n], func(r *LiveRows) (int, error) {
			for i := range r.Features.Rows {
				said = append(said, fmt.Sprint(r.Features.Data[i*r.Features.Stride:i*r.Features.Stride+2]))
			}
			return r.Features.Rows, nil
		}, func(err error) error {
			said = append(said, err.Error())
			return nil
		}, next)
		if err != nil {
			return append(said, err.Error())
		}
		if done != n {
			t.Fatalf("%d of %d bytes", done, n)
		}
		if held = held[n:]; follows != nil {
			held = follows
		}
	}
	return said
}

// Where a stream is cut does not change what is read, nor the places of what cannot be.
func TestLiveTextCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, text := range map[string]string{
		"csv":      "a,b,c\n1,2,x\n3,oops,y\n\n5,6,z\n7\n8,9,\"two\nlines\"\n10,11,\"a \"\"quote\"\"\"\n12,13,w\n,1,v\n14,15,u",
		"braces":   "c,a,b\nx,1,2\n{y,3,4\n{\"z,5,6\nw\",7,8\n",
		"crlf":     "a;b\r\n1;2\r\nx;4\r\n5;6\r\n",
		"json":     "{\"a\": 1, \"b\": 2, \"c\": \"x\"}\n{\"b\": 4, \"a\": 3}\n{\"a\": 5}\n\n{oops\n{\"a\": 7.5, \"b\": null}\n{\"a\": 9, \"b\": 10}\n",
		"comments": "# made by hand\na,b\n1,2\n# a pause\n3,4\n",
	} {
		o := tables.Options{}
		if name == "comments" {
			o.Comment = "#"
		}
		want := readLive(t, o, text, nil, false)
		if len(want) < 2 {
			t.Fatalf("%s: %q", name, want)
		}
		t.Logf("%s: %q", name, want)
		for range 200 {
			var cuts []int
			for range rng.IntN(6) {
				cuts = append(cuts, rng.IntN(len(text)+1))
			}
			slices.Sort(cuts)
			cuts = slices.DeleteFunc(slices.Compact(cuts), func(c int) bool { return c == len(text) })
			for _, ahead := range []bool{false, true} {
				if got := readLive(t, o, text, cuts, ahead); !slices.Equal(got, want) {
					t.Fatalf("%s, cut at %v, ahead %v:\n%q\nwant\n%q", name, cuts, ahead, got, want)
				}
			}
		}
	}
}

// A reader that stops says after which line.
func TestLiveTextStops(t *testing.T) {
	const text = "a,b\n1,2\n\n3,4\n5,6\n"
	in := newLiveText(t, tables.Options{})
	stop := fmt.Errorf("stop")
	done, err := in.Read(context.Background(), []byte(text), func(*LiveRows) (int, error) { return 2, stop }, func(err error) error { return err }, nil)
	if err != stop || text[done:] != "5,6\n" || in.Lines != 4 {
		t.Errorf("%v after %q and %d lines", err, text[:done], in.Lines)
	}
}

// A reader that stops while the lines that follow are read leaves nothing behind, and may go
// on after where it stopped.
func TestLiveTextStopsAhead(t *testing.T) {
	in := newLiveText(t, tables.Options{})
	stop := fmt.Errorf("stop")
	pass := func(err error) error { return err }
	done, err := in.Read(context.Background(), []byte("a,b\n1,2\n3,4\n"), func(*LiveRows) (int, error) { return 1, stop }, pass, func() []byte { return []byte("5,6\n") })
	if err != stop || done != len("a,b\n1,2\n") || in.Lines != 2 || in.ahead != nil {
		t.Fatalf("%v after %d bytes and %d lines", err, done, in.Lines)
	}
	rows := 0
	if _, err := in.Read(context.Background(), []byte("3,4\n5,6\n"), func(r *LiveRows) (int, error) { rows += r.Features.Rows; return rows, nil }, pass, nil); err != nil || rows != 2 || in.Lines != 4 {
		t.Errorf("%v, %d rows, %d lines", err, rows, in.Lines)
	}
}

func FuzzLiveText(f *testing.F) {
	f.Add("a,b\n1,2\n3,4\n", uint16(5))
	f.Add("{\"a\":1,\"b\":2}\n{\"a\":\n", uint16(9))
	f.Add("\"a\",b\n\"1\n\",2\n", uint16(3))
	f.Fuzz(func(t *testing.T, text string, at uint16) {
		cut := int(at) % (len(text) + 1)
		if strings.ContainsAny(text, "\x00") || cut == len(text) {
			return
		}
		readLive(t, tables.Options{}, text, nil, false)
		readLive(t, tables.Options{}, text, []int{cut / 2, cut}, true)
	})
}

// Times that Arrow knows as such are read as their text would be, missing ones too.
func TestTimesOfArrow(t *testing.T) {
	b := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Millisecond})
	b.Append(1_500)
	b.AppendNull()
	schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Millisecond}, Nullable: true}}, nil)
	times := b.NewArray()
	rec, err := (&Live{time: "at"}).textTimes(array.NewRecord(schema, []arrow.Array{times}, 2))
	if err != nil {
		t.Fatal(err)
	}
	at, ok := rec.Column(0).(*array.String)
	if !ok || rec.NumCols() != 1 || at.Value(0) != "1970-01-01T00:00:01.5Z" || at.Value(1) != "" {
		t.Errorf("%v", rec)
	}
}
