package atomicfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// infix marks the names of temporary files. Behind it are a random number's digits, all
// of them, so that no file of the user's has such a name by accident.
const (
	infix  = ".mars-"
	base   = 36
	digits = 13 // of the largest number of 64 bits
)

var temporaryName = regexp.MustCompile(`^\..+` + regexp.QuoteMeta(infix) + `[0-9a-z]{` + strconv.Itoa(digits) + `}$`)

// maxName is how much of the target's name a temporary file bears, in bytes:
// most systems allow names of 255.
const maxName = 200

// prefix is how the names of the temporary files of a target begin.
func prefix(name string) string {
	return "." + strings.ToValidUTF8(name[:min(len(name), maxName)], "") + infix
}

// randomDigits is the end of a temporary file's name.
func randomDigits() string {
	text := strconv.FormatUint(rand.Uint64(), base)
	return strings.Repeat("0", digits-len(text)) + text
}

// IsTemporary reports whether a file's name is that of a temporary file for target, both
// without their folder.
func IsTemporary(name, target string) bool {
	return strings.HasPrefix(name, prefix(target)) && temporaryName.MatchString(name)
}

// openTemporary makes a file beside the target. It is open to nobody to whom the
// file that it replaces is not.
func openTemporary(target string, old fs.FileInfo) (*os.File, error) {
	dir, name := filepath.Split(target)
	sweepOnce(dir)
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = old.Mode().Perm()
	}
	for {
		f, err := os.OpenFile(dir+prefix(name)+randomDigits(), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			lock(f)
		}
		return f, err
	}
}

// leftAfter is the age at which a temporary file counts as left behind.
const leftAfter = 24 * time.Hour

// swept are the folders that this process has looked through.
var swept sync.Map

func sweepOnce(dir string) {
	path, err := filepath.Abs(dir)
	if _, done := swept.LoadOrStore(path, true); err == nil && !done {
		sweep(path)
	}
}

// sweep removes the temporary files that killed processes have left in a folder.
func sweep(dir string) {
	for _, path := range temporaries(dir, ".") {
		if isLeft(path) {
			os.Remove(path) //nolint:errcheck // it may be another user's
		}
	}
}

// temporaries are the temporary files in a folder whose names begin with start.
func temporaries(dir, start string) []string {
	folder, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	var found []string
	names, _ := folder.Readdirnames(-1) //nolint:errcheck // those that can be read
	for _, name := range names {
		if strings.HasPrefix(name, start) && temporaryName.MatchString(name) {
			found = append(found, filepath.Join(dir, name))
		}
	}
	return found
}

// isLeft reports whether a temporary file is old and nobody is writing it.
func isLeft(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < leftAfter {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	opened, err := f.Stat()
	return err == nil && os.SameFile(info, opened) && lock(f)
}

// Remove removes a file and what killed processes have left of it, however new.
// Nobody may be writing it. It need not be there.
func Remove(path string) {
	dir, name := filepath.Split(path)
	for _, path := range append(temporaries(dir+".", prefix(name)), path) {
		os.Remove(path) //nolint:errcheck // it may be gone
	}
}
