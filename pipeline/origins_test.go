package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// longChain puts the entries of a chain of n nodes into a cache.
func longChain(t *testing.T, c *Cache, n int) []*Node {
	t.Helper()
	g := expand(t, "[[stage]]\nrun = \"make\"\n"+strings.Repeat("[[stage]]\nrun = \"map\"\n", n-1))
	if err := g.Keys(t.Context(), &Machine{Kernels: "generic", Threads: 1}); err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes {
		put(t, c, n)
	}
	return g.Nodes
}

// What the cache writes about a node does not grow with the nodes before it.
func TestOriginsAreLinear(t *testing.T) {
	c := openTest(t)
	nodes := longChain(t, c, 100)
	size := func(n *Node) int64 {
		manifest, err := os.Stat(filepath.Join(c.path(entriesDir, n.Key), manifestName))
		if err != nil {
			t.Fatal(err)
		}
		return manifest.Size()
	}
	if early, late := size(nodes[1]), size(nodes[99]); late > early+10 {
		t.Errorf("entry 2 takes %d bytes and entry 100 %d", early, late)
	}
	if kept, err := os.ReadDir(filepath.Join(c.Dir, originsDir)); err != nil || len(kept) != 99 {
		t.Errorf("%d origins are kept, %v", len(kept), err)
	}
}

// An entry knows what it was made from when nothing else is left, and so does one that
// was made by a program that kept that in the entry.
func TestTraceWithoutEntries(t *testing.T) {
	c := openTest(t)
	nodes := longChain(t, c, 5)
	last, err := c.Lookup(nodes[4].Key)
	if err != nil {
		t.Fatal(err)
	}
	rows := last.Path(last.Files[0])
	first := nodes[0].Key
	for _, n := range nodes[:4] {
		if err := c.Drop(n.Key); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.sweepOrigins(); err != nil {
		t.Fatal(err)
	}
	if h, err := traceCache("rows", hashed(t, rows), c); err != nil || len(h.Steps) != 5 || h.Steps[0].Stage != "make" || h.Steps[4].Version != "test" {
		t.Errorf("the history is %+v, %v", h, err)
	}
	if err := os.Remove(c.path(originsDir, first)); err != nil {
		t.Fatal(err)
	}
	if _, err := traceCache("rows", hashed(t, rows), c); err == nil || !strings.Contains(err.Error(), "no longer says what made make") {
		t.Errorf("without an origin the error is %v", err)
	}
}

func hashed(t *testing.T, path string) string {
	t.Helper()
	sum, err := hashFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// Origins that no entry was made from go with the next pruning, unless an entry is
// just being completed.
func TestSweepOrigins(t *testing.T) {
	c := openTest(t)
	nodes := longChain(t, c, 3)
	if err := c.Drop(nodes[2].Key); err != nil {
		t.Fatal(err)
	}
	completing, err := c.shareOrigins()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.sweepOrigins(); err != nil {
		t.Fatal(err)
	}
	if _, known := c.Origin(nodes[1].Key); !known {
		t.Error("origins are swept while an entry is completed")
	}
	completing.Release()
	if err := c.sweepOrigins(); err != nil {
		t.Fatal(err)
	}
	_, first := c.Origin(nodes[0].Key)
	_, second := c.Origin(nodes[1].Key)
	if !first || second {
		t.Errorf("after the sweep the first is known: %t, the second: %t", first, second)
	}
}
