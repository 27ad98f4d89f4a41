// Package machine says what measurements are made on.
package machine

import (
	"os"
	"strings"
)

// Processor is the name of the CPU, if the system tells it.
func Processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// Load is the load average of the last minute, or "" where the system does not tell it. With other
// programs at work, times of two threads mean nothing.
func Load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	average, _, _ := strings.Cut(string(text), " ")
	return average
}
