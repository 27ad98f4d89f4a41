package pipeline

import "syscall"

// dieWithParent has the kernel kill a stage when the program that runs it is
// killed, so that nothing is left computing.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
