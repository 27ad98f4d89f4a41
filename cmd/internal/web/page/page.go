// Package page is the page that labels in a browser, without what does the work: that is the
// program in WebAssembly, in the page itself, or the one that serves it.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"
)

var (
	//go:embed index.html
	index string
	//go:embed style.css
	style string
	//go:embed page.js
	script string
	//go:embed labelling.js
	labelling string
	//go:embed wasm.js
	wasm string
	//go:embed native.js
	native string
	//go:embed worker.js
	worker string
)

// An engine is what does the work.
type engine struct {
	private string // sentences on where the files go
	allowed string // what more the page may do, for its Content-Security-Policy
	script  string // has run, which runs a command
	parts   string // the scripts that hold the program
}

func (e engine) page(version string) []byte {
	script := script + labelling + e.script
	hash := sha256.Sum256([]byte(script))
	return []byte(strings.NewReplacer(
		"{{hash}}", base64.StdEncoding.EncodeToString(hash[:]),
		"{{allowed}}", e.allowed,
		"{{style}}", style,
		"{{private}}", e.private,
		"{{version}}", version,
		"{{parts}}", e.parts,
		"{{script}}", script,
	).Replace(index))
}

// Alone is the page that holds the program: Go's runtime for browsers, products of matrices, and
// the program, compressed.
func Alone(version string, runtime, products, program []byte) []byte {
	var parts strings.Builder
	for _, p := range [][2]string{
		{"worker", worker + string(runtime)},
		{"products", base64.StdEncoding.EncodeToString(products)},
		{"program", base64.StdEncoding.EncodeToString(program)},
	} {
		parts.WriteString(`<script type="text/plain" id="` + p[0] + `">` + p[1] + "</script>\n")
	}
	return engine{
		private: "The program is in this page. The page cannot send anything anywhere, and it works without a network.",
		allowed: " 'wasm-unsafe-eval'; worker-src blob:",
		script:  wasm,
		parts:   parts.String(),
	}.page(version)
}

// Served is the page of the program that serves it.
func Served(version string) []byte {
	return engine{
		private: "The program mars on this computer does the work, with all its processors and memory, and the page can speak with nothing else.",
		allowed: "; connect-src 'self'",
		script:  native,
	}.page(version)
}
