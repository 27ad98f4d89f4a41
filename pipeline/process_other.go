//go:build !linux

package pipeline

import "syscall"

// dieWithParent asks for nothing, since the system has no such thing. A stage whose
// runner is killed ends when it next reads or writes a pipe.
func dieWithParent() *syscall.SysProcAttr { return nil }
