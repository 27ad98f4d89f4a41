//go:build unix

// Package limits reads inputs that are far larger than --memory-limit, or claim to be, as
// source, as target and as both, and prints how much memory and time that took. It fails if the
// peak is more than 1.15 times the limit and 40 MB, or the error does not say what to do.
//
// Each format is read in each compression, and then as many shapes as -shapes says, of which a
// seed chooses the format, the compression, what is long in them, and how long.
package limits

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mars.dev/mars/cmd/internal/bench/cost"
)

const (
	mega     = 1 << 20
	limit    = 64 * mega // so that inputs are made fast
	factor   = 1.15
	itself   = 40 * mega        // what the program itself takes
	patience = 10 * time.Minute // of a command, on a machine with other work
	huge     = 3                // times the limit is the content of an input of the table
	least    = mega             // bytes of content of those of the seed, at least
	most     = 256 * mega       // and at most
)

// A job is an input in a compression.
type job struct {
	shape
	compression string // an extension, "" for none
	bytes       int64  // of content
}

// Flags adds those of the benchmark, and returns what runs it with the program mars that find finds. It
// calls bench limits itself with the flag -make, for which no program is needed.
func Flags(flags *flag.FlagSet) (run func(find func() (mars string, err error)) error) {
	seed := flags.Uint64("seed", 1, "chooses the shapes")
	shapes := flags.Int("shapes", 100, "how many the seed chooses")
	whole := flags.Bool("table", true, "read each format in each compression first")
	only := flags.String("only", "", "only inputs whose name has this text")
	file := flags.String("make", "", "write one input to this file, as the program calls itself")
	return func(find func() (string, error)) error {
		if *file != "" {
			size, err := strconv.ParseInt(flags.Arg(1), 10, 64)
			if err != nil {
				return err
			}
			return create(*file, named(flags.Arg(0)), size)
		}
		mars, err := find()
		if err != nil {
			return err
		}
		jobs := chosen(*seed, *shapes)
		if *whole {
			jobs = append(table(), jobs...)
		}
		return measure(mars, jobs, *only)
	}
}

// table is every shape without a compression, and the first of each format in every one.
func table() (jobs []job) {
	before := ""
	for _, s := range shapes {
		for k, c := range compressions {
			if k == 0 || s.format != before {
				jobs = append(jobs, job{s, c, huge * limit})
			}
		}
		before = s.format
	}
	return jobs
}

// chosen are shapes of a seed, in sizes of which the logarithm is uniform.
func chosen(seed uint64, n int) (jobs []job) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		size := least * math.Pow(most/least, rng.Float64())
		jobs = append(jobs, job{shapes[rng.IntN(len(shapes))], compressions[rng.IntN(len(compressions))], int64(size)})
	}
	return jobs
}

func measure(mars string, jobs []job, only string) error {
	dir, err := os.MkdirTemp("", "mars-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("| input | content | file | peak | of the bound | time | end |\n|---|---|---|---|---|---|---|\n")
	failed := 0
	for i, j := range jobs {
		if !strings.Contains(j.name()+j.compression, only) {
			continue
		}
		if err := j.measure(mars, dir, i); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d inputs failed", failed)
	}
	return nil
}

// measure reads an input in the three ways and prints a row of the table.
func (j job) measure(mars, dir string, i int) error {
	path := filepath.Join(dir, fmt.Sprintf("%d.%s%s", i, j.format, j.compression))
	defer os.Remove(path)
	// In a process of its own: the peak of a process counts as that of those which it starts.
	if out, err := exec.Command(os.Args[0], "limits", "-make", path, j.name(), strconv.FormatInt(j.bytes, 10)).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", path, err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	right := filepath.Join(dir, "right."+j.right())
	if err := os.WriteFile(right, []byte(rightRows[j.right()]), 0o600); err != nil {
		return err
	}
	var worst outcome
	for _, sides := range [][2]string{{path, right}, {right, path}, {path, path}} {
		o, err := read(mars, dir, sides[0], sides[1])
		if err != nil {
			return fmt.Errorf("%s%s of %d MB: %w", j.name(), j.compression, j.bytes/mega, err)
		}
		worst = worst.and(o)
	}
	bound := factor*limit + itself
	fmt.Printf("| %s | %d MB | %s | %d MB | %.2f | %.1f s | %s |\n", j.what+compressedAs(j.compression), j.bytes/mega, size(info.Size()),
		worst.peak/mega, float64(worst.peak)/bound, worst.took.Seconds(), worst.end)
	if float64(worst.peak) > bound {
		return fmt.Errorf("%s%s of %d MB: the peak of %d MB is more than the bound of %.0f MB", j.name(), j.compression, j.bytes/mega, worst.peak/mega, bound/mega)
	}
	return nil
}

func size(n int64) string {
	if n < mega {
		return fmt.Sprintf("%d KB", (n+1023)/1024)
	}
	return fmt.Sprintf("%d MB", n/mega)
}

func compressedAs(extension string) string {
	if extension == "" {
		return ""
	}
	return ", " + extension
}

// An outcome is what reading took.
type outcome struct {
	peak int64
	took time.Duration // of processors
	end  string
}

// and is the worse of two.
func (o outcome) and(p outcome) outcome {
	if o.end == "" || o.end == "read" || p.end == "refused" {
		o.end = p.end
	}
	o.peak, o.took = max(o.peak, p.peak), max(o.took, p.took)
	return o
}

// read has the rows of both sides read.
func read(mars, dir, source, target string) (outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, mars, "featurize", "-q", "--memory-limit", strconv.Itoa(limit),
		"--source", source, "--target", target, "-o", filepath.Join(dir, "out.arrow"))
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	start := time.Now()
	err := cmd.Run()
	c := cost.Since(start, cmd.ProcessState)
	o := outcome{int64(c.Peak * mega), time.Duration(c.Processors * float64(time.Second)), "read"}
	switch text := stderr.String(); {
	case ctx.Err() != nil:
		return o, fmt.Errorf("no end in %v", patience)
	case cmd.ProcessState.ExitCode() == 2 && strings.Contains(text, "goroutine") || cmd.ProcessState.ExitCode() < 0:
		return o, fmt.Errorf("crashed: %.200s", text)
	case err != nil && strings.Contains(text, "--memory-limit"):
		o.end = "refused"
	case err != nil:
		o.end = "refused for another reason"
	}
	return o, nil
}
