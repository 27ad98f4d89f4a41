// Command mars-eval is a stage of MARS; see its --help.
package main

import "mars.dev/mars/cmd/internal/cli"

func main() { cli.Main(cli.Eval()) }
