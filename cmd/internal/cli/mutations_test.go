package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mars.dev/mars/internal/damage"
)

// A long run asks for more; many times as many are read below the commands (package stages).
var (
	mutations = flag.Int("mutations", 12, "damaged copies of each kind of file")
	seed      = flag.Uint64("seed", 7, "of the damage")
)

// mutatedInputs makes the files that are damaged.
const mutatedInputs = `
label --source source.csv --target target.csv --label kind --save hedge.safetensors -o labels.csv
label --source source.csv --target target.csv --label kind --method source --epochs 1 --save networks.safetensors -o labels.csv
featurize --source source.csv --target target.csv --label kind --standardize source --save prepared.state -o rows.arrow
cluster --method kmeans --components 4 --embedding features --save components.state -o clustered.arrow rows.arrow
match --save matching.state -o matched.arrow --embedding features clustered.arrow
reweight --save weights.state -o weighted.arrow matched.arrow
sketch --label kind source.csv -o source.sketch.arrow
sketch target.csv -o target.sketch.arrow
respond --model hedge.safetensors --target target.csv -o sums.arrow
watch --model hedge.safetensors --window 20 --checkpoint watch.state -o windows.csv target.csv
train --method source --epochs 2 --batch 30 --checkpoint train.ckpt --checkpoint-every 1 -o trained.arrow rows.arrow
`

// readers read a file, FILE, into OUT.
var readers = []struct{ file, command string }{
	{"hedge.safetensors", "predict --model FILE --target target.csv -o OUT"},
	{"hedge.safetensors", "export FILE --to onnx -o OUT"},
	{"hedge.safetensors", "respond --model FILE --target target.csv -o OUT"},
	{"hedge.safetensors", "watch --model FILE --window 20 -o OUT.csv target.csv"},
	{"networks.safetensors", "predict --model FILE --target target.csv -o OUT"},
	{"networks.safetensors", "export FILE --to torch --prepared -o OUT.py"},
	{"prepared.state", "featurize --load FILE --target target.csv -o OUT"},
	{"components.state", "cluster --load FILE --embedding features -o OUT rows.arrow"},
	{"matching.state", "match --load FILE --embedding features -o OUT clustered.arrow"},
	{"weights.state", "reweight --load FILE -o OUT matched.arrow"},
	{"target.sketch.arrow", "featurize --source source.sketch.arrow --target FILE -o OUT"},
	{"sums.arrow", "proportions --model hedge.safetensors --sums FILE -o OUT.csv"},
	{"watch.state", "watch --model hedge.safetensors --window 20 --checkpoint FILE -o OUT.csv target.csv"},
	{"train.ckpt", "train --method source --epochs 2 --batch 30 --checkpoint FILE --resume -o OUT rows.arrow"},
}

// A damaged file is refused, or read as if it were whole; and one without a checksum, as of
// another program, panics nowhere and takes no time without end.
func TestMutatedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("MARS_CACHE", "none")
	writeMutatedTables(t)
	for line := range strings.Lines(strings.TrimSpace(mutatedInputs)) {
		if status, log := runInside(t, strings.TrimSpace(line)); status != 0 {
			t.Fatalf("mars %s: status %d\n%s", line, status, log)
		}
	}
	for k, reader := range readers {
		whole, err := os.ReadFile(reader.file)
		if err != nil {
			t.Fatal(err)
		}
		m := &mutants{name: reader.command, command: reader.command, whole: whole, rng: rand.New(rand.NewPCG(uint64(k), *seed))}
		m.answer = m.read(t, whole, "whole")
		if m.answer == "" {
			t.Fatalf("%s refuses a whole file:\n%s", reader.command, m.log)
		}
		m.checkAll(t, *mutations, damage.Bytes)
		if strings.HasSuffix(reader.file, ".safetensors") {
			m.unchecked = true
			m.checkAll(t, *mutations, mutateHeader)
		}
		t.Logf("%s: %d refused, %d read", reader.command, m.refused, m.accepted)
	}
}

// mutants are damaged copies of a file, read by a command.
type mutants struct {
	name, command     string
	whole             []byte
	rng               *rand.Rand
	answer, log       string
	unchecked         bool // the file has no checksum
	refused, accepted int
}

func (m *mutants) checkAll(t *testing.T, n int, change func(*rand.Rand, []byte) (string, []byte)) {
	t.Helper()
	for range n {
		how, data := change(m.rng, m.whole)
		if bytes.Equal(data, m.whole) || data == nil {
			continue
		}
		switch answer := m.read(t, data, how); {
		case answer == "":
			m.refused++
		case answer != m.answer && !m.unchecked && sealed(data) == sealed(m.whole):
			t.Errorf("%s: %s: is read, and the answer is another", m.name, how)
		default:
			m.accepted++
		}
	}
}

// sealed reports whether a model has a checksum: one that has lost its name is of another program.
func sealed(data []byte) bool { return bytes.Contains(data, []byte("mars.checksum")) }

// read reads a file and returns the answer, "" if it is refused.
func (m *mutants) read(t *testing.T, data []byte, how string) string {
	t.Helper()
	for _, name := range []string{"damaged", "out", "out.csv", "out.py", "out.safetensors"} {
		os.Remove(name)
	}
	writeInput(t, "damaged", string(data))
	if windows, err := os.ReadFile("windows.csv"); err == nil && strings.HasPrefix(m.command, "watch") && strings.Contains(m.command, "--checkpoint") {
		writeInput(t, "out.csv", string(windows)) // with which it goes on
	}
	began := time.Now()
	status, log := runInside(t, strings.NewReplacer("FILE", "damaged", "OUT", "out").Replace(m.command))
	m.log = log
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("%s: %s: takes %v", m.name, how, took)
	}
	if strings.Contains(log, "internal error") {
		t.Errorf("%s: %s:\n%s", m.name, how, log)
	}
	if status != 0 {
		if status != 1 {
			t.Errorf("%s: %s: status %d\n%s", m.name, how, status, log)
		}
		return ""
	}
	answer := "read"
	for _, name := range []string{"out", "out.csv", "out.py", "out.safetensors"} {
		text, _ := os.ReadFile(name)
		answer += string(text)
	}
	return strings.ReplaceAll(answer, fmt.Sprintf("%x", sha256.Sum256(data)), "") // which provenance has
}

// runInside runs a command in this process.
func runInside(t *testing.T, line string) (status int, log string) {
	var stderr bytes.Buffer
	status = run(t.Context(), Mars(), append(strings.Fields(line), "--quiet"), &stderr)
	return status, stderr.String()
}

// mutateHeader changes a number, a list or a word of a safetensors file's metadata, and takes
// its checksum away.
func mutateHeader(r *rand.Rand, data []byte) (how string, out []byte) {
	n := binary.LittleEndian.Uint64(data)
	header := map[string]any{}
	if json.Unmarshal(data[8:8+n], &header) != nil {
		return "", nil
	}
	meta := header["__metadata__"].(map[string]any)
	delete(meta, "mars.checksum")
	keys := slices.Sorted(maps.Keys(meta))
	key := keys[r.IntN(len(keys))]
	if r.IntN(2) == 0 {
		key = "mars.preparation"
	}
	text, _ := meta[key].(string)
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return "", nil
	}
	how = fmt.Sprintf("%s: %s", key, damage.Value(r, &value))
	changed, err := json.Marshal(value)
	if err != nil {
		return "", nil
	}
	meta[key] = string(changed)
	if text, err = marshalText(header); err != nil {
		return "", nil
	}
	out = binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return how, append(append(out, text...), data[8+n:]...)
}

func marshalText(value any) (string, error) {
	text, err := json.Marshal(value)
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	return string(text), err
}

// writeMutatedTables writes tables with numbers, categories of few and of many values, dates
// and gaps.
func writeMutatedTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, file := range []string{"source.csv", "target.csv"} {
		var b strings.Builder
		b.WriteString("a,b,few,many,day")
		if file == "source.csv" {
			b.WriteString(",kind")
		}
		for i := range 90 {
			k := i % 3
			gap := ""
			if i%7 > 0 {
				gap = fmt.Sprintf("%.3f", rng.NormFloat64()-float64(k))
			}
			fmt.Fprintf(&b, "\n%.3f,%s,%c,v%d,2026-%02d-%02d", rng.NormFloat64()+2*float64(k), gap, "uvw"[rng.IntN(3)], rng.IntN(30), 1+i%12, 1+i%28)
			if file == "source.csv" {
				fmt.Fprintf(&b, ",%c", "pqr"[k])
			}
		}
		writeInput(t, file, b.String()+"\n")
	}
}
