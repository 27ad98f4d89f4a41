package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"mars.dev/mars/stages/algorithms/validate"
	"mars.dev/mars/stages/featurize/toy"
)

// A result is what came of a candidate on a task. The forward score, which needs the
// target's labels, is for the report alone.
type result struct {
	Method  string  `json:"method"`
	Knobs   string  `json:"knobs"`
	Task    string  `json:"task"`
	Fresh   bool    `json:"fresh"` // not for choosing
	Reverse float64 `json:"reverse"`
	Forward float64 `json:"forward"`
	Seconds float64 `json:"seconds"` // of processors
}

// A lab runs candidates and keeps what came of them.
type lab struct {
	mars, path string
	rows       int
	places     chan struct{}

	mu   sync.Mutex
	done map[string]result
}

func (r result) key() string { return r.Method + "\x00" + r.Knobs + "\x00" + r.Task }

func (l *lab) open() error {
	l.done = map[string]result{}
	file, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	for d := json.NewDecoder(file); ; {
		var r result
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		l.done[r.key()] = r
	}
}

func (l *lab) result(ctx context.Context, m method, c candidate, t task) (result, error) {
	r := result{Method: m.name, Knobs: c.String(), Task: t.String(), Fresh: t.seed >= freshTasks[0].seed}
	l.mu.Lock()
	old, ok := l.done[r.key()]
	l.mu.Unlock()
	if ok {
		return old, nil
	}
	if err := l.measure(ctx, m.arguments(c), t, &r); err != nil {
		return r, err
	}
	return r, l.keep(r)
}

// keep adds a result to the file, if it is not there.
func (l *lab) keep(r result) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.done[r.key()]; ok {
		return nil
	}
	l.done[r.key()] = r
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	return json.NewEncoder(file).Encode(r)
}

// measure trains there and, unless the task is for the report, back.
func (l *lab) measure(ctx context.Context, args []string, t task, r *result) error {
	folder, err := os.MkdirTemp("", "choose")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	source, target, err := toy.Generate(ctx, toy.Options{Noise: toy.Noise(t.noise), Shift: t.shift, TargetProportions: t.shares, SourceRows: l.rows, TargetRows: l.rows, Seed: t.seed})
	if err != nil {
		return err
	}
	labels, err := l.label(ctx, args, folder, source, target, r)
	if err != nil || labels == nil {
		return err
	}
	if r.Forward = validate.BalancedAccuracy(labels, target.Labels, toy.Classes); r.Fresh {
		return nil
	}
	target.Labels = labels
	back, err := l.label(ctx, args, folder, target, source, r)
	if err == nil && back != nil {
		r.Reverse = validate.BalancedAccuracy(back, source.Labels, toy.Classes)
	}
	return err
}

// diverged is the exit status of a training that did.
const diverged = 3

// label trains on one sample and labels the other; no labels if the training diverged, or
// lacks a class.
func (l *lab) label(ctx context.Context, args []string, folder string, from, to toy.Sample, r *result) ([]int32, error) {
	if len(classes(from.Labels)) < toy.Classes {
		return nil, nil
	}
	source, target, rows, out := filepath.Join(folder, "source.csv"), filepath.Join(folder, "target.csv"), filepath.Join(folder, "rows.arrow"), filepath.Join(folder, "labels.csv")
	for path, sample := range map[string]toy.Sample{source: from, target: to} {
		if err := write(path, sample, path == source); err != nil {
			return nil, err
		}
	}
	if text, err := exec.CommandContext(ctx, l.mars, "featurize", "-q", "--source="+source, "--target="+target, "--label=class", "-o", rows).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	cmd := exec.CommandContext(ctx, l.mars, append(args[:len(args):len(args)], rows, "-o", out)...)
	text, err := cmd.CombinedOutput()
	r.Seconds += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if cmd.ProcessState.ExitCode() == diverged {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return readLabels(out)
}

func write(path string, s toy.Sample, labelled bool) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	fmt.Fprint(w, "x,y")
	if labelled {
		fmt.Fprint(w, ",class")
	}
	for i, label := range s.Labels {
		fmt.Fprintf(w, "\n%v,%v", s.X.Data[i*s.X.Stride], s.X.Data[i*s.X.Stride+1])
		if labelled {
			fmt.Fprintf(w, ",%d", label)
		}
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

func readLabels(path string) (labels []int32, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("no labels: %w", err)
	}
	for _, row := range rows[1:] {
		label, err := strconv.Atoi(row[1])
		if err != nil {
			return nil, err
		}
		labels = append(labels, int32(label))
	}
	return labels, nil
}

func classes(labels []int32) map[int32]bool {
	found := map[int32]bool{}
	for _, label := range labels {
		found[label] = true
	}
	return found
}
