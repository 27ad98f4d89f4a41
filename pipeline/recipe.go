package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Recipe is all that a stage's output depends on.
type Recipe struct {
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
	Key    string `json:"key,omitempty"`
}

// Key names the recipe: equal recipes, and no others, have equal keys. What
// inputs are called does not count.
func (r Recipe) Key() string {
	anonymous := r
	if r.Rows != nil {
		rows := *r.Rows
		rows.Name = ""
		anonymous.Rows = &rows
	}
	anonymous.Files = map[string]Input{}
	for flag, in := range r.Files {
		in.Name = ""
		anonymous.Files[flag] = in
	}
	text, err := json.Marshal(anonymous)
	if err != nil {
		panic("pipeline: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Machine is what of the surroundings a result depends on.
type Machine struct {
	Kernels string
	Threads int                        // of a stage that is not told otherwise
	Beside  func(path string) []string // files that are read when path is given; nil: path alone
	hashes  map[string]string
}

// Keys computes every node's recipe. Input files are hashed once each.
func (g *Graph) Keys(m *Machine) error {
	for _, n := range g.Nodes { // parents first
		r := Recipe{Stage: n.Stage.Name, Algorithm: n.Stage.Algorithm, Kernels: m.Kernels, Threads: m.threads(n),
			Options: n.Options, Files: map[string]Input{}}
		if n.Parent != nil {
			r.Rows = &Input{Name: n.Parent.Label(), Key: n.Parent.Key}
		}
		if n.From != "" {
			in, err := m.input(n.From)
			if err != nil {
				return n.fail("from", err)
			}
			r.Rows = &in
		}
		for _, f := range n.Files {
			in, err := m.input(f.Path)
			if f.Maker != nil {
				in, err = Input{Name: f.Path, Key: f.Maker.Key + "/" + f.MakerFlag}, nil
			}
			if err != nil {
				return n.fail(f.Flag, err)
			}
			r.Files[f.Flag] = in
		}
		n.Recipe, n.Key = r, r.Key()
		n.stamps = m.stampsOf(n)
	}
	return nil
}

// A stamp tells cheaply whether a file is still the one that was hashed.
type stamp struct {
	path string
	size int64
	time time.Time
}

func newStamp(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path: path, size: -1}
	}
	return stamp{path, info.Size(), info.ModTime()}
}

// stampsOf are those of the files that nobody but the user makes.
func (m *Machine) stampsOf(n *Node) []stamp {
	var stamps []stamp
	given := []string{}
	if n.From != "" {
		given = append(given, n.From)
	}
	for _, f := range n.Files {
		if f.Maker == nil {
			given = append(given, f.Path)
		}
	}
	for _, path := range given {
		for _, p := range m.files(path) {
			stamps = append(stamps, newStamp(p))
		}
	}
	return stamps
}

// unchanged reports an input that has changed since it was hashed: what was made
// of it must not be kept under its hash.
func (n *Node) unchanged() error {
	for _, s := range n.stamps {
		if newStamp(s.path) != s {
			return fmt.Errorf("%s: %s changed while the pipeline ran: run again", n.Label(), s.path)
		}
	}
	return nil
}

func (m *Machine) threads(n *Node) int {
	flag := n.Stage.flag(Threads)
	if flag == "" {
		return 1
	}
	threads := m.Threads
	if text := n.Options[flag]; text != "" {
		fmt.Sscan(text, &threads) //nolint:errcheck // the command has checked it
	}
	return threads
}

// input hashes a file, or all files of a folder, with what is read beside it.
func (m *Machine) input(path string) (Input, error) {
	if m.hashes == nil {
		m.hashes = map[string]string{}
	}
	if sum, ok := m.hashes[path]; ok {
		return Input{Name: path, SHA256: sum}, nil
	}
	var sums []string
	for _, p := range m.files(path) {
		sum, err := hashPath(p)
		if err != nil {
			return Input{}, err
		}
		sums = append(sums, sum)
	}
	sum := sums[0]
	if len(sums) > 1 {
		both := sha256.Sum256([]byte(strings.Join(sums, " ")))
		sum = hex.EncodeToString(both[:])
	}
	m.hashes[path] = sum
	return Input{Name: path, SHA256: sum}, nil
}

// files are all files that are read when path is given.
func (m *Machine) files(path string) []string {
	if m.Beside == nil {
		return []string{path}
	}
	return m.Beside(path)
}

// Hash is what input knows a path by.
func (m *Machine) Hash(path string) (string, error) {
	in, err := m.input(path)
	return in.SHA256, err
}

// hashPath is the SHA-256 of a file's bytes, or of the names and bytes of all
// files of a folder.
func hashPath(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%w: check the path, which is relative to the pipeline file", err)
	}
	if !info.IsDir() {
		return hashFile(path)
	}
	h := sha256.New()
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		sum, err := hashFile(p)
		name, _ := filepath.Rel(path, p)
		fmt.Fprintf(h, "%q %s\n", name, sum)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(h, f, make([]byte, 1<<20)); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
