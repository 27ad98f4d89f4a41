package train

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"mars.dev/mars/internal/spelling"
)

// engine is the file name of this project's benchmark.
const engine = "adapt.test"

// A contender is a program that runs iterations with the given number of threads.
type contender struct {
	name    string // ours, PyTorch or JAX
	threads int
	// check compares the first iteration with ours, which is in the file.
	check func(k task, file string) error
	// measure returns the fastest iteration that it saw.
	measure func(k task) (measurement, error)
	stop    func()
}

type measurement struct {
	seconds     float64 // of the fastest way to write the iteration
	usual       float64 // of the usual way, 0 for ours
	allocations float64 // in an iteration, 0 for others than ours
}

// start starts the contenders that this machine has, and prints which it has not.
func start(dir, python string) []*contender {
	var all []*contender
	for threads := 1; threads <= maxThreads; threads++ {
		all = append(all, ours(dir, threads))
		for _, p := range []struct{ name, script string }{{"PyTorch", "with_torch.py"}, {"JAX", "with_jax.py"}} {
			c, err := launch(p.name, threads, python, filepath.Join(dir, p.script), fmt.Sprint(threads))
			if err != nil {
				fmt.Printf("%s is left out: %v\n", p.name, err)
				continue
			}
			all = append(all, c)
		}
	}
	return all
}

func stop(all []*contender) {
	for _, c := range all {
		c.stop()
	}
}

// pinned is a command that may use only as many processors as it has threads, if the
// system has taskset. A library's own limit does not apply to its helper threads.
func pinned(threads int, name string, args ...string) *exec.Cmd {
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		return exec.Command(name, args...)
	}
	return exec.Command(taskset, append([]string{"-c", fmt.Sprintf("0-%d", threads-1), name}, args...)...)
}

// ours runs this project's benchmark in a new process for every measurement.
func ours(dir string, threads int) *contender {
	measure := func(k task) (measurement, error) {
		figures, err := benchmark(dir, threads, fmt.Sprintf("^BenchmarkTraining$/^%s$/^jobs=%d$", k.name, threads), "min-ns", "allocs/op")
		if err != nil {
			return measurement{}, err
		}
		return measurement{seconds: figures[0] / 1e9, allocations: figures[1]}, nil
	}
	return &contender{
		name: "ours", threads: threads, measure: measure, stop: func() {},
		check: func(task, string) error { return nil }, // the file is ours
	}
}

// peak is the speed of multiply-adds of registers, summed over threads that run at once.
func peak(dir string, threads int) (float64, error) {
	figures, err := benchmark(dir, threads, fmt.Sprintf("^BenchmarkPeak$/^jobs=%d$", threads), "flop/s")
	if err != nil {
		return 0, err
	}
	return figures[0], nil
}

// benchmark runs one of this project's, and returns the numbers before the units.
func benchmark(dir string, threads int, name string, units ...string) (figures []float64, err error) {
	out, err := pinned(threads, filepath.Join(dir, engine), "-test.run", "^$", "-test.benchtime", "0.4s", "-test.bench", name).Output()
	if err != nil {
		return nil, fmt.Errorf("ours: %s: %w", name, err)
	}
	for _, unit := range units {
		v, ok := figure(out, unit)
		if !ok {
			return nil, fmt.Errorf("ours: %s printed no %s: %s", name, unit, out)
		}
		figures = append(figures, v)
	}
	return figures, nil
}

// figure finds the number before a unit in a benchmark's output.
func figure(out []byte, unit string) (float64, bool) {
	words := strings.Fields(string(out))
	for i, word := range words[:max(0, len(words)-1)] {
		if words[i+1] == unit {
			v, err := strconv.ParseFloat(word, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// server is a Python program that answers questions: see serve in tasks.py.
type server struct {
	name      string
	questions io.Writer
	answers   *bufio.Scanner
	errors    *bytes.Buffer
}

// launch starts a server and asks what it is.
func launch(name string, threads int, program string, args ...string) (*contender, error) {
	command := pinned(threads, program, args...)
	s := &server{name: name + ", " + spelling.Count(threads, "thread", "threads"), errors: new(bytes.Buffer)}
	command.Stderr = s.errors
	questions, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	s.questions, s.answers = questions, bufio.NewScanner(answers)
	about, err := s.ask("about")
	stop := func() { questions.Close(); command.Wait() }
	if err != nil {
		stop()
		return nil, err
	}
	fmt.Println(about)
	return &contender{name: name, threads: threads, check: s.check, measure: s.measure, stop: stop}, nil
}

func (s *server) ask(words ...string) (string, error) {
	fmt.Fprintln(s.questions, strings.Join(words, " "))
	if !s.answers.Scan() {
		lines := strings.Split(strings.TrimSpace(s.errors.String()), "\n")
		return "", fmt.Errorf("%s: no answer: %s", s.name, lines[len(lines)-1])
	}
	return s.answers.Text(), nil
}

// check prints how far the program's results are from ours. No more than rounding is
// allowed.
func (s *server) check(k task, file string) error {
	answer, err := s.ask("check", k.name, file)
	if err != nil {
		return err
	}
	var losses, parameters float64
	if _, err := fmt.Sscan(answer, &losses, &parameters); err != nil {
		return fmt.Errorf("%s: %s: answer %q: %w", s.name, k.name, answer, err)
	}
	fmt.Printf("%s, %s: losses within %.1g, changes of parameters within %.1g: %s\n", k.name, s.name, losses, parameters, strings.Join(strings.Fields(answer)[2:], " "))
	if !(losses < 1e-5 && parameters < 1e-3) {
		return fmt.Errorf("%s: %s: its iteration is not ours", s.name, k.name)
	}
	return nil
}

func (s *server) measure(k task) (measurement, error) {
	answer, err := s.ask("measure", k.name)
	if err != nil {
		return measurement{}, err
	}
	var m measurement
	_, err = fmt.Sscan(answer, &m.seconds, &m.usual)
	return m, err
}
