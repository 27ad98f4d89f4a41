// Package machine says what measurements are made on.
package machine

import (
	"os"
	"runtime"
	"strings"
)

// Processor is the name of the CPU, or what kind it is where the system does not tell it.
func Processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// Kernels are those in use, by what mars --version says.
func Kernels(version string) string {
	_, kernels, _ := strings.Cut(version, "kernels: ")
	kernels, _, _ = strings.Cut(kernels, ",")
	return kernels
}

// Load is the load average of the last minute, or "" where the system does not tell it. With other
// programs at work, times of two threads mean nothing.
func Load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(text), " ")
	return average
}
