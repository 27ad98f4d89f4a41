package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// The history of a file that the cache knows has all stages before it, those that made models too,
// and makes a pipeline of the same keys.
func TestHistoryOfModels(t *testing.T) {
	l := newLab(t)
	l.write("in.csv", "text")
	const text = "[[stage]]\nrun = \"make\"\nsource = \"in.csv\"\n[[stage]]\nrun = \"map\"\nname = \"fit\"\nlambda = 2\nsave = \"sub/model\"\n" +
		"[[stage]]\nrun = \"map\"\nload = \"sub/model\"\nafter = \"make\"\noutput = \"rows.arrow\"\n[[stage]]\nrun = \"tell\"\noutput = \"count.json\"\n"
	r := l.runner(text)
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, n := range r.Graph.Nodes {
		keys[n.Key] = true
	}
	if len(keys) != 4 {
		t.Errorf("there are %d keys", len(keys))
	}
	other := l.runner(strings.Replace(text, "lambda = 2", "lambda = 3", 1)).Graph.Nodes
	for _, n := range other {
		if keys[n.Key] != (n.Name == "make") {
			t.Errorf("with another model, %s has the key of before: %t", n.Label(), keys[n.Key])
		}
	}
	sum := hashed(t, "in.csv")
	for _, c := range []struct{ file, want string }{
		{"rows.arrow", "rows.arrow, by the cache CACHE\n\n1. make  (mars test)\n   source = in.csv\n   source: in.csv, SHA-256 " + sum + "\n\n2. map  (mars test)\n   reads the rows of step 1\n   lambda = 2\n   save = model\n\n" +
			"3. map  (mars test)\n   reads the rows of step 1\n   load = sub/model\n   load: sub/model of step 2\n"},
		{"sub/model", "sub/model, by the cache CACHE\n\n1. make  (mars test)\n   source = in.csv\n   source: in.csv, SHA-256 " + sum + "\n\n2. map  (mars test)\n   reads the rows of step 1\n   lambda = 2\n   save = model\n"},
	} {
		h, err := Trace(t.Context(), c.file, l.cache, l.catalogue())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := h.WriteText(&b); err != nil || b.String() != strings.Replace(c.want, "CACHE", l.cache.Dir, 1) {
			t.Errorf("%v, the history is\n%s, want\n%s", err, b.String(), c.want)
		}
		for _, scratch := range []bool{true, false} {
			b.Reset()
			place := Place{Dir: h.NewFolder("."), Scratch: scratch}
			if err := h.WritePipeline(&b, l.catalogue(), place); err != nil {
				t.Fatal(err)
			}
			// Only where all is new does the model keep the path by which it is read.
			if kept := strings.Contains(b.String(), "load = \"sub/model\""); kept != (scratch && c.file == "rows.arrow") {
				t.Errorf("in a new folder: %t, the pipeline is\n%s", scratch, b.String())
			}
			again := l.runner(b.String())
			if err := again.Run(t.Context()); err != nil || l.calls() != "" {
				t.Errorf("%v, of the pipeline there ran %s:\n%s", err, l.calls(), b.String())
			}
			if note, err := Same(t.Context(), c.file, h.Made(place)); note != "" || err != nil {
				t.Errorf("what was made again: %q, %v", note, err)
			}
		}
	}
}

// streamOf is a stream of batches that says what made it.
func streamOf(t *testing.T, batches ...arrow.Record) string {
	t.Helper()
	var b strings.Builder
	rows := arrowio.NewBatches("list", arrowio.Meta{Provenance: testSteps}.Apply(testSchema), batches...)
	if err := arrowio.Copy(t.Context(), arrowio.NewWriter(&b, "stream", arrowio.WriteOptions{}), rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What has no history, or a damaged one, is an error.
func TestHistoryFails(t *testing.T) {
	l := newLab(t)
	if err := l.run("[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\noutput = \"rows.arrow\"\n"); err != nil {
		t.Fatal(err)
	}
	l.write("text", "text")
	trace := func(path string) error { _, err := Trace(t.Context(), path, l.cache, l.catalogue()); return err }
	if err := trace("text"); err == nil || !strings.HasPrefix(err.Error(), "text: says nothing of its provenance, and the cache "+l.cache.Dir+" knows no such file") {
		t.Errorf("another file: %v", err)
	}
	if err := trace("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	whole := streamOf(t, batch(1, 2))
	for _, cut := range []int{1, 8, 30, 40, 60, 100, len(whole) / 2} { // in its end, in the batch, in the schema
		l.write("cut", whole[:len(whole)-cut])
		if steps, err := embedded("cut"); err == nil {
			t.Errorf("rows of which %d bytes are missing say %v", cut, steps)
		}
	}
	if _, err := embedded("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file says of itself: %v", err)
	}
	if _, err := modelSteps("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no model says of itself: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(l.cache.Dir, originsDir)); err != nil {
		t.Fatal(err)
	}
	if err := trace("rows.arrow"); err == nil || err.Error() != "rows.arrow: the cache "+l.cache.Dir+" no longer says what made make: run the pipeline again" {
		t.Errorf("without origins: %v", err)
	}
}

// A seed and what was chosen are in a history, and a subcommand is known by its command.
func TestHistoryOfSteps(t *testing.T) {
	catalogue := append(Catalogue{{Name: "make toy", Rows: true, Flags: map[string]Flag{"seed": {Name: "seed", Role: Seed}}}}, testCatalogue()...)
	steps := []arrowio.Step{{Stage: "make", Version: "1", Seed: 7}, {Stage: "map", Version: "2", Options: map[string]string{"load": "sub/in"}, State: map[string]string{"m": "00", "in": "11", "load=in": "22"},
		Selection: &arrowio.Selection{Score: "loss", Candidates: []arrowio.Candidate{{Scores: map[string]float64{"loss": 0.5}}, {Failed: "diverged"}}}}}
	h, err := fromSteps("rows.arrow", steps, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	if first := h.Steps[0]; first.Stage != "make toy" || first.Options["seed"] != "7" {
		t.Errorf("the first step is %+v", first)
	}
	if last := h.Steps[1]; len(last.Files) != 1 || last.Files["load"] != (HistoryInput{Path: "sub/in", SHA256: "22"}) || len(last.Saved) != 1 || last.Saved["save"] != "00" {
		t.Errorf("the last step is %+v", last)
	}
	var b strings.Builder
	if err := h.WriteText(&b); err != nil || !strings.Contains(b.String(), ": 0.5000\n") || !strings.Contains(b.String(), ": left out: diverged\n") || !strings.Contains(b.String(), "   save: SHA-256 00\n") {
		t.Errorf("%v, the history is\n%s", err, b.String())
	}
}

// Files are the same if their bytes or their rows are, and only then.
func TestSame(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	rows := rowsWith(t, nil)
	cut := func(end int) string { stream := streamOf(t, batch(1, 2), batch(3, 4)); return stream[:len(stream)-end] }
	other := at("other.arrow")
	w, err := arrowio.Create(other, arrowio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := arrowio.Copy(t.Context(), w, arrowio.NewBatches("list", testSchema, batch(1, 3))); err != nil {
		t.Fatal(err)
	}
	const differs, same = "what was made again differs: SHA-256 ", "the rows are the same; metadata (such as the version) or layout differ"
	for _, c := range []struct{ name, old, again, note, failure string }{
		{"one file", rows, rows, "", ""},
		{"other metadata", rows, rowsWith(t, testSteps), same, ""},
		{"other rows", rows, other, "", differs},
		{"texts", write("a", "a"), write("b", "b"), "", differs},
		{"a text and rows", write("a", "a"), rows, "", differs},
		{"rows and a text", rows, write("a", "a"), "", differs},
		{"rows that are cut", write("c.arrow", cut(30)), write("d.arrow", cut(40)), "", differs},
		{"nothing before", at("none"), rows, "", "no such file"},
		{"nothing again", rows, at("none"), "", "no such file"},
	} {
		note, err := Same(t.Context(), c.old, c.again)
		if note != c.note || c.failure == "" && err != nil || c.failure != "" && (err == nil || !strings.Contains(err.Error(), c.failure)) {
			t.Errorf("%s: %q, %v, want %q, %s", c.name, note, err, c.note, c.failure)
		}
	}
}

// A history is made again in a folder that leads to its inputs, if these are as they were.
func TestWorkshop(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"in.csv", "in.csv.labels"} {
		l.write(name, "text")
	}
	machine := func() *Machine {
		return &Machine{Beside: func(_ context.Context, path string) []string { return []string{path, path + ".labels"} }}
	}
	known, err := machine().Hash(t.Context(), "in.csv")
	if err != nil {
		t.Fatal(err)
	}
	history := func(path, sum string) *History {
		return &History{File: "rows.arrow", Steps: []*HistoryStep{{Stage: "make", Files: map[string]HistoryInput{"source": {Path: path, SHA256: sum}}}}}
	}
	for sum, want := range map[string]string{known: "", "": "", "00": "rows.arrow cannot be made again: in.csv is not what it was (SHA-256 " + known + ", and was 00)"} {
		if err := history("in.csv", sum).CheckInputs(t.Context(), machine()); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("the hash %s: %v, want %s", sum, err, want)
		}
	}
	if err := history("none", "").CheckInputs(t.Context(), machine()); err == nil || !strings.HasPrefix(err.Error(), "rows.arrow cannot be made again: stat none: ") {
		t.Errorf("an input that is gone: %v", err)
	}
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	dir, remove, err := history("./in.csv", known).Workshop(t.Context(), machine())
	if err != nil {
		t.Fatal(err)
	}
	if l.file(filepath.Join(dir, "in.csv")) != "text" || l.file(filepath.Join(dir, "in.csv.labels")) != "text" {
		t.Error("the workshop does not lead to the inputs")
	}
	left := filepath.Join(scratch, workshopPrefix+"left")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	l.write(filepath.Join(left, scratchLock), "")
	if _, again, err := history("in.csv", known).Workshop(t.Context(), machine()); err != nil || isThere(left) || !isThere(dir) {
		t.Errorf("%v; what was left is there: %t; what is in use: %t", err, isThere(left), isThere(dir))
	} else {
		again()
	}
	remove()
	writing := func(path string) *History { // a step of which another step reads
		step, h := 0, history("in.csv", known)
		h.Steps = append(h.Steps, &HistoryStep{Stage: "map", Files: map[string]HistoryInput{"load": {Path: path, Step: &step}}})
		return h
	}
	if _, remove, err := writing("model").Workshop(t.Context(), &Machine{}); err != nil {
		t.Errorf("a model beside the input: %v", err)
	} else {
		remove()
	}
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		h    *History
		want string
	}{
		"outside":        {history("../in.csv", ""), "../in.csv lies outside of this folder: run mars provenance --verify in one that holds all inputs"},
		"a long name":    {history(long, ""), "symlink "},
		"over its input": {writing("./in.csv"), "rows.arrow cannot be made again: a step writes in.csv, and in.csv is an input"},
		"in its input":   {writing("in.csv/model"), "rows.arrow cannot be made again: a step writes in.csv/model, and in.csv is an input"},
	} {
		if _, _, err := c.h.Workshop(t.Context(), &Machine{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if err := errors.Join(os.Mkdir("to", 0o777), linkInput("in.csv", "to")); err != nil {
		t.Fatal(err)
	}
	if err := linkInput("in.csv/in", "to"); err == nil {
		t.Error("a link is within a file")
	}
	if err := linkInput("in.csv", "to"); err != nil {
		t.Errorf("the same input twice: %v", err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(scratch, "none"))
	if _, _, err := history("in.csv", "").Workshop(t.Context(), machine()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no place for a workshop: %v", err)
	}
}

// An entry that lacks what a pipeline asks for says so.
func TestEntryLacksOutput(t *testing.T) {
	n := expand(t, "[[stage]]\nrun = \"make\"\noutput = \"rows.arrow\"\n").Nodes[0]
	if err := deliver(t.Context(), n, &Entry{}); err == nil || err.Error() != "test.toml: line 3: output: the cache's entry lacks it: drop it with mars cache clear" {
		t.Errorf("the error is %v", err)
	}
}
