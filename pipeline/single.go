package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"mars.dev/mars/arrowio"
)

// Single is the graph of one stage that runs alone, with the flags given. It reads
// the file rows, if that is not "". Its own rows go to the file of a flag, or else to
// the runner's Rows.
func Single(stage *Stage, flags map[string]string, order []string, rows string) (*Graph, error) {
	f := &File{Name: stage.Name, lines: findLines(""), literal: true}
	s := FileStage{Stage: stage, Name: stage.Name, From: rows, Flags: map[string]Value{}, Order: order}
	for name, text := range flags {
		s.Flags[name] = Value{text, "flag"}
	}
	f.Stages = []FileStage{s}
	g, err := f.Expand(context.Background())
	if err != nil {
		return nil, err
	}
	g.Nodes[0].shown = stage.Rows && g.Nodes[0].rowsPath() == ""
	return g, nil
}

// Spool writes a stream of rows to a file in the cache's folder, of the same bytes as
// the rows of an entry, and returns its path and what removes it.
func (c *Cache) Spool(ctx context.Context, in arrowio.Stream) (path string, remove func(), err error) {
	dir := filepath.Join(c.Dir, buildingDir)
	if c.ReadOnly != nil {
		dir = ""
	}
	f, err := os.CreateTemp(dir, spoolPrefix+"*.arrow")
	if err != nil {
		return "", nil, err
	}
	remove = func() {
		os.Remove(f.Name())
		f.Close()
	}
	if runtime.GOOS != "windows" { // where a file that is locked cannot be read, and one that is open not removed
		err = flock(f, false) // so that it is not taken for left behind
	}
	if err == nil {
		err = arrowio.Copy(ctx, arrowio.NewFileWriter(f, f.Name(), arrowio.WriteOptions{}), in)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return f.Name(), remove, nil
}

// Recognise looks for the file that a Single graph reads among the rows of the cache.
// If a cached stage put it out, and the graph's stage has run on it as such, that
// result is used.
func (g *Graph) Recognise(c *Cache) {
	n := g.Nodes[0]
	if n.Dependencies.Rows == nil {
		return
	}
	if e, err := c.Lookup(n.Key); e != nil && err == nil {
		return
	}
	all, err := c.List()
	if err != nil {
		return
	}
	for _, l := range all {
		if l.Entry == nil {
			continue
		}
		if f, ok := l.File(""); !ok || f.SHA256 != n.Dependencies.Rows.SHA256 {
			continue
		}
		known := n.Dependencies
		known.Rows = &Input{Name: n.Dependencies.Rows.Name, Key: l.Key}
		if e, err := c.Lookup(known.Key()); e != nil && err == nil {
			n.Dependencies, n.Key = known, known.Key()
			return
		}
	}
}

// showRows writes the rows of a stage that runs alone to the runner's Rows.
func (r *Runner) showRows(ctx context.Context, n *Node) error {
	e := r.store.lookup(n.Key)
	if e == nil {
		return errors.New("the rows have gone from the cache: run again")
	}
	f, _ := e.File("")
	in, err := arrowio.Open(e.Path(f), arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	return arrowio.Copy(ctx, r.Rows, in)
}
