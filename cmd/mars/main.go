// Command mars has every stage as a subcommand, and mars label, proportions, run,
// inspect and more; see its --help. Called under the name of a separate program, such
// as mars-train, it is that program.
package main

import (
	"os"

	"mars.dev/mars/cmd/internal/cli"
)

func main() { cli.Main(cli.Program(os.Args[0])) }
