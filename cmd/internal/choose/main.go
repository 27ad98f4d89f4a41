// Command choose picks each method's settings without a label of a target: by reverse
// cross-validation, on draws and settings of the toy that no table of the pages uses. A
// candidate is trained on the source, labels the target, is trained back from these labels,
// and scored by how many of the source's own labels it brings back. Of the candidates that
// are within a standard error of the best, the cheapest is taken. It then reports what the
// default and the choice come to on fresh seeds of the tables' settings.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	var l lab
	flag.StringVar(&l.mars, "mars", "mars", "the program")
	flag.StringVar(&l.path, "results", "choices.jsonl", "keep what is done in this file, and go on from there")
	flag.IntVar(&l.rows, "rows", 3000, "rows of each domain")
	only := flag.String("methods", "", "choose for these methods alone, apart by commas")
	jobs := flag.Int("jobs", 2, "trainings at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &l, *only, *jobs); err != nil {
		fmt.Fprintln(os.Stderr, "choose:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, l *lab, only string, jobs int) error {
	l.places = make(chan struct{}, jobs)
	if err := l.open(); err != nil {
		return err
	}
	for _, m := range methods {
		if only != "" && !strings.Contains(","+only+",", ","+m.name+",") {
			continue
		}
		chosen, err := l.search(ctx, m)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", m.name, chosen)
		if err := l.keep(result{Method: m.name, Knobs: chosen.String(), Task: "chosen"}); err != nil {
			return err
		}
		for _, c := range []candidate{start(m), chosen} {
			if _, err := l.try(ctx, m, c, freshTasks); err != nil {
				return err
			}
		}
	}
	return nil
}

// A task is a draw of the toy.
type task struct {
	noise  string
	shift  float64
	shares []float64
	seed   uint64
}

func (t task) String() string {
	return fmt.Sprintf("%s %g %v seed %d", t.noise, t.shift, t.shares, t.seed)
}

// choosingTasks are what settings are chosen on: no table has these shifts, shares and
// seeds.
var choosingTasks = []task{
	{"mid", 7, []float64{0.2, 0.2, 0.6}, 101},
	{"mid", 9, []float64{0.7, 0.2, 0.1}, 102},
	{"high", 6, []float64{0.5, 0.25, 0.25}, 103},
}

// freshTasks are the tables' settings with seeds that nothing was chosen on.
var freshTasks = []task{
	{"mid", 8, []float64{0.66, 0.17, 0.17}, 200}, {"mid", 8, []float64{0.66, 0.17, 0.17}, 201}, {"mid", 8, []float64{0.66, 0.17, 0.17}, 202},
	{"mid", 5, []float64{0.8, 0.1, 0.1}, 203}, {"mid", 8, []float64{0.34, 0.33, 0.33}, 204}, {"high", 8, []float64{0.66, 0.17, 0.17}, 205},
}

// A method is one of mars train, with the knobs that it has.
type method struct {
	name  string
	flags []string
	knobs []string
}

var (
	alignment = []string{"epochs", "learning-rate", "lambda", "critic-steps", "class-loss"}
	methods   = []method{
		{"source", []string{"--method=source"}, []string{"epochs", "learning-rate"}},
		{"marsc", []string{"--method=marsc"}, append(alignment[:5:5], "reestimate-every")},
		{"marsg", []string{"--method=marsg"}, append(alignment[:5:5], "reestimate-every")},
		{"iw-wd", []string{"--method=iw-wd"}, append(alignment[:5:5], "reestimate-every")},
		{"wd1", []string{"--method=wd", "--beta=1"}, alignment[:4]},
		{"dann", []string{"--method=dann"}, []string{"epochs", "learning-rate", "lambda"}},
	}
	// knobs are what may be chosen: the first value is where the search begins.
	knobs = map[string][]string{
		"epochs": {"40", "20"}, "learning-rate": {"0.05", "0.02"}, "lambda": {"1", "0.3", "3"},
		"critic-steps": {"5", "2", "10"}, "class-loss": {"weighted", "balanced"}, "reestimate-every": {"10", "3"},
	}
)

// A candidate is a value of each knob of a method.
type candidate []string

// start is the candidate that the search begins with.
func start(m method) (c candidate) {
	for _, k := range m.knobs {
		c = append(c, knobs[k][0])
	}
	return c
}

func (m method) arguments(c candidate) []string {
	args := append([]string{"train", "-q", "--arch=toy", "--schedule=default", "--jobs=1"}, m.flags...)
	for i, k := range m.knobs {
		args = append(args, "--"+k+"="+c[i])
	}
	return args
}

func (c candidate) String() string { return strings.Join(c, " ") }
