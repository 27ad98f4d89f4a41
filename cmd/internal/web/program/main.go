// Command program is what runs in a browser: cmd/internal/web builds it and makes a page of it.
package main

import "mars.dev/mars/cmd/internal/cli"

func main() { cli.Main(cli.Browser()) }
