package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/hedge"
)

// study appends the signs of the tasks of folders to a file, a JSON line a task. It leaves out those that the
// file has, so that a second run goes on.
func study(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("study: give a file of signs and folders of tasks\n%s", usage)
	}
	path := args[0]
	done, err := studied(path)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, folder := range args[1:] {
		list, err := readList(folder)
		if err != nil {
			return err
		}
		for _, row := range list {
			if done[row[0]] {
				continue
			}
			t, err := readTask(folder, row)
			if err != nil {
				return err
			}
			seen, err := look(context.Background(), t)
			if err != nil {
				fmt.Fprintf(os.Stderr, "fitgate: %s: %v: left out\n", t.Name, err)
				continue
			}
			line, err := json.Marshal(seen)
			if err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
			done[row[0]] = true
		}
	}
	return out.Close()
}

// studied are the names of the tasks that a file of signs has.
func studied(path string) (map[string]bool, error) {
	done := make(map[string]bool)
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	tasks, err := readSigns(bufio.NewReader(in), path)
	for _, t := range tasks {
		done[t.Name] = true
	}
	return done, err
}

// readList reads tasks.csv: a name, a kind and a family a row.
func readList(folder string) ([][]string, error) {
	path := filepath.Join(folder, "tasks.csv")
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := csv.NewReader(in)
	r.FieldsPerRecord = 3
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: is empty: make the tasks again", path)
	}
	return rows[1:], nil
}

func readTask(folder string, row []string) (task, error) {
	path := filepath.Join(folder, row[0]+".task")
	in, err := os.Open(path)
	if err != nil {
		return task{}, err
	}
	defer in.Close()
	t, err := read(bufio.NewReader(in))
	if err != nil {
		return task{}, fmt.Errorf("%s: %w", path, err)
	}
	t.Name, t.Kind, t.Family = row[0], row[1], row[2]
	return t, nil
}

// look answers a task as the default does, and returns what was seen and what is true.
func look(ctx context.Context, t task) (gate.Task, error) {
	names, labels, truth := t.known()
	m, err := hedge.Fit(ctx, hedge.Problem{Source: t.Source, Labels: labels, Target: t.Target, Classes: names},
		hedge.Options{KeepAll: true, Interval: &hedge.IntervalOptions{}})
	if err != nil {
		return gate.Task{}, err
	}
	g := gate.Task{Name: t.Name, Kind: t.Kind, Family: t.Family, Signs: m.Signs(), Truth: make([]float64, len(names)), Sampling: m.Sampling}
	for _, y := range truth {
		if y >= 0 {
			g.Truth[y] += 1 / float64(len(truth))
		}
	}
	posteriors, err := m.Posteriors(ctx, m.Prepare(t.Target))
	if err != nil {
		return gate.Task{}, err
	}
	for _, p := range posteriors {
		wrong := 0
		for i, y := range adapt.Argmax(p) {
			if y != truth[i] {
				wrong++
			}
		}
		g.Wrong = append(g.Wrong, float64(wrong)/float64(len(truth)))
	}
	shorten(&g)
	return g, nil
}

// known returns the classes of which the source has rows, and the labels among them: −1 of a target row of another.
func (t task) known() (names []string, labels, truth []int32) {
	number := make([]int32, t.Classes)
	for k, n := range count(t.Labels, t.Classes) {
		if number[k] = -1; n > 0 {
			number[k] = int32(len(names))
			names = append(names, strconv.Itoa(k))
		}
	}
	renumber := func(old []int32) []int32 {
		all := make([]int32, len(old))
		for i, y := range old {
			all[i] = number[y]
		}
		return all
	}
	return names, renumber(t.Labels), renumber(t.Truth)
}

// shorten rounds all numbers to four digits, so that files of signs are small.
func shorten(t *gate.Task) {
	p := &t.Problem
	for _, x := range []*float64{&p.Separation, &p.Misfit, &p.Change, &p.Novelty, &p.New, &p.Distance, &p.Rival} {
		*x = short(*x)
	}
	for i := range t.Views {
		v := &t.Views[i]
		for _, x := range []*float64{&v.Apart, &v.Beyond, &v.Blurred, &v.Doubt, &v.Members, &v.Trees} {
			*x = short(*x)
		}
		v.Proportions = shortAll(v.Proportions)
		t.Disagree[i] = shortAll(t.Disagree[i])
	}
	t.Prior, t.Truth, t.Wrong, t.Sampling = shortAll(t.Prior), shortAll(t.Truth), shortAll(t.Wrong), shortAll(t.Sampling)
}

func shortAll(x []float64) []float64 {
	all := make([]float64, len(x))
	for i, v := range x {
		all[i] = short(v)
	}
	return all
}

func short(x float64) float64 {
	s, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return s
}
