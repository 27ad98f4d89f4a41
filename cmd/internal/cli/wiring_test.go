package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
)

// Every flag of every stage does what its role in a pipeline says: it changes the result
// and the key of the cache, or neither. The flags are those of the catalogue, so that a
// new one fails here until the tables say how to see its effect.
func TestWiring(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64); arrowio.SetMemoryLimit(0) }) // which --memory-limit sets
	makeWiringInputs(t)
	for _, s := range catalogue() {
		t.Run(s.Name, func(t *testing.T) {
			w := wiring{s, map[string]outcome{}}
			for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
				if role := s.Flags[name].Role; role != pipeline.Reserved && role != pipeline.PageFile && role != pipeline.Resume {
					t.Run(name, func(t *testing.T) {
						w.test(t, name)
						if s.Name == "train" {
							w.testResume(t, name)
						}
					})
				}
			}
			w.forgotten(t)
			w.testThreads(t)
		})
	}
}

// Flags of the command line alone are few, and no pipeline file can set them.
func TestReservedFlags(t *testing.T) {
	known := []string{"cached", "explain", "force", "format", "help", "log-format", "spreadsheet"}
	for _, s := range catalogue() {
		for name, f := range s.Flags {
			if f.Role == pipeline.Reserved && !slices.Contains(known, name) {
				t.Errorf("%s --%s is reserved for the command line: does it change no result?", s.Name, name)
			}
		}
	}
}

// A wiring tests the flags of a stage.
type wiring struct {
	stage *pipeline.Stage
	known map[string]outcome // by the command line
}

// An outcome is what a run has left.
type outcome struct {
	bytes  string // all of it
	result string // rows, text and states, without metadata
	meta   string // with metadata, but for provenance
	key    string // of the cache
}

// wire of a flag.
func (w wiring) wire(name string) (wire, bool) {
	for _, table := range append(slices.Clone(wires[w.stage.Name]), sharedWires) {
		if found, ok := table[name]; ok {
			// What a stage's own table says goes before what a table of many says.
			for _, later := range wires[w.stage.Name] {
				if own, ok := later[name]; ok {
					found = own
				}
			}
			return found, true
		}
	}
	return wire{}, false
}

// forgotten reports wires of flags that there are not.
func (w wiring) forgotten(t *testing.T) {
	own := wires[w.stage.Name]
	for name := range own[len(own)-1] {
		if _, ok := w.stage.Flags[name]; !ok {
			t.Errorf("the table has --%s, which the stage does not", name)
		}
	}
}

func (w wiring) test(t *testing.T, name string) {
	x, ok := w.wire(name)
	if !ok {
		t.Fatalf("nothing says how to see the effect of --%s: add it to the table of wires", name)
	}
	role := w.stage.Flags[name].Role
	if x.values == refused {
		if _, err := w.stage.Check([]string{"--" + name + "=x"}); err == nil {
			t.Errorf("--%s is taken, and the table says that it is refused", name)
		}
		return
	}
	usual := usualRuns[w.stage.Name]
	rows, flags := usual.rows, usual.flags
	if x.rows != "" {
		rows = x.rows
	}
	if more, images := strings.CutPrefix(x.with, "images"); images {
		flags = usual.images + more
	} else if x.bare {
		flags = x.with
	} else {
		flags += " " + x.with
	}
	var seen []outcome
	if !x.among {
		seen = append(seen, w.run(t, x, rows, flags, name))
	}
	for _, value := range strings.Fields(x.values) {
		if role.Reads() {
			w.testContent(t, rows, flags, name, value)
		}
		if twin := w.twin(name, x); twin != "" {
			with, other := w.run(t, x, rows, flags, "", "--"+name+"="+value), w.run(t, x, rows, flags, "", "--"+twin+"="+value)
			compareOutcomes(t, role, x, !w.stage.Rows, with, other, value+" of --"+twin, 0)
		}
		seen = append(seen, w.run(t, x, rows, flags, "", "--"+name+"="+value))
		for i, before := range seen[:len(seen)-1] {
			compareOutcomes(t, role, x, !w.stage.Rows, seen[len(seen)-1], before, value, i)
		}
	}
}

// twin is the flag for the other domain, if it is to be seen in the same way.
func (w wiring) twin(name string, x wire) string {
	rest, ok := strings.CutPrefix(name, "target-")
	if other, _ := w.wire("source-" + rest); !ok || other != x {
		return ""
	}
	return "source-" + rest
}

// testContent checks that the key depends on what is in a file, not on its name alone.
func (w wiring) testContent(t *testing.T, rows, flags, name, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		return // it is a folder
	}
	changing := filepath.Join("changing", filepath.Base(path))
	given, order := w.parse(flags, "", "--"+name+"="+changing)
	var keys []string
	for _, more := range []string{"", "\n"} {
		writeInput(t, changing, string(content)+more)
		keys = append(keys, w.key(t, rows, given, order, 1))
	}
	if keys[0] == keys[1] {
		t.Errorf("the key is the same after the content of %s has changed", path)
	}
}

// testThreads checks that the key depends on the number of threads, even if no flag says it.
func (w wiring) testThreads(t *testing.T) {
	usual := usualRuns[w.stage.Name]
	given, order := w.parse(usual.flags, "jobs")
	_, threads := w.stage.Flags["jobs"]
	if one, two := w.key(t, usual.rows, given, order, 1), w.key(t, usual.rows, given, order, 2); threads && one == two {
		t.Error("the key is the same for one thread and two")
	}
}

// compareOutcomes compares a run with the flag with one without (the first) or with
// another value.
func compareOutcomes(t *testing.T, role pipeline.Role, x wire, text bool, with, before outcome, value string, i int) {
	t.Helper()
	same := with.result == before.result
	if x.meta {
		same = with.meta == before.meta
	}
	if x.idle {
		if !same {
			t.Errorf("%s gives another result, and the table says that it has no effect", value)
		}
		return
	}
	sameKey := with.key == before.key
	switch role {
	case pipeline.Effect, pipeline.Seed, pipeline.InputFile, pipeline.LoadFile, pipeline.StateFile, pipeline.MetricsFile:
		if same {
			t.Errorf("%s gives the same result as run %d", value, i)
		}
		if sameKey {
			t.Errorf("%s gives the same key as run %d", value, i)
		}
	case pipeline.Threads: // which other rounding errors come of, in some stages
		if sameKey {
			t.Errorf("%s gives the same key as run %d", value, i)
		}
	case pipeline.NoEffect, pipeline.Quiet:
		if with.bytes != before.bytes || !sameKey {
			t.Errorf("%s gives another result or key than run %d", value, i)
		}
	case pipeline.RowsFile, pipeline.Encoding, pipeline.Checkpoint:
		if !same && !text || !sameKey {
			t.Errorf("%s gives other rows or another key than run %d", value, i)
		}
	default:
		t.Errorf("the test does not know what role %d means", role)
	}
}

// refused in the place of values says that the stage refuses the flag by itself.
const refused = "refused"

// parse reads flags, without one of them, and more; the later count.
func (w wiring) parse(flags, without string, more ...string) (given map[string]string, order []string) {
	given = map[string]string{}
	for _, text := range append(strings.Fields("--jobs=1 "+flags), more...) {
		name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
		if value == "" {
			value = "true"
		}
		if _, ok := w.stage.Flags[name]; !ok || name == without {
			continue
		}
		if _, ok := given[name]; !ok {
			order = append(order, name)
		}
		given[name] = value
	}
	return given, order
}

// run runs the stage with flags, without one of them, and more.
func (w wiring) run(t *testing.T, x wire, rows, flags, without string, more ...string) outcome {
	t.Helper()
	given, order := w.parse(flags, without, more...)
	var args []string
	for _, name := range order {
		args = append(args, "--"+name+"="+given[name])
	}
	if _, ok := given["output"]; !ok && w.stage.Rows {
		args = append(args, "--output=out/rows.arrow")
	}
	if rows != "" {
		args = append(args, rows)
	}
	line := strings.Join(args, " ")
	if o, ok := w.known[line]; ok {
		return o
	}
	if err := errors.Join(os.RemoveAll("out"), os.Mkdir("out", 0o777)); err != nil {
		t.Fatal(err)
	}
	var text, log bytes.Buffer
	streams := pipeline.Streams{Log: &log}
	if !w.stage.Rows {
		streams.Text = &text
	}
	var o outcome
	err := w.stage.Run(t.Context(), args, streams)
	switch {
	case err == nil:
		o = w.collect(t, text.String())
		o.key = w.key(t, rows, given, order, 1)
	case x.fails:
		o = outcome{err.Error(), err.Error(), err.Error(), "failed: " + line}
	default:
		t.Fatalf("%s %s: %v\n%s", w.stage.Name, line, err, log.String())
	}
	w.known[line] = o
	return o
}

// collect reads what a run has left.
func (w wiring) collect(t *testing.T, text string) outcome {
	t.Helper()
	all, result, meta := sha256.New(), sha256.New(), sha256.New()
	for _, h := range []io.Writer{all, result, meta} {
		io.WriteString(h, text) //nolint:errcheck // a hash takes all
	}
	err := filepath.WalkDir("out", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil || strings.HasSuffix(path, "checkpoint") { // of which the result is made elsewhere
			return err
		}
		fmt.Fprintf(all, "%s %d\n%s", path, len(content), content)
		bare, full, err := essence(t.Context(), path, content)
		if path != filepath.Join("out", "rows.arrow") && path != filepath.Join("out", "other.arrow") {
			fmt.Fprintln(result, path)
		}
		fmt.Fprintf(result, "%s", bare)
		fmt.Fprintf(meta, "%s", full)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcome{bytes: string(all.Sum(nil)), result: string(result.Sum(nil)), meta: string(meta.Sum(nil))}
}

// essence is what counts of a file: rows or tensors without metadata, and with them but
// for provenance.
func essence(ctx context.Context, path string, content []byte) (bare, full []byte, err error) {
	if filepath.Ext(path) == ".safetensors" {
		return tensors(content)
	}
	if filepath.Ext(path) == ".csv" {
		return content, content, nil
	}
	in, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	keys := map[string]string{}
	for i, key := range in.Schema().Metadata().Keys() {
		if key != arrowio.ProvenanceKey {
			keys[key] = in.Schema().Metadata().Values()[i]
		}
	}
	var fields []arrow.Field
	for _, f := range in.Schema().Fields() {
		f.Metadata = arrow.Metadata{}
		fields = append(fields, f)
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(fields, nil)))
	err = arrowio.Each(ctx, in, func(rec arrow.Record) error {
		return w.Write(array.NewRecord(arrow.NewSchema(fields, nil), rec.Columns(), rec.NumRows()))
	})
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(keys)
	return b.Bytes(), append(fmt.Append(text, in.Schema().Fields()), b.Bytes()...), err
}

// tensors does that for a safetensors file.
func tensors(content []byte) (bare, full []byte, err error) {
	end := 8 + binary.LittleEndian.Uint64(content)
	var header map[string]any
	if err := json.Unmarshal(content[8:end], &header); err != nil {
		return nil, nil, err
	}
	delete(header["__metadata__"].(map[string]any), arrowio.ProvenanceKey)
	full, err = json.Marshal(header)
	if err != nil {
		return nil, nil, err
	}
	delete(header, "__metadata__")
	bare, err = json.Marshal(header)
	return append(bare, content[end:]...), append(full, content[end:]...), err
}

// key is the key of a run in the cache.
func (w wiring) key(t *testing.T, rows string, given map[string]string, order []string, threads int) string {
	t.Helper()
	settable := func(name string) bool { return w.stage.Flags[name].Role.Settable() }
	order = slices.DeleteFunc(slices.Clone(order), func(name string) bool { return !settable(name) })
	given = maps.Clone(given)
	maps.DeleteFunc(given, func(name, _ string) bool { return !settable(name) })
	g, err := pipeline.Single(w.stage, given, order, rows)
	if err == nil {
		err = g.Keys(t.Context(), machine(threads))
	}
	if err != nil {
		t.Fatal(err)
	}
	return g.Nodes[0].Key
}
