// Command mars holds every stage as a subcommand, and what works on any
// stream: inspect and version; see its --help.
package main

import "mars.dev/mars/cmd/internal/cli"

func main() { cli.Main(cli.Mars()) }
