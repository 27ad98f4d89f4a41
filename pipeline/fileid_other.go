//go:build !linux

package pipeline

import "io/fs"

// A fileID is nothing here: size and time tell files apart.
type fileID struct{}

func idOf(fs.FileInfo) fileID { return fileID{} }

func (fileID) same(fileID) bool { return true }
