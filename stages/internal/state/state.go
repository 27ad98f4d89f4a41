// Package state keeps what stages have learnt in files: whole or not at all,
// and known by their hash.
package state

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"mars.dev/mars/arrowio/atomicfile"
)

// Save writes a file and returns the SHA-256 of what it wrote. On an error there
// is no file, and an older one stays.
func Save(path string, write func(io.Writer) error) (sum string, err error) {
	hash := sha256.New()
	err = atomicfile.Write(path, func(w io.Writer) error { return write(io.MultiWriter(w, hash)) })
	return hex.EncodeToString(hash.Sum(nil)), err
}

// Load reads a file and returns its SHA-256.
func Load[T any](path string, read func(r io.Reader, name string) (T, error)) (state T, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return state, "", err
	}
	defer f.Close()
	hash := sha256.New()
	tee := io.TeeReader(bufio.NewReader(f), hash)
	if state, err = read(tee, path); err != nil {
		return state, "", err
	}
	if _, err := io.Copy(io.Discard, tee); err != nil {
		return state, "", err
	}
	return state, hex.EncodeToString(hash.Sum(nil)), nil
}
