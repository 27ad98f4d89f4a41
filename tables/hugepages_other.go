//go:build !linux

package tables

// inHugePages does nothing: other systems choose the size of pages themselves.
func inHugePages([]byte) {}
