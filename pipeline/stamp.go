package pipeline

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mars.dev/mars/arrowio"
)

// A Stamp tells cheaply whether a file is still the one that it was, or a folder and all
// files in it are.
type Stamp struct {
	path, full string // as it was given, and absolute: the present folder may change
	at         []moment
}

// A moment is a file as it was. Pipes and devices are not looked at.
type moment struct {
	path string
	size int64 // -1 for one that is not there
	time time.Time
	id   fileID
}

func (m moment) same(now moment) bool {
	return m.path == now.path && m.size == now.size && m.time == now.time && m.id.same(now.id)
}

// NewStamp is the stamp of a file or folder as it is now.
func NewStamp(path string) Stamp {
	full, _ := filepath.Abs(path) //nolint:errcheck // where there is no present folder, no relative path leads to a file
	return Stamp{path, full, moments(full)}
}

func moments(path string) []moment {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return []moment{{path: path, size: -1}}
	case !info.IsDir():
		return momentsOf(path, info)
	}
	all := []moment{}
	filepath.WalkDir(path+string(filepath.Separator), func(p string, d fs.DirEntry, err error) error { //nolint:errcheck // what cannot be read is not there
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				all = append(all, momentsOf(p, info)...)
			}
		}
		return nil
	})
	return all
}

func momentsOf(path string, info fs.FileInfo) []moment {
	if !info.Mode().IsRegular() {
		return nil
	}
	return []moment{{path, info.Size(), info.ModTime(), idOf(info)}}
}

// Check reports a change since the stamp was taken.
func (s Stamp) Check() error {
	now := moments(s.full)
	for i, m := range s.at {
		if i >= len(now) || !m.same(now[i]) {
			return s.changed(m.path)
		}
	}
	if len(now) != len(s.at) {
		return changed(s.path)
	}
	return nil
}

// changed names a file by the path that was given.
func (s Stamp) changed(path string) error {
	if path == s.full {
		path = s.path
	}
	return changed(path)
}

func changed(path string) error {
	return fmt.Errorf("%s: changed while it was read: run again when nothing writes to it", path)
}

// StandardInput is the stamp of standard input, if that is a file and the program reads it.
func StandardInput() (check func() error) {
	before := standardInput()
	return func() error {
		if arrowio.StandardInputIsRead() && !slices.EqualFunc(before, standardInput(), moment.same) {
			return changed("standard input")
		}
		return nil
	}
}

func standardInput() []moment {
	info, err := os.Stdin.Stat()
	if err != nil {
		return nil
	}
	return momentsOf("standard input", info)
}
