//go:build !linux

package pipeline

import "syscall"

// dieWithParent has no equal here: a stage whose runner is killed notices by its
// pipes, when it next reads or writes.
func dieWithParent() *syscall.SysProcAttr { return nil }
