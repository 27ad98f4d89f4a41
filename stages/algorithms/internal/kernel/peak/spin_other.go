//go:build (noasm && !arm64) || (!amd64 && !arm64)

package peak

// Flops is 0: there is no loop for this processor.
func Flops(bits int) int { return 0 }

// Spin does nothing.
func Spin(iterations int) {}
