package cli

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// An interruption counts wherever it is asked for: that is the error of the command, and of its files none is left that is not whole, but for checkpoints.
// Each place from which a command asks, with all that has called it, is tried once.
func TestInterruptedAnywhere(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("MARS_CACHE", "none")
	writeMutatedTables(t)
	tried := map[uint64]bool{}
	for line := range strings.Lines(strings.TrimSpace(interruptedCommands)) {
		line = strings.TrimSpace(line)
		written := filesOf(t, nil) // by the commands before
		asks := &asked{Context: t.Context(), done: make(chan struct{})}
		if log, err := asks.command(line); err != nil {
			t.Fatalf("mars %s: %v\n%s", line, err, log)
		}
		made := filesOf(t, written)
		for _, at := range asks.places {
			if tried[at] {
				continue
			}
			tried[at] = true
			for name := range made {
				if err := os.Rename(name, name+".whole"); err != nil {
					t.Fatal(err)
				}
			}
			asks := &asked{Context: t.Context(), done: make(chan struct{}), interrupt: at}
			log, err := asks.command(line)
			switch left := filesOf(t, written); {
			case asks.trace == "": // it was not asked there this time
			case !errors.Is(err, context.Canceled):
				t.Errorf("mars %s: interrupted, and the error is %v\n%s%s", line, err, log, asks.trace)
			default:
				for name := range left {
					if strings.HasSuffix(name, ".whole") || strings.HasSuffix(name, ".checkpoint") {
						continue
					}
					if got, whole := size(name), size(name+".whole"); got != whole {
						t.Errorf("mars %s: interrupted, and %s is left, of %d bytes, where %d would be whole\n%s", line, name, got, whole, asks.trace)
					}
				}
			}
			for name := range made {
				if err := os.Rename(name+".whole", name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d places", len(tried))
}

// interruptedCommands are of all stages, each with the files of those before.
const interruptedCommands = `
label --source source.csv --target target.csv --label kind --save hedge.safetensors -o labels.csv
label --source source.csv --target target.csv --label kind --method source --epochs 1 --save networks.safetensors -o labels2.csv
proportions --source source.csv --target target.csv --label kind -o shares.csv
proportions --source source.csv --target target.csv --label kind --method mte -o shares2.json
proportions --source source.csv --target target.csv --label kind --method unmix --columns a,b -o shares3.json
ask --source source.csv --target target.csv --label kind --budget 5 -o ask.csv
predict --model hedge.safetensors target.csv -o again.arrow
predict --model networks.safetensors target.csv -o again2.arrow
export hedge.safetensors --to onnx -o hedge.onnx
export networks.safetensors --to torch --prepared -o networks.py
watch --model hedge.safetensors --window 30 --checkpoint watch.checkpoint -o windows.csv target.csv
predict --model hedge.safetensors --target source.csv --keep kind,a,b -o reference.csv
predict --model hedge.safetensors target.csv --keep a,b -o today.csv
check today.csv --reference reference.csv --label kind --window 30 -o checked.csv
check today.csv --reference reference.csv --label kind --columns a,b -o checked.json
featurize --source source.csv --target target.csv --label kind --standardize source --save prepared.state -o rows.arrow
featurize --target target.csv --load prepared.state -o rows2.arrow
featurize toy --source-rows 40 --target-rows 30 --shift 3 --target-proportions 0.6,0.3,0.1 --truth -o toy.arrow
embed --epochs 1 --save net.safetensors rows.arrow -o embedded.arrow
embed --method self-training --epochs 1 rows.arrow -o embedded2.arrow
cluster --method kmeans --components 4 --save components.state -o clustered.arrow embedded.arrow
cluster --method gmm -o clustered2.arrow embedded.arrow
cluster --method ward -o clustered3.arrow embedded.arrow
match --save matching.state -o matched.arrow clustered3.arrow
match --cost bures -o matched2.arrow clustered.arrow
reweight --save weights.state -o weighted.arrow matched.arrow
reweight --estimator mte -o weighted2.arrow matched.arrow
reweight --estimator refit -o weighted3.arrow matched.arrow
reweight --estimator marsg -o weighted4.arrow matched.arrow
train --method source --epochs 2 --checkpoint train.checkpoint -o trained.arrow rows.arrow
train --method marsc --epochs 2 --metrics metrics.arrow -o trained2.arrow weighted.arrow
train --method dann --epochs 2 -o trained3.arrow weighted.arrow
train --method self-training --epochs 2 -o trained4.arrow rows.arrow
train --method translate --epochs 2 -o trained5.arrow rows.arrow
train --method translate --select epochs=1,2 --metrics scores.arrow -o trained6.arrow rows.arrow
train --method gmm-ot -o trained7.arrow weighted.arrow
train --method hedge -o trained8.arrow rows.arrow
eval --scores trained2.arrow
inspect rows.arrow
view rows.arrow
plot embedded.arrow -o embedded.svg
plot tsne embedded.arrow --rows 40 -o tsne.svg
report labels.csv -o page.html
sketch --label kind source.csv -o source.sketch.arrow
sketch target.csv -o target.sketch.arrow
sketch source.csv --exclude kind -o more.sketch.arrow
merge target.sketch.arrow more.sketch.arrow -o both.sketch.arrow
respond --model hedge.safetensors --target target.csv -o sums.arrow
proportions --source source.sketch.arrow --target target.sketch.arrow -o shares4.csv
`

// asked is a context that knows from where it was asked whether it has ended, and ends where it is told to.
type asked struct {
	context.Context
	interrupt uint64

	mu     sync.Mutex
	places []uint64
	done   chan struct{}
	trace  string // of the place where it has ended
}

var placeSeed = maphash.MakeSeed()

func (a *asked) Done() <-chan struct{} { return a.done }

func (a *asked) Err() error {
	var callers [64]uintptr
	n := runtime.Callers(2, callers[:])
	frames := runtime.CallersFrames(callers[:n])
	var place maphash.Hash
	place.SetSeed(placeSeed)
	var trace strings.Builder
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "mars.dev/mars/cmd/internal/cli.guarded" {
			break
		}
		maphash.WriteComparable(&place, f.PC)
		trace.WriteString(f.Function + "\n")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.trace != "" {
		return context.Canceled
	}
	at := place.Sum64()
	if !slices.Contains(a.places, at) {
		a.places = append(a.places, at)
	}
	if at == a.interrupt {
		a.trace = trace.String()
		close(a.done)
		return context.Canceled
	}
	return nil
}

// command runs a command with the context itself: run gives it one that is made of that, and takes every error after an
// interruption for one.
func (a *asked) command(line string) (log string, err error) {
	var out bytes.Buffer
	cmd := Mars()
	cmd.SetArgs(strings.Fields(line))
	cmd.SetErr(&out)
	cmd.SetOut(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = guarded(func() error { return cmd.ExecuteContext(a) })
	return out.String(), err
}

// size is that of a file, or -1. (What is in two whole ones may differ by how long something took.)
func size(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return -1
	}
	return info.Size()
}

// filesOf are those of this folder that are not among others.
func filesOf(t *testing.T, but map[string]bool) map[string]bool {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	some := map[string]bool{}
	for _, e := range entries {
		if !but[e.Name()] {
			some[e.Name()] = true
		}
	}
	return some
}
