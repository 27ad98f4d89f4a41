package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
)

// numbered gives records of a number each, without end if there is no limit, and counts
// the bytes that were read.
type numbered struct {
	row    string
	rows   int // 0: without end
	n      int
	buffer bytes.Buffer
	read   int
}

func (r *numbered) Read(p []byte) (int, error) {
	for r.buffer.Len() < len(p) && (r.rows == 0 || r.n < r.rows) {
		fmt.Fprintf(&r.buffer, r.row, r.n)
		r.n++
	}
	n, err := r.buffer.Read(p)
	r.read += n
	return n, err
}

func newScanner(t testing.TB, r io.Reader, o Options) *Scanner {
	t.Helper()
	o.Separator = ','
	s, err := New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sum is the work of tests: the numbers of the first fields.
func sum(c *Chunk) (numbers []int, err error) {
	for {
		if err := c.Next(); errors.Is(err, io.EOF) {
			return numbers, nil
		} else if err != nil {
			return numbers, err
		}
		v, err := strconv.Atoi(string(c.Field(0)))
		if err != nil {
			return numbers, err
		}
		numbers = append(numbers, v)
	}
}

func TestEachKeepsTheOrder(t *testing.T) {
	for jobs := 1; jobs <= 5; jobs++ {
		s := newScanner(t, &numbered{row: "%d,a\n", rows: 5000}, Options{Chunk: 300})
		var got []int
		var atWork, begun atomic.Int32
		both := make(chan struct{})
		err := Each(t.Context(), s, jobs, func(c *Chunk) ([]int, error) {
			if n := atWork.Add(1); n > int32(jobs) {
				t.Errorf("%d chunks at work at once, of %d jobs", n, jobs)
			}
			defer atWork.Add(-1)
			switch n := begun.Add(1); { // the first waits for the second
			case jobs == 1:
			case n == 1:
				select {
				case <-both:
				case <-time.After(time.Minute):
					t.Errorf("%d jobs: none worked beside the first", jobs)
				}
			case n == 2:
				close(both)
			}
			if c.offset%1200 < 300 {
				time.Sleep(time.Millisecond) // others overtake
			}
			return sum(c)
		}, func(numbers []int) error {
			got = append(got, numbers...)
			return nil
		})
		if err != nil || len(got) != 5000 || !slices.IsSorted(got) {
			t.Fatalf("%d jobs: %d numbers, %v", jobs, len(got), err)
		}
	}
}

// Errors come after what was before them, and end all.
func TestEachEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	fault := errors.New("full")
	for jobs := 1; jobs <= 3; jobs++ {
		var got []int
		keep := func(numbers []int) error { got = append(got, numbers...); return nil }
		s := newScanner(t, io.MultiReader(&numbered{row: "%d,a\n", rows: 2000}, strings.NewReader("x,a\n"), &numbered{row: "%d,b\n"}), Options{Chunk: 300})
		if err := Each(t.Context(), s, jobs, sum, keep); !errors.Is(err, strconv.ErrSyntax) || len(got) != 2000 {
			t.Errorf("an error of work: %v after %d numbers", err, len(got))
		}
		s = newScanner(t, &numbered{row: "%d,a\n"}, Options{Chunk: 300})
		calls := 0
		err := Each(t.Context(), s, jobs, sum, func([]int) error {
			if calls++; calls == 10 {
				return fault
			}
			return nil
		})
		if !errors.Is(err, fault) || calls != 10 {
			t.Errorf("an error of deliver: %v after %d calls", err, calls)
		}
	}
	for range 100 { // they say that they are done before they are gone
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, before %d", runtime.NumGoroutine(), before)
}

func TestEachStopsWithItsContext(t *testing.T) {
	for jobs := 1; jobs <= 3; jobs++ {
		contexttest.Stops(t, 10, func(ctx context.Context) error {
			r := arrowio.WithContext(ctx, &numbered{row: "%d,a\n", rows: 2000})
			return Each(ctx, newScanner(t, r, Options{Chunk: 1000}), jobs, sum, func([]int) error { return nil })
		})
	}
}

func TestMemory(t *testing.T) {
	const limit = 1 << 20
	text := func(head string, rest ...io.Reader) io.Reader {
		return io.MultiReader(append([]io.Reader{strings.NewReader(head)}, rest...)...)
	}
	for name, tc := range map[string]struct {
		text    func() io.Reader
		refused bool
	}{
		"short records":     {func() io.Reader { return text("", &numbered{row: "%d,a\n", rows: 1 << 20}) }, false},
		"a long record":     {func() io.Reader { return text("0,a\n1," + strings.Repeat("a", limit/12) + "\n2,b\n") }, false},
		"a longer record":   {func() io.Reader { return text("0,a\n1," + strings.Repeat("a", limit)) }, true},
		"many fields":       {func() io.Reader { return text("0,a\n1" + strings.Repeat(",", limit/8)) }, true},
		"a quote":           {func() io.Reader { return text("0,a\n1,\"", &numbered{row: "%d,a\n"}) }, true},
		"many quotes":       {func() io.Reader { return text("0,a\n" + strings.Repeat("\"\",", limit/16)) }, true},
		"a header of names": {func() io.Reader { return text(strings.Repeat("a,", limit)) }, true},
	} {
		for jobs := 1; jobs <= 3; jobs++ {
			mem := arrowio.NewBudget(limit)
			s := newScanner(t, tc.text(), Options{Memory: mem})
			err := Each(t.Context(), s, jobs, func(c *Chunk) (int, error) {
				for {
					if err := c.Next(); errors.Is(err, io.EOF) {
						return 0, nil
					} else if err != nil {
						return 0, err
					}
				}
			}, func(int) error { return nil })
			var refused *arrowio.LimitError
			if errors.As(err, &refused) != tc.refused {
				t.Errorf("%s, %d jobs: %v", name, jobs, err)
			}
			if tc.refused && err != nil && !strings.HasPrefix(err.Error(), "the record that begins at byte ") {
				t.Errorf("%s, %d jobs: %v does not say where", name, jobs, err)
			}
			if s.Close(); mem.Used() != 0 {
				t.Fatalf("%s, %d jobs: %d bytes are not given back", name, jobs, mem.Used())
			}
		}
	}
}

// A lonely quote is found where it is: not all that follows is read for its other one.
func TestLonelyQuote(t *testing.T) {
	for jobs := 1; jobs <= 2; jobs++ {
		rest := &numbered{row: "%d,a\n"}
		s := newScanner(t, io.MultiReader(strings.NewReader("0,a\n1,5\" wide\n"), rest), Options{Chunk: 1000})
		err := Each(t.Context(), s, jobs, sum, func([]int) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `line 2, column 4: bare "`) {
			t.Errorf("error %v", err)
		}
		if rest.read > 100_000 {
			t.Errorf("%d bytes were read", rest.read)
		}
	}
}

func TestSkip(t *testing.T) {
	text := "made by \"x\non a day\n\na,b\n1,2\n"
	for _, size := range []int{1, 7, 0} {
		for skip, want := range map[int]string{2: "a 4", 3: "a 4", 4: "1 5", 5: "EOF", 9: "EOF"} {
			c, err := newScanner(t, strings.NewReader(text), Options{Skip: skip, Chunk: size}).Next()
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprint(string(c.Field(0)), " ", c.Line())
			}
			if got != want {
				t.Errorf("without %d lines the first record is %s, want %s", skip, got, want)
			}
		}
	}
}

func TestNew(t *testing.T) {
	for _, o := range []Options{{}, {Separator: '"'}, {Separator: '\n'}, {Separator: '\ufffd'}, {Separator: '#', Comment: "#"}} {
		if _, err := New(strings.NewReader(""), o); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
}

// Peek leaves the record for Next, and for Each.
func TestPeek(t *testing.T) {
	s := newScanner(t, strings.NewReader("7,\"a\"\n8,b\n"), Options{})
	for range 2 {
		if c, err := s.Peek(); err != nil || string(c.Field(1)) != "a" || c.Line() != 1 {
			t.Fatal(c.Len(), err)
		}
	}
	var got []int
	if err := Each(t.Context(), s, 2, sum, func(numbers []int) error { got = append(got, numbers...); return nil }); err != nil || !slices.Equal(got, []int{7, 8}) {
		t.Fatal(got, err)
	}
}
