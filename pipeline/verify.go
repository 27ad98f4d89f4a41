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

// hashRows is a hash of an Arrow file's columns and rows, however they are laid
// out and whatever the metadata say.
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

// CheckInputs sees that the files a history began with are still there and are
// what they were. beside gives all files that are read for a path.
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

// Workshop is a new folder in which relative paths lead to the history's inputs
// as they do in the present one, so that it can be run again without touching
// anything. The caller removes it.
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
