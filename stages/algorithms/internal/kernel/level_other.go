//go:build !amd64 || noasm

package kernel

// levels lists the levels that this processor can run, the best first.
func levels() []*loops { return []*loops{&generic} }
