// Package state keeps what stages have learnt in files: whole or not at all,
// and known by their hash.
package state

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Save writes a file by way of a temporary one beside it and returns the
// SHA-256 of what it wrote. On an error there is no file and any older one stays.
func Save(path string, write func(io.Writer) error) (sum string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	hash := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, hash), 1<<20)
	if err := write(w); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if err := w.Flush(); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Chmod(0o644); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), os.Rename(f.Name(), path)
}

// Load reads a file and returns its SHA-256.
func Load[T any](path string, read func(r io.Reader, name string) (T, error)) (state T, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return state, "", err
	}
	defer f.Close()
	hash := sha256.New()
	tee := io.TeeReader(bufio.NewReaderSize(f, 1<<20), hash)
	if state, err = read(tee, path); err != nil {
		return state, "", err
	}
	if _, err := io.Copy(io.Discard, tee); err != nil {
		return state, "", err
	}
	return state, hex.EncodeToString(hash.Sum(nil)), nil
}
