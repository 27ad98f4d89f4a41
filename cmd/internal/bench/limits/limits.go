//go:build unix

// Package limits reads inputs that are far larger than --memory-limit, or claim to be, as
// source, as target and as both, and prints how much memory and time that took. It fails if the
// peak is more than 1.15 times the limit and what the program has itself, the error does not say what to do, a refusal takes
// more than two seconds of processors after the limit was reached, or an interrupt is not heeded
// within a second or leaves something.
//
// Each format is read in each compression, and then as many shapes as -shapes says, of which a
// seed chooses the format, the compression, what is long in them, how long, the limit, and which side
// they are. Each is read again, and interrupted after a part of its time that the seed chooses.
//
// What the program has itself is the peak of mars version and 10 MB, which is printed: 40 MB, and more where the
// system counts more of the program's file, as Linux does of a file that was just written in large pieces.
//
// The limit is taken to be reached when the process has 95 % of all the memory that it will have, and
// has read its last byte: what it takes from then on is at most that.
package limits

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	mega     = 1 << 20
	limit    = 64 * mega // so that inputs are made fast
	factor   = 1.15
	room     = 10 * mega        // what the program takes beside what it has when it does nothing
	patience = 10 * time.Minute // of a command, on a machine with other work
	huge     = 3                // times the limit is the content of an input of the table
	least    = mega / 16        // bytes of content of those of the seed, at least
	most     = 4                // times their limit, at most
	slow     = 2 * time.Second  // to refuse
	deaf     = time.Second      // to heed an interrupt
	worst    = 10               // of the seed's shapes that are named
)

// limits are those of the seed's shapes.
var limits = []int64{24 * mega, 32 * mega, 48 * mega, limit}

// A job is an input in a compression.
type job struct {
	shape
	compression string // an extension, "" for none
	bytes       int64  // of content
	limit       int64
	itself      int64   // what the program takes itself
	sides       []int   // as which it is read: source, target, both
	part        float64 // of its time until it is interrupted
}

// A row is one of the table: how reading an input ended, as the sides that ended so.
type row struct {
	job
	file int64
	outcome
}

// Flags adds those of the benchmark, and returns what runs it with the program mars that find finds. It
// calls bench limits itself with the flag -make, for which no program is needed.
func Flags(flags *flag.FlagSet) (run func(find func() (mars string, err error)) error) {
	seed := flags.Uint64("seed", 1, "chooses the shapes")
	shapes := flags.Int("shapes", 100, "how many the seed chooses")
	whole := flags.Bool("table", true, "read each format in each compression first")
	large := flags.Bool("large", false, "read a few far larger inputs instead, with a limit of 256 MB")
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
		b := bench{mars: mars, only: *only, out: os.Stdout}
		if b.dir, err = os.MkdirTemp("", "mars-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(b.dir)
		if b.itself, err = idle(mars); err != nil {
			return err
		}
		fmt.Fprintf(b.out, "bound: 1.15 times the limit, and %d MB of the program itself\n\n", b.itself/mega)
		if *large {
			b.measure(larger)
		} else if *whole {
			b.measure(table(*seed))
		}
		if *large || *whole {
			b.print(b.rows)
		}
		if !*large && *shapes > 0 {
			b.rows = nil
			b.measure(chosen(*seed, *shapes))
			b.summarize(*shapes)
		}
		if b.failed > 0 {
			return fmt.Errorf("%d inputs failed", b.failed)
		}
		return nil
	}
}

// larger are inputs of which a reader might take much more than the limit, each as source and as target.
var larger = []job{
	asBoth("svm/line", ".gz", 300*mega),
	asBoth("csv/record", ".bz2", 1500*mega),
	asBoth("jsonl/list", "", 120*mega),
	asBoth("jsonl/string", ".gz", 6000*mega),
	asBoth("parquet/string", "", 200*mega),
	asBoth("csv/columns", "", 60_000*wideColumn),
	asBoth("csv/columns", "", 1_000_000*wideColumn),
	asBoth("jsonl/new", "", mega/4),
}

func asBoth(name, compression string, bytes int64) job {
	return job{shape: named(name), compression: compression, bytes: bytes, limit: 256 * mega, sides: []int{2}, part: 0.5}
}

// table is every shape without a compression, and the first of each format in every one.
func table(seed uint64) (jobs []job) {
	rng := rand.New(rand.NewPCG(seed, 1))
	before := ""
	for _, s := range shapes {
		for k, c := range compressions {
			if k == 0 || s.format != before {
				jobs = append(jobs, job{shape: s, compression: c, bytes: huge * limit, limit: limit, sides: []int{0, 1, 2}, part: rng.Float64()})
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
		j := job{shape: shapes[rng.IntN(len(shapes))], compression: compressions[rng.IntN(len(compressions))],
			limit: limits[rng.IntN(len(limits))], sides: []int{rng.IntN(3)}, part: rng.Float64()}
		j.bytes = int64(least * math.Pow(float64(most*j.limit)/least, rng.Float64()))
		jobs = append(jobs, j)
	}
	return jobs
}

// A bench measures jobs.
type bench struct {
	mars, dir, only string
	out             io.Writer
	rows            []row
	itself          int64 // what the program takes itself
	failed          int
}

func (b *bench) measure(jobs []job) {
	for i, j := range jobs {
		if !strings.Contains(j.name()+j.compression, b.only) {
			continue
		}
		j.itself = b.itself
		rows, err := j.measure(b.mars, b.dir, i)
		b.rows = append(b.rows, rows...)
		for _, r := range rows {
			err = errors.Join(err, r.check())
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s%s of %d bytes, limit %d MB, side %v, interrupted after %.2f: %v\n", j.name(), j.compression, j.bytes, j.limit/mega, j.sides, j.part, err)
			b.failed++
		}
	}
}

// measure reads an input as the sides, and again with an interrupt.
func (j job) measure(mars, dir string, i int) ([]row, error) {
	path := filepath.Join(dir, fmt.Sprintf("%d.%s%s", i, j.format, j.compression))
	defer os.Remove(path)
	// In a process of its own: the peak of a process counts as that of those which it starts.
	if out, err := exec.Command(os.Args[0], "limits", "-make", path, j.name(), strconv.FormatInt(j.bytes, 10)).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", path, err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	right := filepath.Join(dir, "right."+j.right())
	if err := os.WriteFile(right, []byte(rightRows[j.right()]), 0o600); err != nil {
		return nil, err
	}
	ends := map[string]outcome{}
	for _, side := range j.sides {
		given := [][2]string{{path, right}, {right, path}, {path, path}}[side]
		r := reading{mars, dir, given[0], given[1], j.limit}
		o, err := r.run(never)
		if err != nil {
			return nil, err
		}
		ends[o.end] = ends[o.end].and(o)
		if o, err = r.run(time.Duration(j.part * float64(o.wall))); err != nil {
			return nil, fmt.Errorf("interrupted: %w", err)
		}
		if o.end == "interrupted" {
			ends[o.end] = ends[o.end].and(o)
		}
	}
	var rows []row
	for _, end := range slices.Sorted(maps.Keys(ends)) {
		rows = append(rows, row{j, info.Size(), ends[end]})
	}
	return rows, nil
}

// bound is the most memory that the process may take.
func (j job) bound() float64 { return factor*float64(j.limit) + float64(j.itself) }

// check returns an error if a row is not as it should be. The machine may have other work, so that
// time on the clock is no more than a bound.
func (r row) check() error {
	switch {
	case float64(r.peak) > r.bound():
		return fmt.Errorf("the peak of %d MB is more than the bound of %.0f MB", r.peak/mega, r.bound()/mega)
	case r.end == "refused" && r.after > slow:
		return fmt.Errorf("refused %v of processors after the limit was reached", r.after)
	case r.end == "interrupted" && r.after > deaf:
		return fmt.Errorf("ended %v of processors, and %v on the clock, after the interrupt", r.after, r.late)
	}
	return nil
}

// print prints rows.
func (b *bench) print(rows []row) {
	fmt.Fprintf(b.out, "| input | content | file | limit | peak | of the bound | time | then | end |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		then := "–"
		if r.end == "refused" || r.end == "interrupted" {
			then = fmt.Sprintf("%.2f s", r.after.Seconds())
		}
		fmt.Fprintf(b.out, "| %s | %s | %s | %d MB | %d MB | %.2f | %.1f s | %s | %s |\n", r.what+compressedAs(r.compression), size(r.bytes), size(r.file),
			r.limit/mega, r.peak/mega, float64(r.peak)/r.bound(), r.took.Seconds(), then, r.end)
	}
}

// summarize counts how rows ended, and prints the worst.
func (b *bench) summarize(shapes int) {
	counts := map[string]int{}
	for _, r := range b.rows {
		counts[r.end]++
	}
	fmt.Fprintf(b.out, "\n%d shapes of the seed:", shapes)
	for _, end := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(b.out, " %d %s;", counts[end], end)
	}
	fmt.Fprintln(b.out, " the largest peaks, and the longest after the limit and after an interrupt:")
	b.printWorst("", func(r row) float64 { return float64(r.peak) / r.bound() })
	for _, end := range []string{"refused", "interrupted"} {
		b.printWorst(end, func(r row) float64 { return r.after.Seconds() })
	}
}

// printWorst prints the rows with some end, "" for any, of which what by says is largest.
func (b *bench) printWorst(end string, by func(row) float64) {
	rows := slices.DeleteFunc(slices.Clone(b.rows), func(r row) bool { return end != "" && r.end != end })
	slices.SortFunc(rows, func(r, s row) int { return cmp.Compare(by(s), by(r)) })
	fmt.Fprintln(b.out)
	b.print(rows[:min(worst, len(rows))])
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
