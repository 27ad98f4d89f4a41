package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
)

// openQuick is a cache whose tag is there already. To write that takes a tick of the disk.
func openQuick(t *testing.T) *Cache {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, tagName), []byte(tagText), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := OpenCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// spoil puts a file where the cache has a folder, so that nothing in it can be read or written.
func spoil(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
}

// What a cache cannot do, as one of its folders is no folder or has gone, is an error.
func TestBrokenCache(t *testing.T) {
	remove := func(folder string) func(*testing.T, *Cache, []*Node) {
		return func(t *testing.T, c *Cache, _ []*Node) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(c.Dir, folder)); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := func(folder string) func(*testing.T, *Cache, []*Node) {
		return func(t *testing.T, c *Cache, _ []*Node) { t.Helper(); spoil(t, filepath.Join(c.Dir, folder)) }
	}
	// taken makes a folder where the lock of some key is to be.
	taken := func(name func([]*Node) string) func(*testing.T, *Cache, []*Node) {
		return func(t *testing.T, c *Cache, nodes []*Node) {
			t.Helper()
			path := c.path(locksDir, name(nodes))
			if err := errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o777)); err != nil {
				t.Fatal(err)
			}
		}
	}
	key := func(nodes []*Node) string { return nodes[0].Key }
	commit := func(spoiled func(w *EntryWriter) error) func(*Cache, []*Node) error {
		return func(c *Cache, nodes []*Node) error {
			w, err := c.Begin(nodes[1].Key)
			if err == nil {
				err = spoiled(w)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Commit(nodes[1], "test", 0, Cost{})
			return err
		}
	}
	for name, c := range map[string]struct {
		spoil func(*testing.T, *Cache, []*Node)
		do    func(*Cache, []*Node) error
	}{
		"list": {file(entriesDir), func(c *Cache, _ []*Node) error { _, err := c.List(); return err }},
		"verify": {file(entriesDir), func(c *Cache, _ []*Node) error {
			_, err := c.Verify(t.Context(), func(ListEntry, error) {})
			return err
		}},
		"prune": {file(entriesDir), func(c *Cache, _ []*Node) error { _, _, err := c.Prune(1 << 30); return err }},
		"explain": {file(entriesDir), func(c *Cache, nodes []*Node) error {
			return Explain(t.Context(), &strings.Builder{}, &Graph{Nodes: nodes}, c)
		}},
		"trace":             {file(entriesDir), func(c *Cache, _ []*Node) error { _, err := traceCache("x", "y", c); return err }},
		"sweep, no entries": {file(entriesDir), func(c *Cache, _ []*Node) error { return c.sweepOrigins() }},
		"sweep, no origins": {remove(originsDir), func(c *Cache, _ []*Node) error { return c.sweepOrigins() }},
		"sweep, no lock":    {taken(func([]*Node) string { return originsDir }), func(c *Cache, _ []*Node) error { return c.sweepOrigins() }},
		"drop":              {remove(buildingDir), func(c *Cache, nodes []*Node) error { return c.Drop(nodes[0].Key) }},
		"begin, no folder":  {remove(buildingDir), func(c *Cache, nodes []*Node) error { _, err := c.Begin(nodes[0].Key); return err }},
		"begin, a file":     {file(buildingDir), func(c *Cache, nodes []*Node) error { _, err := c.Begin(nodes[0].Key); return err }},
		"spool": {remove(buildingDir), func(c *Cache, _ []*Node) error {
			_, _, err := c.Spool(t.Context(), arrowio.NewBatches("rows", testSchema))
			return err
		}},
		"prune, no lock":     {taken(key), func(c *Cache, _ []*Node) error { _, _, err := c.Prune(0); return err }},
		"prepare, a file":    {file(locksDir), func(c *Cache, _ []*Node) error { return c.prepare() }},
		"prepare, no folder": {remove(""), func(c *Cache, _ []*Node) error { return c.prepare() }},
		"commit, no origins": {remove(originsDir), commit(func(*EntryWriter) error { return nil })},
		"commit, a manifest": {remove("none"), commit(func(w *EntryWriter) error { return os.WriteFile(filepath.Join(w.dir, manifestName), nil, 0o666) })},
		"commit, an origin":  {remove("none"), commit(func(w *EntryWriter) error { return os.WriteFile(filepath.Join(w.dir, "origin"), nil, 0o666) })},
		"commit over another": {remove("none"), commit(func(w *EntryWriter) error {
			dir := filepath.Join(w.cache.Dir, "moved")
			err := os.Rename(filepath.Dir(w.dir), dir)
			w.dir = filepath.Join(dir, w.entry.Key)
			return err
		})},
	} {
		cache, nodes := openQuick(t), testNodes(t)
		put(t, cache, nodes[0])
		put(t, cache, nodes[1])
		if err := os.RemoveAll(cache.path(originsDir, nodes[0].Key)); err != nil {
			t.Fatal(err)
		}
		c.spoil(t, cache, nodes)
		if err := c.do(cache, nodes); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A corrupt entry that cannot be dropped, or is in the way of nothing, is counted as it is.
func TestVerifyThatCannotDrop(t *testing.T) {
	c, nodes := openQuick(t), testNodes(t)
	e := put(t, c, nodes[0])
	if err := errors.Join(os.Remove(filepath.Join(e.dir, RowsName)), os.RemoveAll(filepath.Join(c.Dir, buildingDir))); err != nil {
		t.Fatal(err)
	}
	if dropped, err := c.Verify(t.Context(), func(ListEntry, error) {}); dropped != 1 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%d dropped, %v", dropped, err)
	}
}

// A folder that is no cache yet is no cache to read from where it cannot be written, and says why.
func TestUnwritableCache(t *testing.T) {
	c := openQuick(t)
	probe := c.path(locksDir, "probe")
	if err := errors.Join(os.Remove(probe), os.Mkdir(probe, 0o777)); err != nil {
		t.Fatal(err)
	}
	again, err := OpenCache(c.Dir)
	if err != nil || again.ReadOnly == nil {
		t.Fatalf("%+v, %v", again, err)
	}
	var log strings.Builder
	s := newStore(again, func(text string) { log.WriteString(text) })
	if s.writable() != nil || !strings.Contains(log.String(), "cannot be written: is a directory: what is in it is used, and nothing is added") {
		t.Errorf("it takes entries, or does not say why not: %s", &log)
	}
	path, remove, err := again.Spool(t.Context(), arrowio.NewBatches("rows", testSchema))
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if filepath.Dir(path) != filepath.Clean(os.TempDir()) {
		t.Errorf("rows are spooled into %s", path)
	}
	for _, cause := range []error{&os.PathError{Op: "open", Path: "y", Err: syscall.EACCES}, &os.LinkError{Op: "rename", Old: "y", New: "z", Err: syscall.EACCES}} {
		err := &UnwritableError{"x", cause}
		if want := "x: cannot hold a cache: permission denied: name a folder that can be written"; err.Error() != want || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Rows and files that cannot be read or written are errors of the entry.
func TestEntryErrors(t *testing.T) {
	c, nodes := openQuick(t), testNodes(t)
	w, err := c.Begin(nodes[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Rows(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Rows(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("rows beside rows: %v", err)
	}
	if _, err := w.Commit(nodes[0], "test", 0, Cost{Seconds: math.NaN()}); err == nil {
		t.Error("a manifest that is no JSON")
	}
	save := expand(t, "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nsave = \"model\"\n").Nodes[1]
	if _, err := w.Commit(save, "test", 0, Cost{}); err == nil || !strings.HasPrefix(err.Error(), "--save was not written: ") {
		t.Errorf("a state that was not written: %v", err)
	}
	path, err := w.StatePath("save", "model")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := w.addState(Output{"save", "model"}); err == nil {
		t.Error("a state that is a folder")
	}
	if _, err := (&EntryWriter{dir: path + "/x\x00"}).StatePath("save", "model"); err == nil {
		t.Error("a state that has no place")
	}
	broken := errors.New("broken")
	if _, _, err := c.Spool(t.Context(), failing{broken}); !errors.Is(err, broken) {
		t.Errorf("rows that cannot be read: %v", err)
	}
	f, err := os.Open(c.path(locksDir, "probe"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if flock(f, false) == nil {
		t.Error("a file that is closed has been locked")
	}
	if err := makePrivate(filepath.Join(c.Dir, "none"), true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there is private: %v", err)
	}
}

// failing is a stream of which nothing can be read.
type failing struct{ err error }

func (f failing) Name() string                { return "rows" }
func (f failing) Schema() *arrow.Schema       { return testSchema }
func (f failing) Next() (arrow.Record, error) { return nil, f.err }

// An input that breaks off is the error of a tee.
func TestTeeOfFailingRows(t *testing.T) {
	broken := errors.New("broken")
	next := &recorder{}
	tee := &tee{next: next, progress: func(int64) {}}
	if err := tee.copy(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

// The hash of a folder is of all files in it, and stops when it is told to.
func TestHashOfFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	contexttest.Stops(t, 4, func(ctx context.Context) error { // each is read, and then is at its end
		_, err := (&Machine{}).Hash(ctx, dir)
		return err
	})
	if _, err := (&Machine{}).Hash(t.Context(), filepath.Join(dir, "c")); err == nil || !strings.HasSuffix(err.Error(), "check the path, which is relative to the pipeline file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
