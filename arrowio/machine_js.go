package arrowio

// machineMemory is what a program in a browser can address.
func machineMemory() int64 { return 4 << 30 }
