//go:build !linux && !darwin && !windows && !js

package arrowio

// machineMemory is 0: it is not known.
func machineMemory() int64 { return 0 }
