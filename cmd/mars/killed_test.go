//go:build unix

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A long run asks for more: make robust.
var times = flag.Int("times", 1, "how often each command is killed, and how often interrupted")

// writers are commands that write, in an order in which each finds its inputs. Those that a
// command keeps to go on from, or writes piece by piece, stand behind the bar, and what goes on
// where the first of them is there behind the second one.
const writers = `
featurize toy --source-rows 600 --target-rows 600 --truth -o toy.arrow
featurize --source s.csv --target t.csv --label label --standardize source --save prepared.state -o rows.arrow
embed --epochs 3 --save embed.safetensors -o embedded.arrow rows.arrow
cluster --components 5 --save components.state -o clustered.arrow embedded.arrow
match --save matching.state -o matched.arrow clustered.arrow
reweight --save weights.state -o weighted.arrow matched.arrow
train --method source --epochs 6 --checkpoint train.ckpt --checkpoint-every 1 --save network.safetensors -o trained.arrow toy.arrow | train.ckpt | mars train --method source --epochs 6 --checkpoint train.ckpt --checkpoint-every 1 --resume --save network.safetensors -o trained.arrow toy.arrow
train --method source --epochs 4 --metrics metrics.arrows -o measured.arrow toy.arrow
eval --json -o eval.json --report eval.html trained.arrow
label --source s.csv --target t.csv --label label --save model.safetensors --summary summary.json --report labels.html -o labels.csv
proportions --source s.csv --target t.csv --label label --report shares.html --json -o shares.json
ask --source s.csv --target t.csv --label label --report ask.html -o ask.csv
predict --model model.safetensors --target s.csv --keep label -o predicted.csv
predict --model model.safetensors --target t.csv -o predicted.parquet
check predicted.csv --label label --reference predicted.csv --report check.html -o check.csv
watch --model model.safetensors --window 300 --checkpoint watch.state -o windows.csv <t.csv | watch.state windows.csv | sh watch.sh
sketch t.csv -o t.sketch.arrow
merge t.sketch.arrow -o merged.sketch.arrow
respond --model model.safetensors --target t.csv -o sums.arrow
export model.safetensors --to onnx -o model.onnx
export network.safetensors --to torch -o network.py
plot shares.json -o shares.svg
report shares.json -o page.html
share shared | shared
`

// watchOn gives mars watch the rows that its checkpoint lacks.
const watchOn = `
watch() { mars watch --model model.safetensors --window 300 --checkpoint watch.state -o windows.csv; }
n=$(head -1 t.csv | watch 2>&1 | sed -n 's/.*going on after \([0-9]*\) row.*/\1/p')
(head -1 t.csv; tail -n +$((n + 2)) t.csv) | watch
`

// A writer is a command that writes, as it ran when nothing ended it.
type writer struct {
	args, goesOn string
	grows        []string
	inputs, made []string
	took         time.Duration
}

// Commands that are killed or interrupted at any moment leave their outputs whole or not at all,
// say that they have failed, and, run again in the same folder, end in the same bytes.
func TestEndedWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	whole := t.TempDir()
	commands := runWriters(t, whole)
	for k, end := range []struct {
		name   string
		signal []syscall.Signal
	}{{"killed", []syscall.Signal{syscall.SIGKILL}}, {"interrupted", []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}}} {
		t.Run(end.name, func(t *testing.T) {
			rng, atWork, all, longest := rand.New(rand.NewPCG(33, uint64(k))), 0, 0, time.Duration(0)
			for range *times {
				for i, w := range commands {
					took, ended := w.end(t, whole, end.signal[i%len(end.signal)], time.Duration(rng.Int64N(int64(w.took))))
					if all++; ended {
						atWork++
						longest = max(longest, took)
					}
				}
			}
			t.Logf("%d of %d commands were %s at work, the last to end after %v", atWork, all, end.name, longest)
			if atWork < all/3 {
				t.Errorf("only %d of %d were", atWork, all)
			}
		})
	}
}

// runWriters runs all in a folder.
func runWriters(t *testing.T, dir string) (all []writer) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 0))
	drawn(rng, 1500, []float64{.4, .3, .3}, nothingCentres).write(t, filepath.Join(dir, "s.csv"), true)
	drawn(rng, 1500, nothingShares, nothingCentres).write(t, filepath.Join(dir, "t.csv"), false)
	if err := os.WriteFile(filepath.Join(dir, "watch.sh"), []byte(watchOn), 0o600); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimSpace(writers)) {
		part := strings.Split(strings.TrimSpace(line)+"||", "|")
		w := writer{args: "exec mars " + strings.TrimSpace(part[0]), grows: strings.Fields(part[1]), goesOn: strings.TrimSpace(part[2]), inputs: files(t, dir)}
		began := time.Now()
		if out, err := shell(dir, w.args).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", w.args, err, out)
		}
		w.took = time.Since(began)
		w.made = slices.DeleteFunc(files(t, dir), func(name string) bool { return slices.Contains(w.inputs, name) })
		all = append(all, w)
	}
	return all
}

func shell(dir, line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "MARS_CACHE=none")
	return cmd
}

// mayGrow says whether a file is written piece by piece, or in a folder that is.
func (w writer) mayGrow(name string) bool {
	return slices.ContainsFunc(w.grows, func(grows string) bool { return name == grows || strings.HasPrefix(name, grows+"/") })
}

// end runs the command anew, ends it by a signal, looks at what is left, and runs it again. It
// returns how long it still worked, and whether it was at work.
func (w writer) end(t *testing.T, whole string, signal syscall.Signal, after time.Duration) (took time.Duration, ended bool) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range w.inputs {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777), os.Link(filepath.Join(whole, name), filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	cmd := shell(dir, w.args)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	took = end(t, cmd, signal)
	if ended = !cmd.ProcessState.Success(); !ended {
		w.compare(t, whole, dir, "it ended by itself", w.made)
		return took, false
	}
	what := fmt.Sprintf("%s, %v after %v", w.args, signal, after)
	if code := cmd.ProcessState.ExitCode(); code != 130 && code != -1 { // before main begins, a signal ends it as it does any program
		t.Errorf("%s: status %d\n%s", what, code, log.String())
	}
	if took > 3*time.Second { // it is a tenth of that where nothing else runs
		t.Errorf("%s: it works for %v more", what, took)
	}
	var left []string
	for _, name := range files(t, dir) {
		switch temporary := strings.Contains(name, ".mars-"); {
		case slices.Contains(w.inputs, name) || w.mayGrow(name) || signal == syscall.SIGKILL && temporary:
		case !slices.Contains(w.made, name):
			t.Errorf("%s: leaves %s", what, name)
		case signal != syscall.SIGKILL && len(w.made) == 1:
			t.Errorf("%s: status 130, and %s is there", what, name)
		default:
			left = append(left, name)
		}
	}
	w.compare(t, whole, dir, what, left)
	again := w.args
	if w.goesOn != "" && slices.Contains(files(t, dir), w.grows[0]) {
		again = w.goesOn
	}
	if out, err := shell(dir, again).CombinedOutput(); err != nil {
		t.Errorf("%s, and again: %v\n%s", what, err, out)
	}
	w.compare(t, whole, dir, what+", and again", w.made)
	return took, true
}

// compare compares files with those of the command that nothing ended.
func (w writer) compare(t *testing.T, whole, dir, what string, names []string) {
	t.Helper()
	for _, name := range names {
		if name == "watch.state" { // it says how many lines the last input had
			continue
		}
		want, err := os.ReadFile(filepath.Join(whole, name))
		got, err2 := os.ReadFile(filepath.Join(dir, name))
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(madeOn.ReplaceAll(got, nil), madeOn.ReplaceAll(want, nil)) {
			t.Errorf("%s: %s differs, or is missing (%v)", what, name, err)
		}
	}
}

// files are the names of all files below a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
