package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables/write"
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
	if err := write.CSV(ctx, h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// CheckInputs checks that the files that a history began with are still there and
// have not changed.
func (h *History) CheckInputs(ctx context.Context, m *Machine) error {
	var failed error
	for path, sum := range h.Inputs() {
		in, err := m.input(ctx, path)
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("%s cannot be made again: %w", h.File, err))
		case sum != "" && in.SHA256 != sum:
			failed = errors.Join(failed, fmt.Errorf("%s cannot be made again: %s is not what it was (SHA-256 %s, and was %s)", h.File, path, in.SHA256, sum))
		}
	}
	return failed
}

// workshopPrefix begins the names of workshops.
const workshopPrefix = "mars-verify-"

// Workshop makes a folder in which the relative paths of the history's inputs lead to
// them as they do in the present folder, so that the history can be run again there
// without touching anything here. It refuses a history that would write over its inputs.
func (h *History) Workshop(ctx context.Context, m *Machine) (dir string, remove func(), err error) {
	if dir, remove, err = makeScratch(workshopPrefix); err != nil {
		return "", nil, err
	}
	var links []string
	for path := range h.Inputs() {
		links = append(links, m.files(ctx, path)...)
	}
	err = h.checkWritten(links)
	for _, path := range links {
		if err == nil && !filepath.IsAbs(path) {
			err = linkInput(path, dir)
		}
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return dir, remove, nil
}

// linkInput makes a relative path lead from dir to where it leads from the present folder.
func linkInput(path, dir string) error {
	if !filepath.IsLocal(path) {
		return fmt.Errorf("%s lies outside of this folder: run mars provenance --verify in one that holds all inputs", path)
	}
	target, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	from := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(from), privateMode); err != nil {
		return err
	}
	if err := os.Symlink(target, from); !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// checkWritten refuses a file of a step that would lie where an input is, or in one.
func (h *History) checkWritten(inputs []string) error {
	for _, s := range h.Steps {
		for _, file := range s.Files {
			for _, in := range inputs {
				in, path := filepath.Clean(in), filepath.Clean(file.Path)
				if file.Step != nil && (in == path || strings.HasPrefix(path, in+string(filepath.Separator))) {
					return fmt.Errorf("%s cannot be made again: a step writes %s, and %s is an input", h.File, path, in)
				}
			}
		}
	}
	return nil
}
