package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Dependencies are all that a stage's output depends on.
type Dependencies struct {
	Stage     string            `json:"stage"`
	Algorithm int               `json:"algorithm"`
	Kernels   string            `json:"kernels"` // instruction set: sums in another order round otherwise
	Threads   int               `json:"threads"` // for the same reason
	Options   map[string]string `json:"options"` // canonical; the seed among them
	Rows      *Input            `json:"rows,omitempty"`
	Files     map[string]Input  `json:"files,omitempty"` // by flag
}

// An Input is what is read: a file, known by its content, or what a cached
// stage puts out, known by its key.
type Input struct {
	Name   string `json:"name,omitempty"` // path as written, or the stage's label
	SHA256 string `json:"sha256,omitempty"`
	Key    string `json:"key,omitempty"` // with "/FLAG" for a file that a flag of the stage names
}

// maker is the key of the node that makes the input.
func (in Input) maker() string {
	key, _, _ := strings.Cut(in.Key, "/")
	return key
}

// namesFlag is the flag of a column with the names of inputs.
const namesFlag = "file-column"

// Key is a hash: equal dependencies, and no others, have equal keys. What inputs
// are called does not count, but for what a name says of how to read them, and unless
// their names are in the result.
func (d Dependencies) Key() string {
	anonymous := d
	if d.Rows != nil {
		rows := *d.Rows
		rows.Name = ""
		anonymous.Rows = &rows
	}
	anonymous.Files, anonymous.Options = map[string]Input{}, map[string]string{}
	maps.Copy(anonymous.Options, d.Options)
	for flag, in := range d.Files {
		if d.Options[namesFlag] == "" {
			in.Name = ""
		}
		anonymous.Files[flag] = in
		anonymous.Options[flag] = d.reading(flag)
	}
	text, err := json.Marshal(anonymous)
	if err != nil {
		panic("pipeline: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// compressions are the endings that are put behind one that says what a file is.
var compressions = []string{".gz", ".zst", ".bz2", ".xz", ".lz4"}

// reading is what the name of a flag's file says of how to read it: its ending, the member
// of an archive, and which other flag names the same file.
func (d Dependencies) reading(flag string) string {
	path := d.Options[flag]
	for _, other := range slices.Sorted(maps.Keys(d.Files)) {
		if other < flag && d.Options[other] == path {
			return "the file of " + other
		}
	}
	base := strings.ToLower(filepath.Base(path))
	ending := filepath.Ext(base)
	if slices.Contains(compressions, ending) {
		ending = filepath.Ext(strings.TrimSuffix(base, ending)) + ending
	}
	return ending
}

// Keys finds what every node depends on. Input files are hashed once each. It returns
// ctx.Err() if ctx ends, because they can be large.
func (g *Graph) Keys(ctx context.Context, m *Machine) error {
	for _, n := range g.Nodes { // parents first
		if err := n.depend(ctx, m); err != nil {
			return err
		}
		n.Key = n.Dependencies.Key()
		for _, in := range n.given() {
			n.stamps = append(n.stamps, m.stamps[in.Path]...)
		}
	}
	return nil
}

// depend finds what the node depends on. Those before it have their keys.
func (n *Node) depend(ctx context.Context, m *Machine) error {
	n.Dependencies = Dependencies{Stage: n.Stage.Name, Algorithm: n.Stage.Algorithm, Kernels: m.Kernels, Threads: m.threads(n),
		Options: n.Options, Files: map[string]Input{}}
	if n.Parent != nil {
		n.Dependencies.Rows = &Input{Name: n.Parent.Label(), Key: n.Parent.Key}
	}
	if n.From != "" {
		in, err := m.input(ctx, n.From)
		if err != nil {
			return n.fail("from", err)
		}
		n.Dependencies.Rows = &in
	}
	for _, f := range n.Files {
		if f.Maker != nil {
			n.Dependencies.Files[f.Flag] = Input{Name: f.Path, Key: f.Maker.Key + "/" + f.MakerFlag}
			continue
		}
		in, err := m.input(ctx, f.Path)
		if err != nil {
			return n.fail(f.Flag, err)
		}
		n.Dependencies.Files[f.Flag] = in
	}
	return nil
}

// unchanged reports an input that has changed since it was hashed: what was made
// of it must not be kept under its hash.
func (n *Node) unchanged() error {
	for _, s := range n.stamps {
		if err := s.Check(); err != nil {
			return err
		}
	}
	return nil
}
