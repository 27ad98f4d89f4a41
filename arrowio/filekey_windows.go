package arrowio

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// fileKey is equal for the same file under whatever names, hard links among them.
func fileKey(path string, _ fs.FileInfo) string {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return ""
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	h, err := syscall.CreateFile(name, 0, share, nil, syscall.OPEN_EXISTING, syscall.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return ""
	}
	defer syscall.CloseHandle(h) //nolint:errcheck // nothing was written
	return handleKey(h)
}

// openKey is the key of an open file.
func openKey(f *os.File, _ fs.FileInfo) string { return handleKey(syscall.Handle(f.Fd())) }

func handleKey(h syscall.Handle) string {
	var is syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(h, &is); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d", is.VolumeSerialNumber, is.FileIndexHigh, is.FileIndexLow)
}

// placeKey is the key of a file that is not there yet: case does not tell names apart.
func placeKey(path string) string { return strings.ToLower(path) }
