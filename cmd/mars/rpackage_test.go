package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The R package is built with its vignette and passes R's own check, which runs its tests,
// its examples and the vignette with the programs, without errors or warnings.
func TestRPackage(t *testing.T) {
	if exec.Command("Rscript", "-e", "library(processx); library(jsonlite); library(knitr); library(markdown)").Run() != nil {
		t.Skip("no R with processx, jsonlite, knitr and markdown: install r-base-core, r-cran-processx, r-cran-jsonlite, r-cran-knitr and r-cran-markdown")
	}
	t.Parallel()
	source, err := filepath.Abs(filepath.Join("..", "..", "clients", "r"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// Packages that it suggests need not be there.
	environment := append(os.Environ(), "PATH="+programs(t)+":"+os.Getenv("PATH"), "MARS_BINARY=", "LC_ALL=C.UTF-8", "_R_CHECK_FORCE_SUGGESTS_=false")
	run := func(args ...string) string {
		cmd := exec.Command("R", append([]string{"CMD"}, args...)...)
		cmd.Dir, cmd.Env = dir, environment
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
		return string(out)
	}
	run("build", source)
	built, err := filepath.Glob(filepath.Join(dir, "marsr_*.tar.gz"))
	if err != nil || len(built) != 1 {
		t.Fatal(built, err)
	}
	out := run("check", "--no-manual", built[0])
	if !regexp.MustCompile(`(?m)^Status: (OK|\d+ NOTEs?)$`).MatchString(out) {
		t.Errorf("R CMD check is not content:\n%s", out)
	}
}
