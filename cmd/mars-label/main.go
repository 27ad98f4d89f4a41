// Command mars-label labels the rows of a target; see its --help.
package main

import "mars.dev/mars/cmd/internal/cli"

func main() { cli.Main(cli.Label()) }
