package arrowio

// DefaultMemory is the limit of the process where none is given: three quarters of what the
// machine, or its container, has, and 8 GB where the system does not say.
func DefaultMemory() int64 {
	if n := machineMemory(); n > 0 {
		return n / 4 * 3
	}
	return 8 << 30
}
