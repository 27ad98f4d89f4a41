//go:build unix

package limits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mars.dev/mars/cmd/internal/bench/cost"
)

// A reading is the program reading a source and a target.
type reading struct {
	mars, dir, source, target string
	limit                     int64
}

// idle is what the program may take itself: what it has when it does nothing, and some room.
func idle(mars string) (int64, error) {
	start, cmd := time.Now(), exec.Command(mars, "version")
	if err := cmd.Run(); err != nil {
		return 0, err
	}
	return int64(cost.Since(start, cmd.ProcessState).Peak*mega) + room, nil
}

// An outcome is what reading took.
type outcome struct {
	end   string
	peak  int64
	took  time.Duration // of processors
	wall  time.Duration
	after time.Duration // of processors, after the limit was reached, or the interrupt came
	late  time.Duration // on the clock, after the interrupt
}

// and is the worse of two with the same end.
func (o outcome) and(p outcome) outcome {
	return outcome{p.end, max(o.peak, p.peak), max(o.took, p.took), max(o.wall, p.wall), max(o.after, p.after), max(o.late, p.late)}
}

// never is the time of an interrupt that does not come.
const never = -1

// run reads all, or what it can until it is told to end after a time.
func (r reading) run(interrupt time.Duration) (outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stderr bytes.Buffer
	out := filepath.Join(r.dir, "out.arrow")
	cmd := exec.CommandContext(ctx, r.mars, "featurize", "-q", "--memory-limit", strconv.FormatInt(r.limit, 10),
		"--source", r.source, "--target", r.target, "-o", out)
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	defer os.Remove(out)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	seen := watch(cmd.Process.Pid)
	told := make(chan outcome, 1)
	if interrupt != never {
		defer time.AfterFunc(interrupt, func() {
			told <- outcome{wall: time.Since(start), took: sampleOf(cmd.Process.Pid).processors}
			cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
		}).Stop()
	}
	err := cmd.Wait()
	c := cost.Since(start, cmd.ProcessState)
	o := outcome{peak: int64(c.Peak * mega), took: time.Duration(c.Processors * float64(time.Second)), wall: time.Since(start)}
	o.after = max(o.took-seen().reached, 0)
	select {
	case then := <-told:
		o.late, o.after = max(o.wall-then.wall, 1), max(o.took-then.took, 0)
	default:
	}
	return o, errors.Join(o.name(ctx, cmd.ProcessState, err, stderr.String()), leftovers(r.dir, err))
}

// name says how it ended, and returns an error if it should not have ended so.
func (o *outcome) name(ctx context.Context, state *os.ProcessState, err error, text string) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("no end in %v", patience)
	case state.ExitCode() == 2 && strings.Contains(text, "goroutine") || state.ExitCode() < 0 && o.late == 0:
		return fmt.Errorf("crashed: %.200s", text)
	case err != nil && strings.Contains(text, "--memory-limit"):
		o.end = "refused"
	case err != nil && o.late > 0 && (state.ExitCode() < 0 || strings.Contains(text, "interrupt")):
		o.end = "interrupted"
	case err != nil:
		o.end = "refused for another reason"
	default:
		o.end = "read"
	}
	return nil
}

// leftovers returns an error if a command that failed has left an output, or a part of one.
func leftovers(dir string, failed error) error {
	left, _ := filepath.Glob(filepath.Join(dir, ".*.mars-*"))
	if _, err := os.Stat(filepath.Join(dir, "out.arrow")); err == nil && failed != nil {
		left = append(left, "out.arrow")
	}
	for _, path := range left {
		os.Remove(path)
	}
	if left != nil {
		return fmt.Errorf("has left %s", strings.Join(left, ", "))
	}
	return nil
}

// A sample is what a process had at a moment. All is 0 where the system does not say.
type sample struct {
	processors time.Duration // that it has taken
	memory     int64         // pages
	read       int64         // bytes
	reached    time.Duration // of processors, when it had about all of its memory and had read its last byte
}

// often is the time between two samples.
const often = 5 * time.Millisecond

// watch takes samples of a process until the function that it returns is called. That is the last,
// with what it took to reach the limit.
func watch(pid int) func() sample {
	stop, last := make(chan struct{}), make(chan sample)
	go func() {
		var all []sample
		for tick := time.Tick(often); ; {
			select {
			case <-tick:
				if s := sampleOf(pid); s.memory > 0 {
					all = append(all, s)
				}
			case <-stop:
				last <- reached(all)
				return
			}
		}
	}()
	return func() sample {
		close(stop)
		return <-last
	}
}

func reached(all []sample) sample {
	const nearly = 0.95
	var peak, end sample
	for _, s := range all {
		end, peak.memory = s, max(peak.memory, s.memory)
	}
	for _, s := range all {
		if float64(s.memory) >= nearly*float64(peak.memory) {
			peak.reached = s.processors
			break
		}
	}
	for _, s := range all {
		if s.read == end.read {
			end.reached = max(s.processors, peak.reached)
			break
		}
	}
	return end
}

// sampleOf reads what Linux says of a process in proc(5).
func sampleOf(pid int) (s sample) {
	const ticks = time.Second / 100
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third on
	number := func(text string) int64 {
		v, _ := strconv.ParseInt(text, 10, 64)
		return v
	}
	if len(fields) > 21 {
		s.processors, s.memory = time.Duration(number(fields[11])+number(fields[12]))*ticks, number(fields[21])
	}
	counts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if line, _, found := strings.Cut(string(counts), "\n"); found {
		s.read = number(strings.TrimSpace(strings.TrimPrefix(line, "rchar:")))
	}
	return s
}
