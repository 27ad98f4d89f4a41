// Gen writes the assembly of packages kernel and peak, with its Go declarations, into
// the folder above. With -check it writes nothing, and fails if the files there differ
// from what it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// sources are the files to write: the path without its suffix, the package, and
// the function that emits the code.
var sources = []struct {
	name, pkg string
	emit      func(*build.Context)
}{
	{"gemm_avx512_amd64", "kernel", func(c *build.Context) { emitGemm(c, avx512) }},
	{"gemm_avx2_amd64", "kernel", func(c *build.Context) { emitGemm(c, avx2) }},
	{"loops_avx512_amd64", "kernel", func(c *build.Context) { emitLoops(c, avx512) }},
	{"loops_avx2_amd64", "kernel", func(c *build.Context) { emitLoops(c, avx2) }},
	{"convolve_avx512_amd64", "kernel", func(c *build.Context) { emitConvolutions(c, avx512) }},
	{"convolve_avx2_amd64", "kernel", func(c *build.Context) { emitConvolutions(c, avx2) }},
	{"winograd_avx512_amd64", "kernel", func(c *build.Context) { emitTransforms(c, avx512) }},
	{"winograd_avx2_amd64", "kernel", func(c *build.Context) { emitTransforms(c, avx2) }},
	{"peak/peak_amd64", "peak", func(c *build.Context) { emitPeak(c, avx512); emitPeak(c, avx2) }},
	{"gemm_neon_arm64", "kernel", func(c *build.Context) { emitGemm(c, neon) }},
	{"loops_neon_arm64", "kernel", func(c *build.Context) { emitLoops(c, neon) }},
	{"convolve_neon_arm64", "kernel", func(c *build.Context) { emitConvolutions(c, neon) }},
	{"winograd_neon_arm64", "kernel", func(c *build.Context) { emitTransforms(c, neon) }},
	{"peak/peak_arm64", "peak", func(c *build.Context) { emitPeak(c, neon) }},
}

func main() {
	check := flag.Bool("check", false, "compare with the files present instead of writing them")
	dir := flag.String("dir", "..", "folder of package kernel")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	if err := put(filepath.Join(dir, "products.wasm"), emitModule(), check); err != nil {
		return err
	}
	for _, s := range sources {
		arm64 := strings.HasSuffix(s.name, "_arm64")
		f, err := compile(s.emit, arm64)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		cfg := printer.Config{Argv: []string{"go", "-C", "gen", "run", "."}, Pkg: s.pkg}
		for suffix, p := range map[string]printer.Printer{".s": printer.NewGoAsm(cfg), ".go": printer.NewStubs(cfg)} {
			text, err := p.Print(f)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if arm64 && suffix == ".s" {
				text = printNEON(f, cfg.GeneratedWarning())
			}
			if err := put(filepath.Join(dir, s.name+suffix), text, check); err != nil {
				return err
			}
		}
	}
	return nil
}

// compile leaves assembly for amd64 out under the tag noasm. That for arm64 is there under it too:
// programs for arm64 are built with it because of Arrow's (see docs/decisions.md).
func compile(emit func(*build.Context), arm64 bool) (*ir.File, error) {
	c := build.NewContext()
	if !arm64 {
		c.ConstraintExpr("amd64,!noasm")
	}
	emit(c)
	f, err := c.Result()
	if err != nil {
		return nil, err
	}
	return f, pass.Compile.Execute(f)
}

func put(path string, text []byte, check bool) error {
	if !check {
		return os.WriteFile(path, text, 0o644)
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is not what the generator writes: run it again", path)
	}
	return nil
}
