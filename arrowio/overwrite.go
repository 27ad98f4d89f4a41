package arrowio

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mars.dev/mars/arrowio/atomicfile"
)

// A FileUse is a file that a command reads or writes.
type FileUse struct {
	Flag string // by which it is named: "--save"; "" if it is only named
	Path string // "" or "-" is not a file
}

func (u FileUse) String() string {
	if u.Flag == "" {
		return u.Path
	}
	return u.Flag + " " + u.Path
}

// CheckFiles refuses an output that is one of the inputs, that lies in a folder
// which is one, or that is another output. Files are compared, not names: a hard
// or a symbolic link is the file. Standard input and output count too. Devices do
// not, because nothing in them can be lost.
func CheckFiles(inputs, outputs []FileUse) error {
	read, folders := inputFiles(inputs)
	written := map[string]FileUse{}
	if key := keyOf(os.Stdout); key != "" {
		written[key] = FileUse{Path: "standard output"}
		if in, both := read[key]; both {
			return overwrites(FileUse{Path: "standard output"}, in)
		}
	}
	for _, out := range outputs {
		if !out.isFile() {
			continue
		}
		key, err := outputKey(out.Path)
		if err != nil {
			return inputError(out.Path, err, "choose another path")
		}
		in, isRead := read[key]
		other, isWritten := written[key]
		switch {
		case key == "":
		case isRead:
			return overwrites(out, in)
		case isWritten && !(other.Flag == "" && isStandardOutput(out.Path)):
			return inputError(out.Path, fmt.Errorf("is written twice (%v and %v)", other, out), "write to two files")
		}
		written[key] = out
		if in, found := holding(folders, out.Path); found {
			return overwrites(out, in)
		}
	}
	return nil
}

func overwrites(out, in FileUse) error {
	cause := fmt.Errorf("is input and output at once (%v and %v)", in, out)
	return inputError(out.Path, cause, "write to another file")
}

func (u FileUse) isFile() bool { return u.Path != "" && u.Path != "-" }

// inputFiles are the inputs by their keys, and those among them that are folders, or are
// not there and may become some.
func inputFiles(inputs []FileUse) (files, folders map[string]FileUse) {
	files, folders = map[string]FileUse{}, map[string]FileUse{}
	if key := keyOf(os.Stdin); key != "" {
		files[key] = FileUse{Path: "standard input"}
	}
	for _, in := range inputs {
		if !in.isFile() {
			continue
		}
		info, err := os.Stat(in.Path)
		switch {
		case err != nil || info.IsDir():
			folders[folderKey(in.Path)] = in
		case holdsBytes(info):
			files[fileKey(in.Path, info)] = in
		}
	}
	return files, folders
}

// holdsBytes reports whether a file is of a kind in which something can be lost.
func holdsBytes(info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0
}

// keyOf is the key of an open file, "" for one in which nothing can be lost.
func keyOf(f *os.File) string {
	info, err := f.Stat()
	if err != nil || !holdsBytes(info) {
		return ""
	}
	return openKey(f, info)
}

// outputKey is the key of the file that an output replaces, or of the place of a new
// one; "" for one in which nothing can be lost.
func outputKey(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && !holdsBytes(info) {
		return "", nil
	} else if err == nil {
		return fileKey(path, info), nil
	}
	target, err := atomicfile.Target(path)
	if err != nil {
		return "", err
	}
	dir, name := filepath.Split(target)
	if real, err := filepath.EvalSymlinks(dir + "."); err == nil { // not cleaned: a folder of it may be a link
		dir = real
	}
	absolute, err := filepath.Abs(filepath.Join(dir, name))
	return placeKey(absolute), err
}

// folderKey is the key of a folder, or of the place where it is not.
func folderKey(path string) string {
	if info, err := os.Stat(path); err == nil {
		return fileKey(path, info)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return placeKey(absolute)
}

// holding finds the folder that a path lies in.
func holding(folders map[string]FileUse, path string) (in FileUse, found bool) {
	target, err := atomicfile.Target(path)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	for err == nil && len(folders) > 0 && filepath.Dir(target) != target {
		target = filepath.Dir(target)
		if in, found = folders[folderKey(target)]; found {
			return in, true
		}
	}
	return in, false
}

// isStandardOutput reports whether a path is a name of standard output, to which a
// command may be told to write.
func isStandardOutput(path string) bool {
	return slices.Contains([]string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}, path)
}
