package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// A lab runs pipelines of the stages of testCatalogue in this process. make puts out the
// rows 1, 2 and 3, map passes rows on and saves a model, tell counts rows.
type lab struct {
	*testing.T
	cache *Cache
	text  strings.Builder // that goes to no file
	log   strings.Builder
	// first is done by a stage of that name before all else.
	first map[string]func(ctx context.Context, call call) error
	// last is done by a stage when its rows are out.
	last map[string]func(call call) error

	mu  sync.Mutex
	ran []string // command lines
}

// A call is of a stage.
type call struct {
	args  []string
	flags map[string]string
	Streams
}

// newLab makes a lab in a new folder, which becomes the present one.
func newLab(t *testing.T) *lab {
	t.Chdir(t.TempDir())
	return &lab{T: t, cache: openQuick(t), first: map[string]func(context.Context, call) error{}, last: map[string]func(call) error{}}
}

func (l *lab) write(name, text string) {
	l.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		l.Fatal(err)
	}
}

// file is what a file holds, "" if it is not there.
func (l *lab) file(name string) string {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.Error(err)
	}
	return string(text)
}

func (l *lab) catalogue() Catalogue {
	all := testCatalogue()
	for _, s := range all {
		s.Run = func(ctx context.Context, args []string, streams Streams) error { return l.stage(ctx, s, args, streams) }
		s.Flags["compress"] = Flag{Name: "compress", Role: Encoding}
		s.Status = func(err error) int {
			if errors.Is(err, errDiverged) {
				return statusDiverged
			}
			return 1
		}
	}
	m := all.Find("map")
	m.Flags["checkpoint"] = Flag{Name: "checkpoint", Role: Checkpoint}
	m.Flags["resume"] = Flag{Name: "resume", Role: Resume, Bool: true}
	m.Flags["quiet"] = Flag{Name: "quiet", Role: Quiet, Bool: true}
	m.Flags["metrics"] = Flag{Name: "metrics", Role: MetricsFile}
	return all
}

// errDiverged is the error of a training that has kept its last good model.
var errDiverged = errors.New("diverged")

// errStop ends a stage without an error, before it has put out anything.
var errStop = errors.New("stop")

func (l *lab) stage(ctx context.Context, s *Stage, args []string, streams Streams) error {
	l.mu.Lock()
	l.ran = append(l.ran, strings.Join(append([]string{s.Name}, args...), " "))
	l.mu.Unlock()
	c := call{args: args, flags: map[string]string{}, Streams: streams}
	var from string
	for _, arg := range args {
		if name, value, _ := strings.Cut(arg, "="); strings.HasPrefix(name, "--") {
			c.flags[name[2:]] = value
		} else {
			from = arg
		}
	}
	if do := l.first[s.Name]; do != nil {
		if err := do(ctx, c); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if path := c.flags["load"]; path != "" {
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	if from != "" {
		r, err := arrowio.Open(from, arrowio.ReadOptions{})
		if err != nil {
			return err
		}
		defer r.Close()
		c.In = r
	}
	if err := passRows(ctx, s, c); err != nil {
		return err
	}
	if path := c.flags["save"]; path != "" {
		if err := os.WriteFile(path, []byte("model of "+c.flags["lambda"]), 0o666); err != nil {
			return err
		}
	}
	if do := l.last[s.Name]; do != nil {
		return do(c)
	}
	return nil
}

// passRows puts out the rows of a stage, or their number.
func passRows(ctx context.Context, s *Stage, c call) error {
	rows := int64(0)
	if s.Name == "make" {
		if err := c.Out.Begin(testSchema); err != nil {
			return err
		}
		if c.flags["size"] == "other" { // and not what the schema says
			return c.Out.Write(array.NewRecord(arrow.NewSchema(nil, nil), nil, 3))
		}
		return c.Out.Write(batch(1, 2, 3))
	}
	if s.Rows {
		mark := arrow.NewMetadata([]string{"by"}, []string{fmt.Sprint(c.args)}) // so that the file is another
		if err := c.Out.Begin(arrow.NewSchema(c.In.Schema().Fields(), &mark)); err != nil {
			return err
		}
		return arrowio.Each(ctx, c.In, c.Out.Write)
	}
	err := arrowio.Each(ctx, c.In, func(rec arrow.Record) error { rows += rec.NumRows(); return nil })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Text, `{"rows": %d, "of": {"seed": 1}}`+"\n", rows)
	return err
}

// runner is one of a pipeline file with its keys.
func (l *lab) runner(text string) *Runner {
	l.Helper()
	f, err := Parse("test.toml", text, l.catalogue())
	if err != nil {
		l.Fatal(err)
	}
	g, err := f.Expand(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	return l.runnerOf(g)
}

func (l *lab) runnerOf(g *Graph) *Runner {
	l.Helper()
	if err := g.Keys(l.Context(), &Machine{Kernels: "generic", Threads: 1}); err != nil {
		l.Fatal(err)
	}
	l.ran = nil
	l.text.Reset()
	l.log.Reset()
	return &Runner{Graph: g, Cache: l.cache, Jobs: 1, InProcess: true, Version: "test", View: &Lines{W: &l.log}, Text: &l.text}
}

// run runs a pipeline file.
func (l *lab) run(text string) error {
	l.Helper()
	return l.runner(text).Run(l.Context())
}

// calls are the names of the stages that have run, sorted.
func (l *lab) calls() string {
	var names []string
	for _, line := range l.ran {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

const makeMapTell = "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\n[[stage]]\nrun = \"tell\"\n"

// Rows go from stage to stage and into the cache, and the same is not computed again.
func TestRun(t *testing.T) {
	l := newLab(t)
	if err := l.run(makeMapTell); err != nil {
		t.Fatal(err)
	}
	if got, want := l.text.String(), `{"rows": 3, "of": {"seed": 1}}`+"\n"; got != want || l.calls() != "make map tell" {
		t.Errorf("the text is %q, want %q; there ran %s", got, want, l.calls())
	}
	for _, want := range []string{"3 stages to run, 0 in the cache\n", "make: 3 rows in ", "map: 3 rows in ", "tell: done in "} {
		if !strings.Contains(l.log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, &l.log)
		}
	}
	if err := l.run(makeMapTell); err != nil || l.calls() != "" || !strings.HasPrefix(l.text.String(), `{"rows": 3`) {
		t.Errorf("again: %v, there ran %s, the text is %s", err, l.calls(), &l.text)
	}
}

// A run says which stage failed and why, and what it did about it.
func TestRunFails(t *testing.T) {
	broken := errors.New("broken")
	fail := func(err error) func(context.Context, call) error {
		return func(context.Context, call) error { return err }
	}
	for name, c := range map[string]struct {
		text  string
		setUp func(l *lab)
		want  string
	}{
		"the first stage": {makeMapTell, func(l *lab) { l.first["make"] = fail(broken) }, "make: broken"},
		"the last stage":  {makeMapTell, func(l *lab) { l.first["tell"] = fail(broken) }, "tell: broken"},
		"between":         {makeMapTell, func(l *lab) { l.last["map"] = func(call) error { return broken } }, "map: broken"},
		"no rows":         {makeMapTell, func(l *lab) { l.first["make"] = fail(errStop) }, "make: output of make: ended before it began"},
		"an input changes": {"[[stage]]\nrun = \"make\"\nsource = \"in.csv\"\n", func(l *lab) {
			l.first["make"] = func(context.Context, call) error { l.write("in.csv", "other text"); return nil }
		}, "make: in.csv: changed while it was read: run again when nothing writes to it"},
		"a state is not written": {"[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nsave = \"model\"\n", func(l *lab) {
			l.last["map"] = func(c call) error { return os.Remove(c.flags["save"]) }
		}, "map: --save was not written: stat "},
		"an output is a folder":         {"[[stage]]\nrun = \"make\"\noutput = \"folder\"\n", func(l *lab) {}, "make: test.toml: line 3: output: create folder: "},
		"an output is in a file":        {"[[stage]]\nrun = \"make\"\noutput = \"in.csv/rows\"\n", func(l *lab) {}, "make: test.toml: line 3: output: mkdir in.csv: not a directory"},
		"an encoded output is a folder": {"[[stage]]\nrun = \"make\"\noutput = \"folder\"\ncompress = \"zstd\"\n", func(l *lab) {}, "make: test.toml: line 3: output: create folder: "},
		"numbers that are none": {makeMapTell + "[table]\n", func(l *lab) {
			l.first["tell"] = func(_ context.Context, c call) error { fmt.Fprint(c.Text, "text"); return errStop }
		}, "test.toml: line 5: its output makes no row of a table (json = true?): it is no JSON object"},
		"two stages of a name":     {makeMapTell + "[[stage]]\nrun = \"tell\"\nafter = \"map\"\nseed = 1\n[table]\n", func(l *lab) {}, "test.toml: line 7: a run has two stages that are called tell: give one another name with name"},
		"beside that is not there": {makeMapTell + "[table]\nbeside = \"none.csv\"\n", func(l *lab) {}, "test.toml: line 8: beside: open none.csv: "},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.write("in.csv", "text")
			if err := os.Mkdir("folder", 0o777); err != nil {
				t.Fatal(err)
			}
			c.setUp(l)
			if err := l.run(c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s\n%s", err, c.want, &l.log)
			}
			if left, err := os.ReadDir(filepath.Join(l.cache.Dir, buildingDir)); err != nil || len(left) > 0 {
				t.Errorf("of entries are left %v, %v", left, err)
			}
		})
	}
}

// A run that is interrupted says so, wherever it is.
func TestRunIsInterrupted(t *testing.T) {
	l := newLab(t)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := l.runner(makeMapTell).Run(ended); !errors.Is(err, context.Canceled) || l.calls() != "" {
		t.Errorf("before it began: %v, there ran %s", err, l.calls())
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.first["map"] = func(ctx context.Context, _ call) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if err := l.runner(makeMapTell).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("at work: %v", err)
	}
	l.first["map"] = nil
	r := l.runner(makeMapTell)
	held, err := l.cache.Lock(t.Context(), r.Graph.Nodes[1].Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	ctx, cancel = context.WithCancel(t.Context())
	r.View = &watcher{View: r.View, log: func(_ *Node, line string) {
		if line == "waits for another run that makes it" {
			cancel()
		}
	}}
	if err := r.Run(ctx); !errors.Is(err, context.Canceled) || l.calls() != "" {
		t.Errorf("while it waits: %v, there ran %s", err, l.calls())
	}
}

func isThere(path string) bool { _, err := os.Lstat(path); return err == nil }

// A watcher is a view that does more when a stage starts, or logs a line.
type watcher struct {
	View
	start func(n *Node)
	log   func(n *Node, line string)
}

func (v *watcher) Start(n *Node) {
	if v.View.Start(n); v.start != nil {
		v.start(n)
	}
}

func (v *watcher) Log(n *Node, line string) {
	if v.View.Log(n, line); v.log != nil {
		v.log(n, line)
	}
}

// A run goes on without the cache when that takes no more, and says so.
func TestCacheBreaks(t *testing.T) {
	const text = "[[stage]]\nrun = \"make\"\noutput = \"rows.arrow\"\n[[stage]]\nrun = \"map\"\nsave = \"model\"\n[[stage]]\nrun = \"tell\"\n"
	const went = "going on without it; make room with mars cache prune, or choose another with --cache"
	building := func(l *lab) string { return filepath.Join(l.cache.Dir, buildingDir) }
	for name, setUp := range map[string]func(l *lab, r *Runner){
		"before the run": func(l *lab, _ *Runner) { spoil(l.T, building(l)) },
		"under a text": func(l *lab, r *Runner) {
			r.View = &watcher{View: r.View, start: func(n *Node) {
				if dir := filepath.Join(building(l), n.Key); n.Name == "tell" && isThere(dir) {
					l.write(filepath.Join(dir, TextName), "")
				}
			}}
		},
		"under a model": func(l *lab, r *Runner) {
			tries := 0
			l.last["map"] = func(call) error {
				if tries++; tries > 1 {
					return nil
				}
				return os.Mkdir(filepath.Join(building(l), r.Graph.Nodes[1].Key, manifestName), 0o777)
			}
		},
		"a full disk, as a stage says": func(l *lab, _ *Runner) {
			tries := 0
			l.first["map"] = func(context.Context, call) error {
				if tries++; tries > 1 {
					return nil
				}
				return errors.New("model: no space left on device")
			}
		},
		"a lock": func(l *lab, r *Runner) {
			if err := os.Mkdir(l.cache.path(locksDir, r.Graph.Nodes[0].Key), 0o777); err != nil {
				l.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			r := l.runner(text)
			setUp(l, r)
			if err := r.Run(t.Context()); err != nil {
				t.Fatalf("%v\n%s", err, &l.log)
			}
			if l.file("model") != "model of " || !strings.HasPrefix(l.text.String(), `{"rows": 3`) || l.file("rows.arrow") == "" {
				t.Errorf("the model is %q, the text %q", l.file("model"), &l.text)
			}
			if strings.Count(l.log.String(), went) != 1 {
				t.Errorf("it is not said once that the cache takes no more:\n%s", &l.log)
			}
		})
	}
}

// Rows that the cache cannot take reach the next stage, and are no entry.
func TestRowsThatAreNotKept(t *testing.T) {
	l := newLab(t)
	r := l.runner("[[stage]]\nrun = \"make\"\nsize = \"other\"\n[[stage]]\nrun = \"tell\"\n")
	if err := r.Run(t.Context()); err != nil || !strings.HasPrefix(l.text.String(), `{"rows": 3`) {
		t.Errorf("%v, the text is %s", err, &l.text)
	}
	if e, err := l.cache.Lookup(r.Graph.Nodes[0].Key); e != nil || err != nil {
		t.Errorf("the entry is %+v, %v", e, err)
	}
	if !strings.Contains(l.log.String(), "going on without it") {
		t.Errorf("the log says nothing of it:\n%s", &l.log)
	}
}

// Outputs go where they are to be, in the layout that they are to have, and those that are
// there keep their time.
func TestOutputs(t *testing.T) {
	l := newLab(t)
	const text = "[matrix]\ncopy = [1, 2]\n[[stage]]\nrun = \"make\"\noutput = \"new/rows.arrow\"\n" +
		"[[stage]]\nrun = \"make\"\nsize = 1\noutput = \"rows.arrows\"\n[[stage]]\nrun = \"make\"\nsize = 2\noutput = \"packed.arrow\"\ncompress = \"zstd\"\n" +
		"[[stage]]\nrun = \"map\"\nsave = \"model{copy}/m\"\nlambda = 3\n[[stage]]\nrun = \"tell\"\noutput = \"count\"\n"
	names := []string{"new/rows.arrow", "rows.arrows", "packed.arrow", "model1/m", "model2/m", "count"}
	if err := l.run(text); err != nil {
		t.Fatal(err)
	}
	for _, name := range names[:3] {
		in, err := arrowio.Open(name, arrowio.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, rows, err := arrowio.Check(t.Context(), in); rows != 3 || err != nil {
			t.Errorf("%s has %d rows, %v", name, rows, err)
		}
		in.Close()
	}
	for name, head := range map[string]string{"new/rows.arrow": "ARROW1", "packed.arrow": "ARROW1", "rows.arrows": "\xff\xff\xff\xff", "model1/m": "model of 3", "model2/m": "model of 3", "count": `{"rows": 3`} {
		if !strings.HasPrefix(l.file(name), head) {
			t.Errorf("%s begins with %.10q, want %q", name, l.file(name), head)
		}
	}
	if l.file("packed.arrow") == l.file("new/rows.arrow") || l.text.String() != "" {
		t.Errorf("the compressed rows are the others, or there is text: %q", &l.text)
	}
	past := time.Unix(1e9, 0)
	for _, name := range names {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	changed := []string{"new/rows.arrow", "rows.arrows", "model2/m", "count"}
	whole := map[string]string{}
	for i, name := range changed {
		whole[name] = l.file(name)
		l.write(name, []string{"", strings.Repeat("x", len(whole[name]))}[i%2]) // of another length or the same
	}
	if err := os.Remove("new/rows.arrow"); err != nil {
		t.Fatal(err)
	}
	if err := l.run(text); err != nil || l.calls() != "" {
		t.Errorf("again: %v, there ran %s", err, l.calls())
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if kept, want := info.ModTime().Equal(past), !slices.Contains(changed, name); kept != want || !want && l.file(name) != whole[name] {
			t.Errorf("%s keeps its time: %t, want %t; it holds %.10q", name, kept, want, l.file(name))
		}
	}
	if err := errors.Join(os.Remove("model1/m"), os.Mkdir("model1/m", 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := l.run(text); err == nil || !strings.HasPrefix(err.Error(), "test.toml: line 17: save: model1/m: is a directory") {
		t.Errorf("an output that cannot be written: %v", err)
	}
}

// Without a cache what several stages read is kept for the run, and no more.
func TestRunWithoutCache(t *testing.T) {
	l := newLab(t)
	l.cache = nil
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	kept := func() (n int) { // entries, whole ones or not
		for _, folder := range []string{buildingDir, entriesDir} {
			made, err := filepath.Glob(filepath.Join(scratch, scratchPrefix+"*", "cache", folder, "*"))
			if err != nil {
				t.Error(err)
			}
			n += len(made)
		}
		return n
	}
	for _, c := range []struct {
		name, text string
		kept       int // while map is at work
	}{
		{"rows that nobody takes", "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\n", 0},
		{"rows in between", makeMapTell, 1}, // the text
		{"an output", "[[stage]]\nrun = \"make\"\noutput = \"rows.arrow\"\n[[stage]]\nrun = \"map\"\n", 1},
		{"rows of two stages", "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"tell\"\nafter = \"make\"\n[[stage]]\nrun = \"map\"\nafter = \"make\"\n", 2}, // make and the text
	} {
		at := -1
		l.first["map"] = func(context.Context, call) error { at = kept(); return nil }
		if err := l.run(c.text); err != nil || at != c.kept {
			t.Errorf("%s: %v, %d entries are kept, want %d", c.name, err, at, c.kept)
		}
		if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
			t.Errorf("%s: left are %v, %v", c.name, left, err)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(scratch, "none"))
	if err := l.run(makeMapTell); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no scratch folder: %v", err)
	}
}

// A training that was killed goes on from its checkpoint, and starts over if that fails.
func TestCheckpoints(t *testing.T) {
	const text = "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nsave = \"model\"\n"
	for _, c := range []struct {
		name   string
		resume error // what going on fails with
		want   string
		calls  string
	}{
		{"goes on", nil, "", "make map"},
		{"starts over", errors.New("is damaged"), "", "make make map map"},
		{"diverges", errDiverged, "map: diverged", "make map"},
	} {
		l := newLab(t)
		r := l.runner(text)
		checkpoint := l.cache.Checkpoint(r.Graph.Nodes[1].Key)
		l.write(checkpoint, "state")
		l.first["map"] = func(_ context.Context, call call) error {
			if call.flags["checkpoint"] != checkpoint {
				t.Errorf("%s: the checkpoint is %s, want %s", c.name, call.flags["checkpoint"], checkpoint)
			}
			if _, resumes := call.flags["resume"]; resumes {
				return c.resume
			}
			return nil
		}
		err := r.Run(t.Context())
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want || l.calls() != c.calls {
			t.Errorf("%s: %v, want %s; there ran %s, want %s", c.name, err, c.want, l.calls(), c.calls)
		}
		if resumed := slices.ContainsFunc(l.ran, func(line string) bool { return strings.Contains(line, "--resume") }); !resumed {
			t.Errorf("%s: there ran %v", c.name, l.ran)
		}
		if there := isThere(checkpoint); there != (err != nil) {
			t.Errorf("%s: the checkpoint is there: %t", c.name, there)
		}
		if over := strings.Contains(l.log.String(), "map: is damaged: starting over, without its checkpoint"); over != (c.calls == "make make map map") {
			t.Errorf("%s: the log is\n%s", c.name, &l.log)
		}
	}
}

// The last good model of a training that diverged is delivered, and nothing else.
func TestDivergedTraining(t *testing.T) {
	l := newLab(t)
	l.first["map"] = func(_ context.Context, c call) error { return os.WriteFile(c.flags["metrics"], nil, 0o666) }
	const text = "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nsave = \"model\"\nmetrics = \"metrics.csv\"\noutput = \"rows.arrow\"\n"
	for failure, want := range map[error]bool{errDiverged: true, errors.New("broken"): false} {
		l.last["map"] = func(call) error { return failure }
		if err := l.run(text); err == nil || err.Error() != "map: "+failure.Error() {
			t.Errorf("the error is %v", err)
		}
		if isThere("model") != want || isThere("metrics.csv") || isThere("rows.arrow") {
			t.Errorf("%v: the model is there: %t, want %t, or there is more", failure, isThere("model"), want)
		}
		os.Remove("model")
	}
}

// A cache that can only be read is read, and nothing is added.
func TestReadOnlyCache(t *testing.T) {
	l := newLab(t)
	if err := l.run(makeMapTell); err != nil {
		t.Fatal(err)
	}
	l.cache.ReadOnly = errors.New("is for others")
	if err := l.run(makeMapTell + "seed = 2\n"); err != nil || l.calls() != "tell" {
		t.Errorf("%v, there ran %s", err, l.calls())
	}
	if all, err := l.cache.List(); err != nil || len(all) != 3 {
		t.Errorf("there are %d entries, want 3, %v", len(all), err)
	}
	if !strings.Contains(l.log.String(), "cannot be written: is for others: what is in it is used, and nothing is added") {
		t.Errorf("the log is\n%s", &l.log)
	}
}

// What a chain cannot keep is the error of a state, and of rows what the cache has lost: they still go on.
func TestChainKeepsNothing(t *testing.T) {
	l := newLab(t)
	r := l.runner("[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nsave = \"model\"\n")
	l.write("taken", "")
	nowhere := &EntryWriter{dir: "taken/entry"}
	c := &chain{Runner: r}
	if _, err := c.arguments(&link{node: r.Graph.Nodes[1], pending: nowhere}); err == nil {
		t.Errorf("a state: %v", err)
	}
	made := &link{node: r.Graph.Nodes[0], pending: nowhere}
	var err error
	if made.job, err = (goroutines{}).start(t.Context(), task{node: made.node, log: func(string) {}}); err != nil {
		t.Fatal(err)
	}
	if rows, err := c.pump(made); rows != 3 || err != nil || made.lost == nil {
		t.Errorf("%d rows, %v; the cache has lost them: %v", rows, err, made.lost)
	}
	if _, err := (goroutines{}).start(t.Context(), task{node: r.Graph.Nodes[1], file: "missing"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("rows of a file that has gone: %v", err)
	}
}

// A matrix may have as many points as is said, and not one more.
func TestMostPoints(t *testing.T) {
	axis := func(name string, n int) Axis {
		a := Axis{Name: name}
		for i := range n {
			a.Values = append(a.Values, AxisValue{Name: strconv.Itoa(i)})
		}
		return a
	}
	most := &File{Axes: []Axis{axis("seed", 500), axis("rate", maxPoints/500)}, lines: findLines("")}
	if points, err := most.points(t.Context()); len(points) != maxPoints || err != nil {
		t.Errorf("%d points, %v", len(points), err)
	}
	most.Axes[0] = axis("seed", 501)
	if _, err := most.points(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 250000 points: list fewer values, or write several files") {
		t.Errorf("of 250,500 points the error is %v", err)
	}
}
