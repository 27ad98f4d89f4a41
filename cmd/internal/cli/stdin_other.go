//go:build !linux

package cli

import "context"

// interruptStdin does nothing here: a read of standard input ends with the next
// bytes.
func interruptStdin(context.Context) {}
