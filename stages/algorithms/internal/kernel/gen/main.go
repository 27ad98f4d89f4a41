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
		f, err := compile(s.emit)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		cfg := printer.Config{Argv: []string{"go", "-C", "gen", "run", "."}, Pkg: s.pkg}
		for suffix, p := range map[string]printer.Printer{".s": printer.NewGoAsm(cfg), ".go": printer.NewStubs(cfg)} {
			text, err := p.Print(f)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if err := put(filepath.Join(dir, s.name+suffix), text, check); err != nil {
				return err
			}
		}
	}
	return nil
}

func compile(emit func(*build.Context)) (*ir.File, error) {
	c := build.NewContext()
	c.ConstraintExpr("amd64,!noasm")
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
