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
	known         struct{ names, mode, user, group uint64 } // to the system: it changes with them too
}

func idOf(info fs.FileInfo) fileID {
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	id := fileID{device: uint64(is.Dev), inode: is.Ino, changed: is.Ctim}
	id.known.names, id.known.mode = uint64(is.Nlink), uint64(is.Mode)
	id.known.user, id.known.group = uint64(is.Uid), uint64(is.Gid)
	return id
}

// A new name, as some backups make, and another mode or owner change a file for the system, as
// writing does.
func (id fileID) same(now fileID) bool {
	if id.known != now.known {
		id.known, id.changed = now.known, now.changed
	}
	return id == now
}
