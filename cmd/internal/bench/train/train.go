// Package train compares iterations of this project's training with those of eager PyTorch and
// of jitted JAX, with one and with two threads, in one run. It prints milliseconds, the
// share of the measured FMA peak, ratios, and our allocations in an iteration.
//
// First every program does one iteration from the same weights on the same batch, and
// must get the same losses and parameters up to the rounding of float32. An iteration can
// be written in several ways in PyTorch and in JAX (see with_torch.py and with_jax.py): the
// fastest is measured, and PyTorch's usual one, "plain". Then all are measured in turn, round
// after round, each pinned to as many processors as it has threads. The fastest iteration
// counts.
//
// The packages that Python needs are in requirements.txt. A program that is missing is
// left out.
package train

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"mars.dev/mars/cmd/internal/machine"
)

//go:embed *.py
var scripts embed.FS

// Compare prints the comparison.
func Compare(rounds int, python string) error {
	dir, err := os.MkdirTemp("", "mars-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir); err != nil {
		return err
	}
	all := start(dir, python)
	defer stop(all)
	fmt.Printf("%s, %s/%s, %s, load average before %s\n", machine.Processor(), runtime.GOOS, runtime.GOARCH, runtime.Version(), machine.Load())
	for _, k := range tasks {
		for _, c := range all {
			if err := c.check(k, filepath.Join(dir, k.name)); err != nil {
				return err
			}
		}
	}
	r := newResults(dir)
	for range rounds {
		if err := r.measure(all); err != nil {
			return err
		}
	}
	r.print()
	r.judge()
	return nil
}

// prepare builds this project's benchmark in dir, and writes the scripts there and, for
// each task, the result of our first iteration.
func prepare(dir string) error {
	if err := os.CopyFS(dir, scripts); err != nil {
		return err
	}
	build := exec.Command("go", "test", "-c", "-o", filepath.Join(dir, engine), "mars.dev/mars/stages/algorithms/adapt")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the engine's benchmark: %v: %s", err, out)
	}
	first := exec.Command(filepath.Join(dir, engine), "-test.run", "^TestFirstIteration$", "-first-iteration", dir)
	if out, err := first.CombinedOutput(); err != nil {
		return fmt.Errorf("the first iterations: %v: %s", err, out)
	}
	return nil
}
