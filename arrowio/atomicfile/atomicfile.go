// Package atomicfile writes files whole or not at all: to a temporary file beside
// the target, which takes the target's place when it is complete. Whatever goes
// wrong before that, even a crash, leaves the target as it was.
//
// A new file has the mode that the umask allows, a replaced one keeps its mode. A
// symbolic link stays a link: the file that it leads to is replaced. A device or a
// named pipe cannot be replaced and is written directly.
//
// A process that is killed leaves its temporary file, .NAME.mars- and random digits. Whoever
// writes into that folder a day later removes it.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is written like any file, and becomes the target by Commit. Close
// without Commit gives it up.
type File struct {
	*os.File             // the temporary file, or the device or pipe itself
	target   string      // "" for a device or a pipe
	replaced fs.FileInfo // the target as it was; nil for a new file
	done     bool        // committed or given up
}

// Create starts a file that is to be at path. Its errors are of type
// *fs.PathError and name path, not the temporary file.
func Create(path string) (*File, error) {
	f, err := create(path)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: cause(err)}
	}
	return f, nil
}

func create(path string) (*File, error) {
	old, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return nil, err
	case !old.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &File{File: f}, err
	}
	target, err := Target(path)
	if err != nil {
		return nil, err
	}
	f, err := openTemporary(target, old)
	return &File{File: f, target: target, replaced: old}, err
}

// maxLinks is how many links may lead to one another.
const maxLinks = 40

// Target is the path that symbolic links lead to: what is written when path is. There
// need not be a file.
func Target(path string) (string, error) {
	for range maxLinks {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			//lint:ignore lostnil there is no file yet
			return path, nil
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(path)
			link = dir + link // not cleaned: a folder of it may be a link
		}
		path = link
	}
	return "", errors.New("too many levels of symbolic links")
}

// Direct reports whether the target is a device or a pipe. What is written to
// it is out at once, and Close cannot take it back.
func (f *File) Direct() bool { return f.target == "" }

// Commit makes the file the target: first its bytes on the disk, then its name.
// After an error the target is as it was.
func (f *File) Commit() error {
	if f.Direct() {
		f.done = true
		return f.File.Close()
	}
	if err := f.commit(); err != nil {
		f.Close()
		return &fs.PathError{Op: "write", Path: f.target, Err: cause(err)}
	}
	f.done = true
	syncFolder(f.target)
	return nil
}

func (f *File) commit() error {
	if err := f.keepMode(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.File.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), f.target)
}

// keepMode sets the mode of the file that is replaced.
func (f *File) keepMode() error {
	if f.replaced == nil {
		return nil
	}
	mode := f.replaced.Mode().Perm()
	now, err := f.Stat()
	if err != nil || now.Mode().Perm() == mode {
		return err
	}
	return f.Chmod(mode)
}

// syncFolder puts a new name on the disk, where the system can do that.
func syncFolder(path string) {
	dir, _ := filepath.Split(path)
	if folder, err := os.Open(dir + "."); err == nil {
		folder.Sync() //nolint:errcheck // the file itself is on the disk
		folder.Close()
	}
}

// Close gives the file up. After Commit it does nothing.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	err := f.File.Close()
	if f.Direct() {
		return err
	}
	return os.Remove(f.Name())
}

const bufferSize = 1 << 20

// Write makes a file of what write writes. Its errors name path.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return fmt.Errorf("%s: %w: choose a folder that exists and can be written", path, cause(err))
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, bufferSize)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, cause(err))
	}
	return nil
}

// WriteFile makes a file of data.
func WriteFile(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// cause is an error of the system without the paths that it names.
func cause(err error) error {
	switch err := err.(type) {
	case *fs.PathError:
		return err.Err
	case *os.LinkError:
		return err.Err
	}
	return err
}
