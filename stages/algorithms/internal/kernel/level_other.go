//go:build (noasm && !arm64) || (!amd64 && !arm64 && !(js && simd))

package kernel

// levels lists the levels that this processor can run, the best first.
func levels() []*loops { return []*loops{&generic} }
