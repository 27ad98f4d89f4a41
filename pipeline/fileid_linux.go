package pipeline

import (
	"io/fs"
	"syscall"
)

// A fileID tells a file from another that has taken its name, and from itself before it
// was written and its time set back.
type fileID struct {
	device, inode uint64
	changed       syscall.Timespec
}

func idOf(info fs.FileInfo) fileID {
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(is.Dev), is.Ino, is.Ctim}
}
