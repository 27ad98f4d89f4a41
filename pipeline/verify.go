package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mars/arrowio"
)

// hashRows is a hash of the columns and rows of an Arrow file. It does not depend on
// their layout or on the metadata.
func hashRows(ctx context.Context, path string) (string, error) {
	r, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := sha256.New()
	if err := arrowio.WriteCSV(ctx, h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// CheckInputs checks that the files that a history began with are still there and
// have not changed.
func (h *History) CheckInputs(m *Machine) error {
	var failed error
	for path, sum := range h.Inputs() {
		in, err := m.input(path)
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("%s cannot be made again: %w", h.File, err))
		case sum != "" && in.SHA256 != sum:
			failed = errors.Join(failed, fmt.Errorf("%s cannot be made again: %s is not what it was (SHA-256 %s, and was %s)", h.File, path, in.SHA256, sum))
		}
	}
	return failed
}

// Workshop makes a folder in which the relative paths of the history's inputs lead to
// them as they do in the present folder, so that the history can be run again there
// without touching anything here. The caller removes it.
func (h *History) Workshop(m *Machine) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "mars-verify-*"); err != nil {
		return "", err
	}
	for path := range h.Inputs() {
		for _, p := range m.files(path) {
			if filepath.IsAbs(p) {
				continue
			}
			target, err := filepath.Abs(p)
			link := filepath.Join(dir, p)
			if err == nil && !filepath.IsLocal(p) {
				err = fmt.Errorf("%s lies outside of this folder: run mars provenance --verify in one that holds all inputs", p)
			}
			if err == nil {
				err = os.MkdirAll(filepath.Dir(link), 0o777)
			}
			if err == nil {
				err = os.Symlink(target, link)
			}
			if err != nil && !errors.Is(err, os.ErrExist) {
				os.RemoveAll(dir)
				return "", err
			}
		}
	}
	return dir, nil
}
