package main

import (
	"fmt"
	"os"
)

const usage = `usage`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fitgate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch command, rest := args[0], args[1:]; command {
	case "study":
		return study(rest)
	case "fit":
		return fit(rest)
	case "check":
		return check(rest)
	}
	return nil
}
