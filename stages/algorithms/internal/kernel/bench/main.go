// Bench prints the speed of matrix products, in GFLOP/s, of this project's
// kernels at each level, gonum, OpenBLAS and MKL, on the shapes that training
// and clustering use, beside the measured FMA peak of the core.
//
// Every contender is a process of its own that answers questions on its
// standard input. All are measured in turn within one run, so that other load
// on the machine affects all alike. The best time of all rounds counts. Each
// table ends with geometric means.
//
//	go run . [-rounds 5] [-python python3]
//	CGO_LDFLAGS=-lopenblas go run -tags netlib .    with the system's OpenBLAS too, through gonum's netlib
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	rounds := flag.Int("rounds", 5, "measurements of every product, of which the best counts")
	python := flag.String("python", "python3", "Python with NumPy (OpenBLAS) and, if possible, PyTorch (MKL)")
	serve := flag.String("serve", "", "answer questions as this contender (used by the program itself)")
	flag.Parse()
	if *serve != "" {
		serveContender(*serve)
		return
	}
	if err := run(*rounds, *python); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, python string) error {
	contenders, err := start(python)
	if err != nil {
		return err
	}
	defer stop(contenders)
	fmt.Printf("%s, %s/%s, %s\n", processor(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, c := range contenders {
		fmt.Printf("%-12s %s\n", c.name, c.about)
	}
	for _, precision := range []int{32, 64} {
		measure(contenders, questions(precision), rounds).print(precision)
	}
	printThreads(contenders, rounds)
	return nil
}
