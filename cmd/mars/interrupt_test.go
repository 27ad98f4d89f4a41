//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/klauspost/compress/zstd"

	"mars.dev/mars/arrowio"
)

// longCommands take many seconds each, or wait for their input. DATA stands for
// the folder of interruptData.
var longCommands = []struct {
	name, args string
	after      time.Duration // after which the work has begun
}{
	{"ward", "cluster --method ward --components 30 --save state.arrow -o out.arrow DATA/wide.arrow", 700 * time.Millisecond},
	{"kmeans", "cluster --method kmeans --components 150 --starts 100 --max-rows 60000 --embedding features -o out.arrow DATA/toy.arrow", time.Second},
	{"gmm", "cluster --method gmm --components 10 -o out.arrow DATA/wider.arrow", 2 * time.Second},
	{"match one to one", "match --save state.arrow -o out.arrow DATA/components.arrow", 2 * time.Second},
	{"match by transport", "match --save state.arrow -o out.arrow --component component2 DATA/components.arrow", 2 * time.Second},
	{"match by bures", "match --cost bures -o out.arrow DATA/wider.arrow", time.Second},
	{"csv", "featurize --source DATA/long.csv --save state.arrow -o out.arrow", 300 * time.Millisecond},
	{"toy", "featurize toy --source-rows 100000000 -o out.arrow", 500 * time.Millisecond},
	{"inspect --csv", "inspect --csv DATA/long.arrow", 500 * time.Millisecond},
	{"inspect", "inspect DATA/batch.arrows", 300 * time.Millisecond},
	{"explain", "run --no-cache --explain DATA/matrix.toml", time.Second},
	{"hash", "run --no-cache DATA/hash.toml", 500 * time.Millisecond},
	{"label of a large file", "label --source DATA/matrix.toml --target DATA/sparse.csv -o out.csv", 500 * time.Millisecond},
	{"label", "label --save model.safetensors -o out.csv DATA/large.arrow", time.Second},
	{"proportions", "proportions -o out.arrow DATA/large.arrow", time.Second},
	{"bootstrap", "proportions --bootstrap 100000 -o out.arrow DATA/toy.arrow", time.Second},
	{"one line of svmlight", "label --source DATA/line.svmlight --target DATA/line.svmlight -o out.csv", 700 * time.Millisecond},
	{"one list", "label --source DATA/list.jsonl --target DATA/list.jsonl -o out.csv", 700 * time.Millisecond},
	{"much that is packed to little", "label --source DATA/record.csv.zst --target DATA/record.csv.zst -o out.csv", 300 * time.Millisecond},
	{"many columns", "label --source DATA/columns.csv --target DATA/columns.csv -o out.csv", 700 * time.Millisecond},
	{"many columns of JSON lines", "proportions --source DATA/columns.jsonl --target DATA/columns.jsonl", 1500 * time.Millisecond},
	{"a key each", "label --columns k1,k2,k3 --source DATA/keys.jsonl --target DATA/keys.jsonl -o out.csv", 300 * time.Millisecond},
	{"many classes", "label --source DATA/classes.csv --target DATA/classes.csv -o out.csv", 2 * time.Second},
	{"predict", "predict --model DATA/model.safetensors --target DATA/long.csv -o out.csv", 700 * time.Millisecond},
	{"watch", "watch --model DATA/model.safetensors --window 1000 DATA/long.csv", 700 * time.Millisecond},
	{"ask", "ask --source DATA/long.csv --target DATA/long.csv -o out.csv", time.Second},
	{"check", "check DATA/predictions.csv --reference DATA/reference.csv -o out.csv", 700 * time.Millisecond},
	{"sketch", "sketch -o out.sketch.arrow DATA/long.csv", 500 * time.Millisecond},
	{"t-SNE", "plot tsne -o out.svg DATA/toy.arrow", time.Second},
	{"waiting", "cluster -o out.arrow", 300 * time.Millisecond},
}

// Ctrl-C and SIGTERM end every command soon, with status 130, and leave no file.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	data := interruptData(t)
	for i, c := range longCommands {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "waiting" && runtime.GOOS != "linux" {
				t.Skip("a read of standard input is interrupted on Linux only")
			}
			signal := []os.Signal{os.Interrupt, syscall.SIGTERM}[i%2]
			took := interrupt(t, signal, c.after, strings.ReplaceAll(c.args, "DATA", data))
			t.Logf("%-20s worked for %.2f s after %v", c.name, took.Seconds(), signal)
			if took > 3*time.Second { // it is a twentieth of that at most times
				t.Errorf("it worked for %v after %v", took, signal)
			}
		})
	}
}

// interrupt runs mars in an empty folder, sends a signal, and returns how long
// the command still worked. A machine so fast that the command ends before the
// signal gets it earlier.
func interrupt(t *testing.T, signal os.Signal, after time.Duration, args string) time.Duration {
	t.Helper()
	for {
		took, ended := interruptOnce(t, signal, after, args)
		if !ended || after < 100*time.Millisecond {
			return took
		}
		after /= 2
	}
}

// interruptOnce says whether the command had ended before the signal.
func interruptOnce(t *testing.T, signal os.Signal, after time.Duration, args string) (took time.Duration, ended bool) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("mars", strings.Fields(args)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var log bytes.Buffer
	cmd.Stderr = &log
	stdin, err := cmd.StdinPipe() // nothing is ever written to it
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	limit := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer limit.Stop()
	took = end(t, cmd, signal)
	code := cmd.ProcessState.ExitCode()
	if code == 0 && took < 50*time.Millisecond && after >= 100*time.Millisecond {
		return took, true
	}
	if code != 130 {
		t.Errorf("exit status %d, want 130\n%s", code, log.String())
	}
	if !strings.HasSuffix(log.String(), ": interrupted\n") {
		t.Errorf("messages\n%s", log.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, error %v", left, err)
	}
	return took, false
}

// end sends a signal to a command, waits for it, and returns for how long it still
// worked: the time of processors on Linux, since other work on the machine lengthens
// that of the clock, which is returned elsewhere.
func end(t *testing.T, cmd *exec.Cmd, signal os.Signal) time.Duration {
	t.Helper()
	began, before := time.Now(), processorTime(t, cmd.Process.Pid)
	cmd.Process.Signal(signal) //nolint:errcheck // it may have ended
	cmd.Wait()                 //nolint:errcheck // the status is looked at
	if runtime.GOOS != "linux" {
		return time.Since(began)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() - before
}

// processorTime is the time of processors that a process has taken, on Linux.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ") // what follows the name, from the third field on
	ticks := time.Duration(0)
	for _, field := range strings.Fields(rest)[11:13] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}

// A command that cannot end, because nobody reads its output, is killed by the
// second Ctrl-C. On a busy machine it may take the first one up late, so more follow.
func TestSecondInterruptKills(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	path := filepath.Join(t.TempDir(), "rows.arrow")
	writeRows(t, path, rowsOf{rows: 40_000, width: 20, classes: 3, components: 3, batch: 10_000})
	cmd := exec.Command("mars", "inspect", "--csv", path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { _, err := cmd.Process.Wait(); ended <- err }()
	for interrupts := range 20 {
		select {
		case <-ended:
			if interrupts < 2 {
				t.Errorf("it ended after %d interrupts", interrupts)
			}
			return
		case <-time.After(time.Second):
			cmd.Process.Signal(os.Interrupt) //nolint:errcheck // if it has ended, that is found out next
		}
	}
	t.Error("20 interrupts do not end it")
	cmd.Process.Kill() //nolint:errcheck // it may have ended
}

// interruptData makes the inputs of longCommands and returns their folder.
func interruptData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	toy := func(name string, source, target int) {
		t.Helper()
		args := fmt.Sprintf("featurize toy --quiet --shift 8 --source-rows %d --target-rows %d -o %s", source, target, at(name))
		if out, err := exec.Command("mars", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	toy("toy.arrow", 30, 60_000)
	toy("large.arrow", 300_000, 300_000)
	toy("long.arrow", 3_000_000, 3_000_000)
	writeRows(t, at("wide.arrow"), rowsOf{rows: 40_000, width: 200, classes: 30, components: 30, batch: 4096})
	writeRows(t, at("wider.arrow"), rowsOf{rows: 4000, width: 1500, classes: 10, components: 10, batch: 512})
	writeRows(t, at("components.arrow"), rowsOf{rows: 16_000, width: 2, classes: 4000, components: 4000, batch: 16_000})
	writeRows(t, at("batch.arrows"), rowsOf{rows: 6_000_000, width: 10, classes: 3, components: 3, batch: 6_000_000})
	writeLines(t, at("long.csv"), "x,y,label", 3_000_000, func(i int) string { return fmt.Sprintf("0.%d,1.%d,%d", i%997, i%89, i%3) })
	writeLines(t, at("few.csv"), "x,y,label", 300, func(i int) string { return fmt.Sprintf("%d.%d,1.%d,%d", i%3, i%97, i%89, i%3) })
	if out, err := exec.Command("mars", "label", "-q", "--source", at("few.csv"), "--target", at("few.csv"), "--save", at("model.safetensors"), "-o", at("few.out.csv")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, rows := range map[string]int{"predictions.csv": 3_000_000, "reference.csv": 3000} {
		writeLines(t, at(name), "probability_a,probability_b,label", rows, func(i int) string {
			return fmt.Sprintf("%.2f,%.2f,%c", float64(i%97)/96, 1-float64(i%97)/96, "ba"[i%97/48%2])
		})
	}
	writeLines(t, at("classes.csv"), "x,y,z,label", 3000, func(i int) string { return fmt.Sprintf("%d,%d,0.%d,c%d", i%300%17, i%300/17, i%97, i%300) })
	writeLines(t, at("keys.jsonl"), `{"k0":1,"label":"a"}`, 200_000, func(i int) string { return fmt.Sprintf(`{"k%d":1,"label":"b"}`, i+1) })
	writeLines(t, at("line.svmlight"), "1 "+repeated(8_000_000, func(i int) string { return fmt.Sprintf("%d:1 ", i) }), 0, nil)
	writeLines(t, at("list.jsonl"), `{"x":[1`+strings.Repeat(",1", 20_000_000)+"]}", 0, nil)
	for _, ext := range []string{"csv", "jsonl"} {
		writeLines(t, at("columns."+ext), strings.TrimSuffix(wideTable(ext, 300_000), "\n"), 0, nil)
	}
	writePacked(t, at("record.csv.zst"), "x,label\n1,", 2<<30)
	writeLines(t, at("matrix.toml"), matrixHead(1000, 100), 0, nil)
	writeLines(t, at("hash.toml"), "[[stage]]\nrun = \"featurize\"\nsource = \"sparse.csv\"", 0, nil)
	writeLines(t, at("sparse.csv"), "x,y,label", 0, nil)
	if err := os.Truncate(at("sparse.csv"), 20<<30); err != nil { // takes no room
		t.Fatal(err)
	}
	return dir
}

// repeated joins n texts.
func repeated(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(text(i))
	}
	return b.String()
}

// writePacked writes a head and a field of so many letters, which takes hardly any room.
func writePacked(t *testing.T, path, head string, letters int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := zstd.NewWriter(f)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, head) //nolint:errcheck // Close says
	for some := bytes.Repeat([]byte("x"), 1<<20); letters > 0; letters -= len(some) {
		w.Write(some) //nolint:errcheck // Close says
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// rowsOf describes rows of Gaussian classes. Rows alternate between the domains.
type rowsOf struct{ rows, width, classes, components, batch int }

// writeRows writes the columns domain, label, embedding, component and, with one
// number less, component2.
func writeRows(t *testing.T, path string, o rowsOf) {
	t.Helper()
	out, err := arrowio.Create(path, arrowio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	number := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "domain", Type: arrow.BinaryTypes.String}, number("label"),
		{Name: "embedding", Type: arrowio.VectorType(o.width)}, number("component"), number("component2")}, nil)
	if err := out.Begin(schema); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for lo := 0; lo < o.rows; lo += o.batch {
		rec := array.NewRecord(schema, o.columns(rng, lo), int64(o.batch))
		if err := out.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// columns returns the batch from row lo on.
func (o rowsOf) columns(rng *rand.Rand, lo int) []arrow.Array {
	n := o.batch
	domains, source, target := make([]arrowio.Domain, n), make([]bool, n), make([]bool, n)
	numbers := map[int][]int32{o.classes: make([]int32, n), o.components: make([]int32, n), o.components - 1: make([]int32, n)}
	x := make([]float32, n*o.width)
	for i := range n {
		source[i], target[i] = i%2 == 0, i%2 == 1
		domains[i] = []arrowio.Domain{arrowio.SourceDomain, arrowio.TargetDomain}[i%2]
		for k, column := range numbers {
			column[i] = int32((lo + i) / 2 % k)
		}
		for j := range o.width {
			x[i*o.width+j] = rng.Float32() + float32((i/2%o.classes)*(j+7)%11)
		}
	}
	return []arrow.Array{arrowio.NewDomainArray(domains), arrowio.NewIntArray(numbers[o.classes], source),
		arrowio.NewVectorArray(arrowio.Vectors{Data: x, Rows: n, Width: o.width}),
		arrowio.NewIntArray(numbers[o.components], target), arrowio.NewIntArray(numbers[o.components-1], target)}
}

// matrixHead is a pipeline file of seeds × lambdas runs.
func matrixHead(seeds, lambdas int) string {
	list := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ",")
	}
	return "[matrix]\nseed = [" + list(seeds, "%d") + "]\nlambda = [" + list(lambdas, "0.%02d") + "]\n" + `
[[stage]]
run = "featurize toy"
truth = true
seed = "{seed}"
[[stage]]
run = "train"
method = "wd"
seed = "{seed}"
lambda = "{lambda}"
[[stage]]
run = "eval"
`
}

func writeLines(t *testing.T, path, head string, n int, line func(i int) string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, head)
	for i := range n {
		fmt.Fprintln(w, line(i))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
