//go:build !linux

package pipeline

import "syscall"

// dieWithParent asks for nothing, since the system has no such thing. A stage whose
// runner is killed is told so by ParentVariable.
func dieWithParent() *syscall.SysProcAttr { return nil }
