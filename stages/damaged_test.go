package stages_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/damage"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/cluster"
	"mars.dev/mars/stages/export"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/internal/responses"
	"mars.dev/mars/stages/internal/sketches"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/match"
	"mars.dev/mars/stages/predict"
	"mars.dev/mars/stages/respond"
	"mars.dev/mars/stages/reweight"
	"mars.dev/mars/stages/sketch"
	"mars.dev/mars/stages/train"
	"mars.dev/mars/stages/watch"
)

// A long run asks for more.
var mutations = flag.Int("mutations", 100, "damaged copies of each kind of file; of those above 100 a tenth as many are changed by hand, which takes longer")

var seed = flag.Uint64("seed", 9, "of the damage")

// A bench has a whole file of each kind, and what reads them.
type bench struct {
	*testing.T
	folder   string
	env      stages.Env
	rows     []byte // a stream of both domains
	matched  []byte // the same, clustered and matched
	watcher  *watch.Watcher
	first    *respond.Pass
	sum      string     // of its model
	embedded stages.Env // in which features are the embedding
}

// A kind of file: read returns what the file answers. seal changes it as somebody would who
// makes the checksum anew; nil for files that have none.
type kind struct {
	file string
	read func(path string) (string, error)
	seal func(r *rand.Rand, path string) (how string, err error)
}

// Of the damaged files none is read as another, and those that somebody has changed and given a
// new checksum panic nowhere, end soon, and take no more memory than their size explains.
func TestDamagedFiles(t *testing.T) {
	b := newBench(t)
	for k, kind := range b.kinds() {
		t.Run(kind.file, func(t *testing.T) {
			b.T = t
			d := damaged{bench: b, kind: kind, rng: rand.New(rand.NewPCG(uint64(k), *seed))}
			d.run(*mutations)
		})
	}
}

func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }

// damaged are the copies of a file.
type damaged struct {
	*bench
	kind
	rng               *rand.Rand
	whole             []byte
	answer            string
	refused, accepted int
}

func (d *damaged) run(n int) {
	var err error
	if d.whole, err = os.ReadFile(d.path(d.file)); err != nil {
		d.Fatal(err)
	}
	if d.answer, err = d.read(d.path(d.file)); err != nil {
		d.Fatalf("a whole file: %v", err)
	}
	path, began, others := d.path("damaged"), time.Now(), 0
	for range n {
		how, data := damage.Bytes(d.rng, d.whole)
		if bytes.Equal(data, d.whole) {
			continue
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			d.Fatal(err)
		}
		// A model without a checksum is another program's file.
		sealed := !strings.HasSuffix(d.file, ".safetensors") || bytes.Contains(data, []byte("mars.checksum"))
		answer, ok := d.try(path, how)
		switch {
		case !ok || answer == d.answer:
		case sealed:
			d.Errorf("%s: is read, and the answer is another", how)
		default:
			others++
		}
	}
	d.Logf("%d damaged: %d refused, %d read, of which %d have no checksum and another answer", n, d.refused, d.accepted, others)
	if d.seal != nil {
		n = min(n, 90+n/10)
		d.refused, d.accepted = 0, 0
		for range n {
			if how, ok := d.change(path); ok {
				d.try(path, "by hand: "+how)
			}
		}
		d.Logf("%d changed by hand: %d refused, %d read", n, d.refused, d.accepted)
	}
	d.Logf("%.0f a second", float64(d.refused+d.accepted)/time.Since(began).Seconds())
}

// change makes a file that was changed by hand. What cannot be written is none.
func (d *damaged) change(path string) (how string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	how, err := d.seal(d.rng, path)
	return how, err == nil
}

const (
	longest = 20 * time.Second // on a machine that is busy
	largest = 1 << 30
)

// try reads a file. ok is false if it is refused.
func (d *damaged) try(path, how string) (answer string, ok bool) {
	began, bytes := time.Now(), allocated()
	defer func() {
		if p := recover(); p != nil {
			d.Errorf("%s: panic: %v\n%s", how, p, debug.Stack())
			ok = false
		}
		if took, bytes := time.Since(began), allocated()-bytes; took > longest || bytes > largest {
			d.Errorf("%s: takes %v and %d MB", how, took, bytes>>20)
		}
	}()
	answer, err := d.read(path)
	if err != nil {
		d.refused++
		return "", false
	}
	d.accepted++
	return answer, true
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// newBench makes the files.
func newBench(t *testing.T) *bench {
	b := &bench{T: t, folder: t.TempDir(), env: stages.Env{Columns: arrowio.DefaultColumns(), Seed: 1, Jobs: 1}}
	b.embedded = b.env
	b.embedded.Columns.Embedding = b.env.Columns.Features
	b.writeTables()
	b.rows = b.must(b.featurized(featurize.Options{Source: b.side("source.csv"), Target: b.side("target.csv"), Standardize: "source", Save: b.path("prepared.state")}))
	clustered := b.must(b.pass(b.embedded, b.rows, cluster.Fit(cluster.Options{Method: "kmeans", Components: 4, Save: b.path("components.state")})))
	b.matched = b.must(b.pass(b.embedded, clustered, match.Fit(match.Options{Save: b.path("matching.state")})))
	b.must(b.pass(b.embedded, b.matched, reweight.Fit(reweight.Options{Estimator: "mars", Save: b.path("weights.state")})))
	b.must(b.train(train.Options{Method: "hedge", Save: b.path("hedge.safetensors")}))
	b.must(b.train(train.Options{Method: "gmm-ot", Save: b.path("mixture.state")}))
	b.must(b.train(b.networks(func(c *adapt.Config) {
		c.Checkpoint, c.CheckpointEvery = func(write func(io.Writer) error) error {
			_, err := state.Save(b.path("checkpoint.safetensors"), write)
			return err
		}, 1
	}, b.path("networks.safetensors"))))
	b.check(export.Write(t.Context(), export.Options{Model: b.path("hedge.safetensors"), To: "onnx", Output: b.path("hedge.onnx"), Log: slog.New(slog.DiscardHandler)}))
	s, err := sketch.Files(t.Context(), b.env, []string{b.path("source.csv")}, sketch.Options{Format: b.side("source.csv").Format, Jobs: 1})
	b.check(err)
	b.check(s.Save(b.path("sketch.arrow")))
	b.first, err = respond.Open(b.path("hedge.safetensors"), "")
	b.check(err)
	in, err := arrowio.NewReader(bytes.NewReader(b.rows), "rows", arrowio.ReadOptions{})
	b.check(err)
	sums, err := b.first.Rows(t.Context(), b.env, in, "part")
	b.check(err)
	b.check(sums.Save(b.path("sums.state")))
	b.sum = sums.Model
	b.watcher, err = watch.New(t.Context(), watch.Options{Model: b.path("hedge.safetensors"), Window: watch.Span{Rows: 20}, Slide: watch.Span{Rows: 10}})
	b.check(err)
	w := *b.watcher
	b.check(b.watched(&w, io.Discard))
	b.check(w.Save(b.path("watch.state"), watch.Place{Offset: 7, Head: "a,b\n", Mark: []byte("x")}))
	b.check(os.WriteFile(b.path("rows.arrow"), b.rows, 0o600))
	return b
}

func (b *bench) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) must(out []byte, err error) []byte {
	b.Helper()
	b.check(err)
	return out
}

// kinds are the files, and how they are read.
func (b *bench) kinds() []kind {
	stage := func(rows []byte, apply func(path string) stages.Func) func(string) (string, error) {
		return func(path string) (string, error) {
			out, err := b.pass(b.embedded, rows, apply(path))
			return string(out), err
		}
	}
	return []kind{
		{"rows.arrow", b.readRows, nil},
		{"hedge.safetensors", b.readModel, b.sealTensors},
		{"networks.safetensors", b.readModel, b.sealTensors},
		{"checkpoint.safetensors", b.readCheckpoint, b.sealTensors},
		{"hedge.onnx", b.readModel, nil},
		{"mixture.state", b.readModel, b.sealTable("mixture.state")},
		{"prepared.state", b.readPrepared, b.sealTable("prepared.state")},
		{"components.state", stage(b.rows, cluster.Apply), b.sealTable("components.state")},
		{"matching.state", stage(b.matched, match.Apply), b.sealTable("matching.state")},
		{"weights.state", stage(b.matched, reweight.Apply), b.sealTable("weights.state")},
		{"sums.state", b.readSums, b.sealTable("sums.state")},
		{"sketch.arrow", b.readSketch, b.sealSketch},
		{"watch.state", b.readWatch, b.sealWatch},
	}
}

// pass passes a stream through a stage.
func (b *bench) pass(env stages.Env, rows []byte, stage stages.Func) ([]byte, error) {
	in, err := arrowio.NewReader(bytes.NewReader(rows), "rows", arrowio.ReadOptions{Budget: arrowio.NewBudget(64 << 20)})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return b.written(func(out arrowio.Sink) error { return stage(b.Context(), env, in, out) })
}

func (b *bench) written(write func(arrowio.Sink) error) ([]byte, error) {
	var out bytes.Buffer
	w := arrowio.NewWriter(&out, "out", arrowio.WriteOptions{})
	if err := write(w); err != nil {
		w.Fail(err)
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

func (b *bench) featurized(o featurize.Options) ([]byte, error) {
	return b.written(func(out arrowio.Sink) error { return featurize.Files(b.Context(), b.env, o, out) })
}

func (b *bench) train(o train.Options) ([]byte, error) { return b.pass(b.env, b.rows, train.Fit(o)) }

// networks train for two epochs.
func (b *bench) networks(tune func(*adapt.Config), save string) train.Options {
	return train.Options{Method: "source", Schedule: adapt.ScheduleDefault, Arch: "mlp:30-4", Save: save, Tune: []func(*adapt.Config){func(c *adapt.Config) { c.Epochs, c.Batch = 2, 30 }, tune}}
}

func (b *bench) side(file string) featurize.SideOptions {
	s := featurize.SideOptions{Path: b.path(file)}
	s.Format.Exclude = []string{}
	if file == "source.csv" {
		s.Format.Label = "kind"
	}
	return s
}

func (b *bench) readRows(path string) (string, error) {
	rows, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	out, err := b.pass(b.embedded, rows, cluster.Apply(b.path("components.state")))
	if err == nil && len(out) > 0 {
		_, err = b.pass(b.env, rows, predict.Apply(predict.Options{Model: b.path("hedge.safetensors")}))
	}
	return string(out), err
}

// readModel prepares a table and labels it, as mars predict --target does.
func (b *bench) readModel(path string) (string, error) {
	preparation, classes, err := predict.Preparation(b.Context(), path)
	if err != nil {
		return "", err
	}
	rows := b.rows
	if preparation != "" && len(classes) > 0 {
		if rows, err = b.featurized(featurize.Options{Target: b.side("target.csv"), Prepared: preparation, Classes: classes}); err != nil {
			return "", err
		}
	}
	out, err := b.pass(b.env, rows, predict.Apply(predict.Options{Model: path}))
	return string(out), err
}

func (b *bench) readCheckpoint(path string) (string, error) {
	out, err := b.train(b.networks(func(c *adapt.Config) { c.ResumeFile = path }, ""))
	return string(out), err
}

func (b *bench) readPrepared(path string) (string, error) {
	out, err := b.featurized(featurize.Options{Target: b.side("target.csv"), Load: path})
	return string(out), err
}

func (b *bench) readSums(path string) (string, error) {
	r, err := responses.Load(path)
	if err != nil {
		return "", err
	}
	if err := r.Check(b.first.Model, b.sum); err != nil {
		return "", err
	}
	_, step, err := b.first.After(r)
	return fmt.Sprint(r.Header, step, r.Rows()), err
}

func (b *bench) readSketch(path string) (string, error) {
	s, err := sketches.Load(path)
	if err != nil {
		return "", err
	}
	answer := fmt.Sprint(s.Totals())
	for _, row := range s.Sample() {
		answer += fmt.Sprint(row.Label, row.Numbers, row.Texts)
	}
	for _, leaf := range s.Leaves {
		for _, class := range leaf.Classes {
			answer += class.Name
			for _, m := range class.Moments {
				answer += m.Sum.String() + m.Squares.String()
			}
		}
	}
	if _, err := sketches.Merge([]*sketches.Sketch{s, s}, []string{"a", "b"}); err != nil {
		return "", err
	}
	side := featurize.SideOptions{Path: path, Sketch: s}
	_, err = b.featurized(featurize.Options{Target: side, Load: b.path("prepared.state")})
	return answer, err
}

// watched gives a watcher 45 rows.
func (b *bench) watched(w *watch.Watcher, out io.Writer) error {
	in, err := arrowio.NewReader(bytes.NewReader(b.rows), "rows", arrowio.ReadOptions{})
	b.check(err)
	defer in.Close()
	rec, err := in.Next()
	b.check(err)
	vectors, err := arrowio.VectorColumn(rec.NewSlice(0, 45), b.env.Columns.Features)
	b.check(err)
	x := blas32.General{Rows: vectors.Rows, Cols: vectors.Width, Stride: vectors.Width, Data: vectors.Data}
	p, err := w.Predict(b.Context(), x)
	b.check(err)
	_, err = w.Add(b.Context(), x, p, nil, nil, func(r *watch.Row) error {
		fmt.Fprintf(out, "%+v\n", *r)
		return nil
	})
	return err
}

func (b *bench) readWatch(path string) (string, error) {
	w := *b.watcher
	place, found, err := w.Resume(path)
	if err != nil || !found {
		return "", errors.Join(err, os.ErrNotExist)
	}
	answer := new(bytes.Buffer)
	fmt.Fprintf(answer, "%+v\n", place)
	if err := b.watched(&w, answer); err != nil {
		return "", err
	}
	err = w.Finish(b.Context(), func(r *watch.Row) error {
		fmt.Fprintf(answer, "%+v\n", *r)
		return nil
	})
	return answer.String(), err
}

// changeText changes JSON, or replaces what is none.
func changeText(r *rand.Rand, text string) (how, changed string) {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		other := []string{"", "x", "-1", "1e999", "\x00", strings.Repeat("9", 40), "[]", "{}"}[r.IntN(8)]
		return fmt.Sprintf("%.40q becomes %.40q", text, other), other
	}
	how = damage.Value(r, &value)
	out, _ := json.Marshal(value) // what JSON was, is JSON again
	return how, string(out)
}

func changeMeta(r *rand.Rand, meta map[string]string) (how string) {
	keys := slices.Sorted(maps.Keys(meta))
	key := keys[r.IntN(len(keys))]
	if r.IntN(10) == 0 {
		delete(meta, key)
		return key + " is gone"
	}
	how, meta[key] = changeText(r, meta[key])
	return key + ": " + how
}

func changeNumber[T float32 | float64](r *rand.Rand, values []T) (how string) {
	if len(values) == 0 {
		return "none"
	}
	at := r.IntN(len(values))
	values[at] = []T{0, -1, 1e30, T(math.NaN()), T(math.Inf(1)), 0.5, 3, -values[at]}[r.IntN(8)]
	return fmt.Sprintf("value %d is %v", at, values[at])
}

// sealTensors changes metadata, values, names or shapes of a safetensors file; of a fifth the
// checksum is missing.
func (b *bench) sealTensors(r *rand.Rand, path string) (how string, err error) {
	whole, err := os.ReadFile(b.path(b.wholeName()))
	if err != nil {
		return "", err
	}
	f, err := safetensors.Read(bytes.NewReader(whole))
	if err != nil {
		return "", err
	}
	t := &f.Tensors[r.IntN(len(f.Tensors))]
	switch r.IntN(8) {
	case 0:
		how = t.Name + ": " + changeNumber(r, t.Data)
	case 1:
		how = "without " + t.Name
		f.Tensors = slices.DeleteFunc(f.Tensors, func(o safetensors.Tensor) bool { return o.Name == t.Name })
	case 2:
		other := &f.Tensors[r.IntN(len(f.Tensors))]
		how = t.Name + " swapped with " + other.Name
		t.Name, other.Name = other.Name, t.Name
	case 3:
		t.Shape = [][]int{{len(t.Data)}, {1, len(t.Data)}, {len(t.Data), 1}, {len(t.Data), 0}, {}}[r.IntN(5)]
		if !safetensors.Fits(*t) {
			t.Data = make([]float32, min(len(t.Shape)^1, 1))
		}
		how = fmt.Sprint(t.Name, " of ", t.Shape)
	default:
		how = changeMeta(r, f.Metadata)
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, f); err != nil {
		return "", err
	}
	content := out.Bytes()
	if r.IntN(5) == 0 {
		content = bytes.Replace(content, []byte("mars.checksum"), []byte("none.checksum"), 1)
	}
	return how, os.WriteFile(path, content, 0o600)
}

// wholeName is the file of the test that runs.
func (b *bench) wholeName() string { return b.Name()[strings.LastIndex(b.Name(), "/")+1:] }

// sealTable changes metadata or a column of a state.
func (b *bench) sealTable(name string) func(r *rand.Rand, path string) (string, error) {
	return func(r *rand.Rand, path string) (how string, err error) {
		in, err := arrowio.Open(b.path(name), arrowio.ReadOptions{})
		if err != nil {
			return "", err
		}
		defer in.Close()
		rec, err := in.Next()
		if err != nil {
			return "", err
		}
		meta := in.Schema().Metadata().ToMap()
		t := state.NewTable(meta["mars.state"], int(rec.NumRows()))
		delete(meta, "mars.state")
		delete(meta, "mars.checksum")
		column := r.IntN(int(rec.NumCols()))
		if len(meta) > 0 && r.IntN(2) == 0 {
			column, how = -1, changeMeta(r, meta)
		}
		for key, value := range meta {
			t.SetMeta(key, value)
		}
		for j, a := range rec.Columns() {
			if done := addColumn(r, t, rec.ColumnName(j), a, j == column); j == column {
				how = rec.ColumnName(j) + ": " + done
			}
		}
		_, err = t.Save(path)
		return how, err
	}
}

// addColumn adds a column to a state, with one value changed.
func addColumn(r *rand.Rand, t *state.Table, name string, a arrow.Array, change bool) (how string) {
	switch a := a.(type) {
	case *array.Float64:
		values := slices.Clone(a.Float64Values())
		if change {
			how = changeNumber(r, values)
		}
		t.AddFloats(name, values)
	case *array.Int32:
		values := slices.Clone(a.Int32Values())
		if change && len(values) > 0 {
			at := r.IntN(len(values))
			values[at] = []int32{-1, 0, 1, 9, math.MaxInt32, math.MinInt32}[r.IntN(6)]
			how = fmt.Sprintf("value %d is %d", at, values[at])
		}
		t.AddInts(name, values)
	case *array.String:
		var values []string
		for i := range a.Len() {
			values = append(values, strings.Clone(a.Value(i)))
		}
		if change && len(values) > 0 {
			at := r.IntN(len(values))
			how, values[at] = changeText(r, values[at])
		}
		t.AddStrings(name, values)
	case *array.FixedSizeList:
		var vectors [][]float64
		width := int(a.DataType().(*arrow.FixedSizeListType).Len())
		values := slices.Clone(a.ListValues().(*array.Float64).Float64Values())
		if change {
			if how = changeNumber(r, values); r.IntN(4) == 0 && width > 1 {
				width, how = width-1, "narrower"
			}
		}
		for i := range a.Len() {
			vectors = append(vectors, values[i*width:(i+1)*width])
		}
		t.AddVectors(name, vectors)
	}
	return how
}

// sealSketch changes what a sketch says of its rows and parts, or a row.
func (b *bench) sealSketch(r *rand.Rand, path string) (how string, err error) {
	s, err := sketches.Load(b.path("sketch.arrow"))
	if err != nil {
		return "", err
	}
	change := func(value any) error {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		what, changed := changeText(r, string(text))
		how = what
		return json.Unmarshal([]byte(changed), value)
	}
	switch r.IntN(3) {
	case 0:
		err = change(&s.Header)
	case 1:
		err = change(&s.Leaves)
	default:
		row := s.Rows[r.IntN(len(s.Rows))]
		how = changeNumber(r, row.Numbers)
	}
	if err != nil {
		return "", err
	}
	return how, s.Save(path)
}

func (b *bench) sealWatch(r *rand.Rand, path string) (how string, err error) {
	whole, err := os.ReadFile(b.path("watch.state"))
	if err != nil {
		return "", err
	}
	body, _, _ := bytes.Cut(whole, []byte("\n"))
	how, text := changeText(r, string(body))
	sum := sha256.Sum256([]byte(text))
	return how, os.WriteFile(path, []byte(text+"\n"+hex.EncodeToString(sum[:])+"\n"), 0o600)
}

// writeTables writes tables with numbers, categories of few and of many values, dates and gaps.
func (b *bench) writeTables() {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, file := range []string{"source.csv", "target.csv"} {
		var t strings.Builder
		t.WriteString("a,b,few,many,day,kind")
		for i := range 60 {
			k, gap, label := i%3, "", ""
			if i%7 > 0 {
				gap = fmt.Sprintf("%.3f", rng.NormFloat64()-float64(k))
			}
			if file == "source.csv" {
				label = "pqr"[k : k+1]
			}
			fmt.Fprintf(&t, "\n%.3f,%s,%c,v%d,2026-%02d-%02d,%s", rng.NormFloat64()+2*float64(k), gap, "uvw"[rng.IntN(3)], rng.IntN(30), 1+i%12, 1+i%28, label)
		}
		text := t.String() + "\n"
		if file == "target.csv" {
			text = strings.ReplaceAll(strings.ReplaceAll(text, ",\n", "\n"), ",kind", "")
		}
		b.check(os.WriteFile(b.path(file), []byte(text), 0o600))
	}
}
