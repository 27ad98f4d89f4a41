package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/hedge"
)

// readSigns reads what study wrote. name names the input in errors.
func readSigns(r io.Reader, name string) (tasks []gate.Task, err error) {
	d := json.NewDecoder(r)
	for {
		var t gate.Task
		switch err := d.Decode(&t); {
		case errors.Is(err, io.EOF):
			return tasks, nil
		case err != nil:
			return tasks, fmt.Errorf("%s: task %d: %w: study it again", name, len(tasks)+1, err)
		}
		tasks = append(tasks, t)
	}
}

// readAll reads files of signs, which may be compressed by gzip.
func readAll(paths []string) (tasks []gate.Task, err error) {
	for _, path := range paths {
		in, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		var r io.Reader = bufio.NewReader(in)
		if strings.HasSuffix(path, ".gz") {
			if r, err = gzip.NewReader(r); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		some, err := readSigns(r, path)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, some...)
	}
	return tasks, nil
}

// readBoth reads a gate, also as the bytes of its file, and files of signs: the arguments of a command.
func readBoth(command string, args []string) (g *gate.Gate, kept []byte, tasks []gate.Task, err error) {
	if len(args) < 2 {
		return nil, nil, nil, fmt.Errorf("%s: give the file of the gate and files of signs\n%s", command, usage)
	}
	if kept, err = os.ReadFile(args[0]); err != nil {
		return nil, nil, nil, err
	}
	if g, err = gate.Parse(kept); err != nil {
		return nil, nil, nil, err
	}
	tasks, err = readAll(args[1:])
	return g, kept, tasks, err
}

// fit fits a gate to files of signs and writes it, if that is asked for, and prints how good gates are from
// which a tenth of the families at a time was left out.
func fit(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("fit: give the file of the gate, or - for none, and files of signs\n%s", usage)
	}
	tasks, err := readAll(args[1:])
	if err != nil {
		return err
	}
	g, judged, err := fitAll(tasks)
	if err != nil {
		return err
	}
	report(os.Stdout, judged, g.Width)
	if args[0] == "-" {
		return nil
	}
	g.Made.Date = time.Now().UTC().Format(time.DateOnly)
	return write(g, args[0])
}

// judgeBy prints how good a gate is on files of signs, as of tasks that it was not fitted to.
func judgeBy(args []string) error {
	g, _, tasks, err := readBoth("judge", args)
	if err != nil {
		return err
	}
	report(os.Stdout, judge(g, tasks), g.Width)
	return nil
}

// check fails if a gate is not what files of signs give.
func check(args []string) error {
	old, kept, tasks, err := readBoth("check", args)
	if err != nil {
		return err
	}
	g, _, err := fitAll(tasks)
	if err != nil {
		return err
	}
	g.Made.Date = old.Made.Date
	if made, err := encode(g); err != nil || !bytes.Equal(made, kept) {
		return cmp.Or(err, fmt.Errorf("%s: is not what the signs give: make it again by fitgate fit", args[0]))
	}
	return nil
}

// encode writes a gate with four digits, which is more than its tasks tell.
func encode(g *gate.Gate) ([]byte, error) {
	for _, scales := range [][]gate.Scale{g.Problem, g.View, g.Answer} {
		for i := range scales {
			scales[i].Mean, scales[i].Deviation = short(scales[i].Mean), short(scales[i].Deviation)
		}
	}
	for i := range g.Views {
		shortLinear(&g.Views[i])
	}
	shortLinear(&g.Error)
	shortLinear(&g.Wrong)
	g.Shared, g.Width = shortAll(g.Shared), short(g.Width)
	data, err := json.MarshalIndent(g, "", "\t")
	return append(data, '\n'), err
}

func shortLinear(l *gate.Linear) { l.Constant, l.Signs = short(l.Constant), shortAll(l.Signs) }

func write(g *gate.Gate, path string) error {
	data, err := encode(g)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(path, data)
}

// A judged task is what a gate that did not know its family says of it.
type judged struct {
	gate.Task
	mean            []float64
	weights         []float64
	l1, wrong       float64 // true
	saidL1, saidBad float64 // expected
}

const folds = 10 // of families

// fitAll fits a gate to all tasks. Its width is that with which intervals hold where families are left out.
func fitAll(tasks []gate.Task) (*gate.Gate, []judged, error) {
	g, err := gate.Fit(tasks, gate.Options{})
	if err != nil {
		return nil, nil, err
	}
	all, err := leaveOut(tasks)
	if err != nil {
		return nil, nil, err
	}
	g.Width = width(all)
	families := make(map[string]bool)
	for _, t := range tasks {
		families[t.Family] = true
	}
	g.Made = gate.Made{Tasks: len(tasks), Families: len(families)}
	return g, all, nil
}

// leaveOut judges tasks by gates that their families had no part in.
func leaveOut(tasks []gate.Task) ([]judged, error) {
	var families []string
	for _, t := range tasks {
		if !slices.Contains(families, t.Family) {
			families = append(families, t.Family)
		}
	}
	all := make([][]judged, folds)
	err := each(folds, func(fold int) error {
		var known, left []gate.Task
		for _, t := range tasks {
			if slices.Index(families, t.Family)%folds == fold {
				left = append(left, t)
			} else {
				known = append(known, t)
			}
		}
		if len(left) == 0 || len(known) == 0 {
			return nil
		}
		g, err := gate.Fit(known, gate.Options{})
		if err != nil {
			return err
		}
		all[fold] = judge(g, left)
		return nil
	})
	return slices.Concat(all...), err
}

func judge(g *gate.Gate, tasks []gate.Task) (all []judged) {
	for _, t := range tasks {
		j := judged{Task: t, weights: g.Weights(t.Signs, nil)}
		j.mean = t.Mean(j.weights)
		j.l1, j.wrong = t.Off(j.mean), t.WrongLabels(j.weights)
		j.saidL1, j.saidBad = g.Expect(t.Signs, j.weights)
		all = append(all, j)
	}
	return all
}

// level is that of the intervals whose width is fitted.
const level = 0.9

// width is the factor of the expected error with which intervals of a level hold it, families counting alike.
func width(all []judged) float64 {
	low, high := 0.0, 10.0
	for range 30 {
		if middle := (low + high) / 2; held(all, middle) < level {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// held is the share of the intervals of this width that hold the truth, families counting alike.
func held(all []judged, width float64) float64 {
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	sums, counts := make(map[string]float64), make(map[string]float64)
	for _, j := range all {
		added := hedge.Spread(j.Signs, j.weights, width*j.saidL1)
		for k, p := range j.mean {
			if math.Abs(p-j.Truth[k]) <= z*math.Sqrt(j.Sampling[k]+added[k]) {
				sums[j.Family] += 1 / float64(len(j.mean))
			}
		}
		counts[j.Family]++
	}
	return meanOf(sums, counts)
}

func meanOf(sums, counts map[string]float64) (mean float64) {
	for _, family := range slices.Sorted(maps.Keys(counts)) {
		mean += sums[family] / counts[family] / float64(len(counts))
	}
	return mean
}
