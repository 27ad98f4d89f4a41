package tables

import (
	"syscall"
	"unsafe"
)

// inHugePages asks the system for large memory in pages of 2 MB. It would else clear and hand over
// every 4 kB when they are first written, which takes as long as reading a table of numbers.
func inHugePages(room []byte) {
	const page, least, adviseHuge = 2 << 20, 16 << 20, 14 // MADV_HUGEPAGE
	if len(room) < least {
		return
	}
	from := int(-uintptr(unsafe.Pointer(unsafe.SliceData(room))) % page)
	to := len(room) - (len(room)-from)%page
	_ = syscall.Madvise(room[from:to], adviseHuge) // without it reading is slower
}
