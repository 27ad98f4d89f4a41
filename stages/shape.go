package stages

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatShape writes a shape as ParseShape reads it.
func FormatShape(shape []int) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, "x")
}

// ParseShape reads "1x28x28" (C×H×W), or one number of columns.
func ParseShape(text string) ([]int, error) {
	parts := strings.Split(text, "x")
	shape := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || len(parts) == 2 || len(parts) > 3 {
			return nil, fmt.Errorf("%q is no shape: write channels, height and width as in 3x28x28, or one number of columns", text)
		}
		shape[i] = n
	}
	return shape, nil
}
