package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// An Origin is what an output depended on, and the version of the program that
// made it. The cache keeps that of every node that some entry was made from, for
// provenance, also when the node's own entry is gone.
type Origin struct {
	Dependencies Dependencies `json:"recipe"`
	Version      string       `json:"version"`
}

// keys are those of the nodes that an output was made from directly.
func (d Dependencies) keys() []string {
	var keys []string
	if d.Rows != nil && d.Rows.Key != "" {
		keys = append(keys, d.Rows.Key)
	}
	for _, in := range d.Files {
		if in.Key != "" {
			keys = append(keys, in.maker())
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// keepOrigins keeps the origins of all nodes that an output was made from, each after
// those before it. makers are the nodes of this run that it reads from. What is there
// already has all before it there too, so that a long chain takes no more than a look
// for each of its nodes.
func (w *EntryWriter) keepOrigins(d Dependencies, makers []*Node, version string) error {
	for _, key := range d.keys() {
		if _, err := os.Stat(w.cache.path(originsDir, key)); err == nil {
			continue
		}
		o, before := w.cache.findOrigin(key, makers, version)
		if err := w.keepOrigins(o.Dependencies, before, version); err != nil {
			return err
		}
		if err := w.keepOrigin(key, o); err != nil {
			return err
		}
	}
	return nil
}

// keepOrigin writes an origin in the entry's own folder, and moves it to its place.
func (w *EntryWriter) keepOrigin(key string, o Origin) error {
	text, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	made := filepath.Join(w.dir, "origin")
	if err := writeNew(made, text); err != nil {
		return err
	}
	return os.Rename(made, w.cache.path(originsDir, key))
}

// findOrigin is the origin of a key, and the nodes of this run that are before it.
// Its entry, if it is there, says which version made it.
func (c *Cache) findOrigin(key string, makers []*Node, version string) (o Origin, before []*Node) {
	if i := slices.IndexFunc(makers, func(n *Node) bool { return n.Key == key }); i >= 0 {
		o, before = Origin{makers[i].Dependencies, version}, makers[i].before()
	}
	if e, err := c.Lookup(key); e != nil && err == nil {
		o = Origin{e.Dependencies, e.Version}
	}
	return o, before
}

// Origin is what the cache knows of a key; false if nothing.
func (c *Cache) Origin(key string) (o Origin, known bool) {
	if !isKey(key) || c.Dir == "" {
		return o, false
	}
	text, err := os.ReadFile(c.path(originsDir, key))
	return o, err == nil && json.Unmarshal(text, &o) == nil && o.Dependencies.Key() == key // so that nothing is made from itself
}

// shareOrigins keeps origins from being swept until the lock is released.
func (c *Cache) shareOrigins() (*Lock, error) {
	return c.lock(context.Background(), originsDir, true, nil)
}

// sweepOrigins removes the origins that no entry was made from. It leaves that to
// the next time if an entry is just being completed.
func (c *Cache) sweepOrigins() error {
	l, err := c.tryLock(originsDir, false)
	if errors.Is(err, errLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.Release()
	all, err := c.List()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, e := range all {
		if e.Entry != nil {
			c.reach(e.Dependencies, used)
		}
	}
	kept, err := os.ReadDir(filepath.Join(c.Dir, originsDir))
	for _, f := range kept {
		if isKey(f.Name()) && !used[f.Name()] {
			err = errors.Join(err, os.Remove(c.path(originsDir, f.Name())))
		}
	}
	return err
}

// reach adds the keys of all that an output was made from.
func (c *Cache) reach(d Dependencies, found map[string]bool) {
	for _, key := range d.keys() {
		if !found[key] {
			found[key] = true
			o, _ := c.Origin(key)
			c.reach(o.Dependencies, found)
		}
	}
}
