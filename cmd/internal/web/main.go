// Command web makes the page that labels in a browser: one file with the program in it, which needs
// no server and no network. The page is page/, the program is program/, built for WebAssembly.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/cmd/internal/cli"
	"mars.dev/mars/cmd/internal/web/page"
)

func main() {
	out := flag.String("o", "web", "folder for the page")
	ldflags := flag.String("ldflags", "-s -w", "flags for the linker")
	flag.Parse()
	text, err := build(*ldflags)
	if err == nil {
		err = os.MkdirAll(*out, 0o777)
	}
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(*out, "index.html"), text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// build is the page.
func build(ldflags string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "mars-web-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	text, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	goroot := strings.TrimSpace(string(text))
	program, err := compile(folder, goroot, ldflags)
	if err != nil {
		return nil, err
	}
	runtime, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	products, err := os.ReadFile(filepath.Join("stages", "algorithms", "internal", "kernel", "products.wasm"))
	if err != nil {
		return nil, err
	}
	return page.Alone(cli.Version(), runtime, products, program), nil
}

// compile is the program, compressed as a browser can take it apart.
func compile(folder, goroot, ldflags string) ([]byte, error) {
	overlay, err := cutModule(folder, goroot)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(folder, "mars.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-mod=vendor", "-overlay", overlay, "-tags", "simd,minimal", "-ldflags", ldflags, "-o", out, "./cmd/internal/web/program")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "GOWASM=", "GOEXPERIMENT=", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	program, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w.Write(program) //nolint:errcheck // into memory
	err = w.Close()
	return b.Bytes(), err
}
