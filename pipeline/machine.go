package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mars.dev/mars/arrowio"
)

// Machine is what of the surroundings a result depends on.
type Machine struct {
	Kernels string
	Threads int                                             // of a stage that is not told otherwise
	Beside  func(ctx context.Context, path string) []string // files that are read when path is given; nil: path alone
	hashes  map[string]string
	stamps  map[string][]Stamp // of the paths that have hashes, from before they were read
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
func (m *Machine) input(ctx context.Context, path string) (Input, error) {
	if m.hashes == nil {
		m.hashes, m.stamps = map[string]string{}, map[string][]Stamp{}
	}
	if sum, ok := m.hashes[path]; ok {
		return Input{Name: path, SHA256: sum}, nil
	}
	var sums []string
	var stamps []Stamp
	for _, p := range m.files(ctx, path) {
		stamp := NewStamp(p)
		sum, err := hashPath(ctx, p)
		if err == nil {
			err = stamp.Check()
		}
		if err != nil {
			return Input{}, err
		}
		sums, stamps = append(sums, sum), append(stamps, stamp)
	}
	sum := sums[0]
	if len(sums) > 1 {
		both := sha256.Sum256([]byte(strings.Join(sums, " ")))
		sum = hex.EncodeToString(both[:])
	}
	m.hashes[path], m.stamps[path] = sum, stamps
	return Input{Name: path, SHA256: sum}, nil
}

// files are all files that are read when path is given.
func (m *Machine) files(ctx context.Context, path string) []string {
	if m.Beside == nil {
		return []string{path}
	}
	return m.Beside(ctx, path)
}

// Hash is what input knows a path by. It returns ctx.Err() if ctx ends.
func (m *Machine) Hash(ctx context.Context, path string) (string, error) {
	in, err := m.input(ctx, path)
	return in.SHA256, err
}

// hashPath is the SHA-256 of a file's bytes, or of the names and bytes of all
// files of a folder.
func hashPath(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%w: check the path, which is relative to the pipeline file", err)
	}
	if !info.IsDir() {
		return hashFile(ctx, path)
	}
	h := sha256.New()
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		sum, err := hashFile(ctx, p)
		name, _ := filepath.Rel(path, p)
		fmt.Fprintf(h, "%q %s\n", name, sum)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buffer := 1 << 20
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() { // of folders of small files there are many
		buffer = int(min(int64(buffer), info.Size()+1))
	}
	h := sha256.New()
	if _, err := io.CopyBuffer(h, arrowio.WithContext(ctx, f), make([]byte, buffer)); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
