package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

//go:embed blas.py
var pythonServer string

// contender is a running process that times products. It answers a line
// "bits transA transB m n k threads operands" with the seconds of its fastest repetition.
type contender struct {
	name, about string
	command     *exec.Cmd
	ask         io.WriteCloser
	answers     *bufio.Scanner
}

// start starts every contender that runs on this machine.
func start(python string) ([]*contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	own := func(name string, env ...string) *contender {
		return launch(name, env, self, "-serve", name)
	}
	py := func(name, library string, env ...string) *contender {
		env = append(env, "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OMP_NUM_THREADS=1")
		return launch(name, env, python, "-c", pythonServer, library)
	}
	all := []*contender{
		own("peak"),
		own("gonum"),
		own("avx2", "MARS_KERNEL=avx2"),
		own("avx512", "MARS_KERNEL=avx512"),
		own("neon", "MARS_KERNEL=neon"),
		own("netlib", "OPENBLAS_NUM_THREADS=1"),
		py("openblas", "numpy"),
		py("haswell", "numpy", "OPENBLAS_CORETYPE=Haswell"),
		py("mkl", "torch"),
	}
	present := all[:0]
	for _, c := range all {
		if c != nil {
			present = append(present, c)
		}
	}
	return present, nil
}

// launch starts a contender and reads its first line, which says what it is. It
// returns nil if the contender does not run on this machine.
func launch(name string, env []string, program string, args ...string) *contender {
	c := &contender{name: name, command: exec.Command(program, args...)}
	c.command.Env = append(os.Environ(), env...)
	ask, err := c.command.StdinPipe()
	if err != nil {
		return nil
	}
	answers, err := c.command.StdoutPipe()
	if err != nil || c.command.Start() != nil {
		return nil
	}
	c.ask, c.answers = ask, bufio.NewScanner(answers)
	if !c.answers.Scan() {
		c.command.Wait()
		return nil
	}
	c.about = strings.TrimSpace(c.answers.Text())
	return c
}

// seconds asks for one product. 0 means that there was no answer.
func (c *contender) seconds(q question) float64 {
	fmt.Fprintln(c.ask, q.bits, q.transA, q.transB, q.m, q.n, q.k, q.threads, q.operands)
	var s float64
	if c.answers.Scan() {
		fmt.Sscan(c.answers.Text(), &s)
	}
	return s
}

func stop(all []*contender) {
	for _, c := range all {
		c.ask.Close()
		c.command.Wait()
	}
}

// processor is the name of the CPU, if the system tells it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
