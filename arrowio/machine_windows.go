package arrowio

import (
	"syscall"
	"unsafe"
)

var installedMemory = syscall.NewLazyDLL("kernel32.dll").NewProc("GetPhysicallyInstalledSystemMemory")

// machineMemory is how many bytes of memory the machine has.
func machineMemory() int64 {
	var kilobytes uint64
	if ok, _, _ := installedMemory.Call(uintptr(unsafe.Pointer(&kilobytes))); ok == 0 {
		return 0
	}
	return int64(kilobytes << 10)
}
