package pipeline

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

var testSchema = arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32}}, nil)

func batch(values ...int32) arrow.Record {
	return array.NewRecord(testSchema, []arrow.Array{arrowio.NewIntArray(values, nil)}, int64(len(values)))
}

// put makes an entry of some rows.
func put(t *testing.T, c *Cache, n *Node) *Entry {
	t.Helper()
	p, err := c.Begin(n.Key)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.Rows()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(rows.Begin(testSchema), rows.Write(batch(1, 2, 3)), rows.Close()); err != nil {
		t.Fatal(err)
	}
	if e, err := c.Lookup(n.Key); e != nil || err != nil {
		t.Fatalf("the entry is there before Commit: %v, %v", e, err)
	}
	e, err := p.Commit(n, "test", 3, Cost{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openTest(t *testing.T) *Cache {
	t.Helper()
	c, err := OpenCache(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testNodes(t *testing.T) []*Node {
	g := expand(t, "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\n")
	if err := g.Keys(t.Context(), &Machine{Kernels: "generic", Threads: 1}); err != nil {
		t.Fatal(err)
	}
	return g.Nodes
}

func TestEntry(t *testing.T) {
	c, nodes := openTest(t), testNodes(t)
	put(t, c, nodes[0])
	put(t, c, nodes[1])
	e, err := c.Lookup(nodes[1].Key)
	if err != nil || e == nil || e.Verify(t.Context()) != nil {
		t.Fatalf("the entry is not whole: %v, %v", e, err)
	}
	if o, known := c.Origin(nodes[0].Key); !known || o.Dependencies.Stage != "make" || o.Version != "test" {
		t.Errorf("what is before it is %v", o)
	}
	for _, key := range []string{"", "../" + nodes[0].Key} {
		if o, known := c.Origin(key); known {
			t.Errorf("the key %q is of nothing, and known as %v", key, o)
		}
	}
	f, _ := e.File("")
	r, err := arrowio.Open(e.Path(f), arrowio.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, rows, err := arrowio.Check(t.Context(), r); rows != 3 || err != nil {
		t.Errorf("%d rows, %v", rows, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if newStore(c, func(text string) { t.Error(text) }).verified(ended, e) != nil {
		t.Error("an entry is whole that nobody has read")
	}
	if dropped, err := c.Verify(ended, func(ListEntry, error) {}); dropped != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted check has dropped %d entries: %v", dropped, err)
	}
	if e, err := c.Lookup(nodes[1].Key); e == nil || err != nil {
		t.Errorf("after interrupted checks the entry is %v, %v", e, err)
	}
	text, err := os.ReadFile(e.Path(f))
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2]++
	if err := os.WriteFile(e.Path(f), text, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := e.Verify(t.Context()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a changed byte gives %v", err)
	}
	if err := os.Truncate(e.Path(f), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Lookup(nodes[1].Key); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a cut gives %v", err)
	}
	if err := c.Drop(nodes[1].Key); err != nil {
		t.Fatal(err)
	}
	if e, err := c.Lookup(nodes[1].Key); e != nil || err != nil {
		t.Errorf("a dropped entry is %v, %v", e, err)
	}
}

// An entry that cannot be removed is still there, and the error is said.
func TestDropFails(t *testing.T) {
	c, nodes := openTest(t), testNodes(t)
	put(t, c, nodes[0])
	inside, building := filepath.Join(c.path(entriesDir, nodes[0].Key), "inside"), filepath.Join(c.Dir, buildingDir)
	if err := errors.Join(os.Mkdir(inside, 0o777), os.RemoveAll(building), os.Symlink(inside, building)); err != nil {
		t.Skip(err) // Windows may refuse links
	}
	if err := c.Drop(nodes[0].Key); err == nil {
		t.Error("a folder was moved into itself")
	}
	if e, err := c.Lookup(nodes[0].Key); e == nil || err != nil {
		t.Errorf("after an error the entry is %v, %v", e, err)
	}
}

// Rows whose file cannot be closed are an error, and not in the entry.
func TestRowsThatCannotBeClosed(t *testing.T) {
	c, nodes := openTest(t), testNodes(t)
	w, err := c.Begin(nodes[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.Rows()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(rows.Begin(arrow.NewSchema(nil, nil)), rows.(*rowsSink).file.file.Close()); err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err == nil || len(w.entry.Files) > 0 {
		t.Errorf("got %v, and %d files", err, len(w.entry.Files))
	}
}

// What an entry cannot be completed for is said: a folder where a lock should be, and text that cannot be read or is there.
func TestCommitFails(t *testing.T) {
	c, nodes := openTest(t), testNodes(t)
	if err := os.Mkdir(c.path(locksDir, originsDir), 0o777); err != nil {
		t.Fatal(err)
	}
	w, err := c.Begin(nodes[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := w.Commit(nodes[0], "test", 0, Cost{}); err == nil {
		t.Errorf("an entry without the lock of origins: %v", e)
	}
	if err := w.Text(iotest.ErrReader(errors.New("no more"))); err == nil || err.Error() != "no more" {
		t.Errorf("text that cannot be read: %v", err)
	}
	if err := w.Text(strings.NewReader("again")); err == nil {
		t.Error("text is written over other text")
	}
}

// A user is told why, and not of which file of the cache.
func TestPlainCause(t *testing.T) {
	other := errors.New("something else")
	for _, test := range []struct{ err, want error }{
		{&os.PathError{Op: "open", Path: "x", Err: os.ErrPermission}, os.ErrPermission},
		{other, other},
	} {
		if got := plainCause(test.err); got != test.want {
			t.Errorf("the cause of %v is %v, want %v", test.err, got, test.want)
		}
	}
}

// An entry that is begun again after a crash holds nothing of the first try.
func TestBeginAgain(t *testing.T) {
	c, nodes := openTest(t), testNodes(t)
	p, err := c.Begin(nodes[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "left"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	e := put(t, c, nodes[0])
	if _, err := os.Stat(filepath.Join(e.dir, "left")); err == nil {
		t.Error("the entry has a file of the first try")
	}
}

func TestPrune(t *testing.T) {
	c, nodes := openTest(t), testNodes(t)
	first, second := put(t, c, nodes[0]), put(t, c, nodes[1])
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(second.dir, manifestName), old, old); err != nil {
		t.Fatal(err)
	}
	inUse := c.Hold(second.Key)
	if dropped, _, err := c.Prune(first.Size()); dropped != 0 || err != nil {
		t.Errorf("of an entry in use %d were dropped, %v", dropped, err)
	}
	inUse.Release()
	if dropped, freed, err := c.Prune(first.Size()); dropped != 1 || freed != second.Size() || err != nil {
		t.Errorf("%d were dropped, %d bytes, %v", dropped, freed, err)
	}
	if e, _ := c.Lookup(first.Key); e == nil {
		t.Error("the entry that was used last is gone")
	}
	if dropped, _, err := c.Clear(); dropped != 1 || err != nil {
		t.Errorf("clearing dropped %d, %v", dropped, err)
	}
}

// What killed processes have left goes with the next clearing, unless it is in
// use or may be.
func TestSweep(t *testing.T) {
	c := openTest(t)
	left, busy := strings.Repeat("a", 64), strings.Repeat("b", 64)
	const tail = ".mars-0000000000001"
	held, err := c.Lock(t.Context(), busy, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	old := time.Now().Add(-2 * temporaryAge)
	for path, stays := range map[string]bool{
		"building/" + left: false, "building/" + busy: true, "building/.spool-new": true, "building/.spool-old": false, "building/mine": true,
		"checkpoints/" + left: false, "checkpoints/." + left + tail: false, "checkpoints/" + busy: true, "checkpoints/." + busy + tail: true,
		"checkpoints/best_model.pt": true, "checkpoints/." + left + ".mars-1": true, "entries/2024": true, "origins/mine": true,
	} {
		path = filepath.Join(c.Dir, path)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, "new") {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := c.Clear(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Only one at a time has a lock, even while its file comes and goes.
func TestLock(t *testing.T) {
	c := openTest(t)
	var mu sync.Mutex
	var work sync.WaitGroup
	holders, most := 0, 0
	for range 8 {
		work.Go(func() {
			for range 5 {
				l, err := c.Lock(context.Background(), "key", nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				holders++
				most = max(most, holders)
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				holders--
				mu.Unlock()
				os.Remove(l.file.Name()) // from here on the next one may have it
				l.Release()
			}
		})
	}
	work.Wait()
	if most != 1 {
		t.Errorf("%d had the lock at once", most)
	}
	held, err := c.Lock(context.Background(), "key", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	ctx, cancel := context.WithCancel(context.Background())
	waited := false
	if _, err := c.Lock(ctx, "key", func() { waited = true; cancel() }); !errors.Is(err, context.Canceled) || !waited {
		t.Errorf("waiting for a lock ended with %v", err)
	}
}

func TestChannel(t *testing.T) {
	sink, source := Channel(context.Background(), "test")
	go func() {
		sink.Begin(testSchema) //nolint:errcheck
		for i := range int32(5) {
			rec := batch(i)
			sink.Write(rec) //nolint:errcheck
			rec.Release()
		}
		sink.Close() //nolint:errcheck
	}()
	if err := source.Open(); err != nil || !source.Schema().Equal(testSchema) {
		t.Fatal(err)
	}
	for i := range int32(5) {
		rec, err := source.Next()
		if err != nil || rec.Column(0).(*array.Int32).Value(0) != i {
			t.Fatalf("batch %d is %v, %v", i, rec, err)
		}
	}
	if _, err := source.Next(); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
}

func TestChannelEnds(t *testing.T) {
	broken := errors.New("broken")
	sink, source := Channel(context.Background(), "test")
	sink.Fail(broken)
	if err := source.Open(); !errors.Is(err, broken) {
		t.Errorf("a sink that failed gives %v", err)
	}
	sink, source = Channel(context.Background(), "test")
	sink.Begin(testSchema) //nolint:errcheck
	source.Close()
	for range 2 {
		if err := sink.Write(batch(1)); err != nil && !errors.Is(err, arrowio.ErrBrokenPipe) {
			t.Errorf("writing to nobody gives %v", err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	sink, source = Channel(ctx, "test")
	sink.Begin(testSchema) //nolint:errcheck
	if err := source.Open(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := source.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled channel gives %v", err)
	}
}

// recorder is a Sink that may fail after some writes.
type recorder struct {
	calls []string
	fails string
}

func (r *recorder) note(call string) error {
	r.calls = append(r.calls, call)
	if call == r.fails {
		return errors.New("no room")
	}
	return nil
}

func (r *recorder) Begin(*arrow.Schema) error { return r.note("begin") }
func (r *recorder) Write(arrow.Record) error  { return r.note("write") }
func (r *recorder) Close() error              { return r.note("close") }
func (r *recorder) Fail(error)                { r.note("fail") } //nolint:errcheck

// Either side of a tee may go away without harm to the other.
func TestTee(t *testing.T) {
	for fails, want := range map[string][2]string{
		"":      {"begin write write close", "begin write write close"},
		"begin": {"begin write write close", "begin fail"},
		"write": {"begin write write close", "begin write fail"},
		"close": {"begin write write close", "begin write write close fail"},
	} {
		next, kept, lost := &recorder{}, &recorder{fails: fails}, 0
		tee := &tee{next: next, kept: kept, lost: func(error) { lost++ }, progress: func(int64) {}}
		err := tee.copy(arrowio.NewBatches("list", testSchema, batch(1), batch(2)))
		tee.end(err)
		got := [2]string{strings.Join(next.calls, " "), strings.Join(kept.calls, " ")}
		if err != nil || got != want || tee.rows != 2 || (lost > 0) != (fails != "") {
			t.Errorf("cache fails to %s: %v, %d lost, %v", fails, got, lost, err)
		}
	}
	for fails, want := range map[string]string{"begin": "begin fail", "write": "begin write fail", "close": "begin write write close fail"} {
		next, kept := &recorder{fails: fails}, &recorder{}
		tee := &tee{next: next, kept: kept, lost: func(error) { t.Errorf("%s: the cache has lost the rows", fails) }, progress: func(int64) {}}
		err := tee.copy(arrowio.NewBatches("list", testSchema, batch(1), batch(2)))
		tee.end(err)
		if got := strings.Join(next.calls, " "); err != nil || got != want || strings.Join(kept.calls, " ") != "begin write write close" {
			t.Errorf("the next stage fails to %s: it saw %s, the cache %v: %v", fails, got, kept.calls, err)
		}
	}
	next := &recorder{}
	tee := &tee{next: next, progress: func(int64) {}}
	tee.end(errors.New("broken"))
	if !slices.Equal(next.calls, []string{"fail"}) {
		t.Errorf("after a failure the next stage saw %v", next.calls)
	}
}
