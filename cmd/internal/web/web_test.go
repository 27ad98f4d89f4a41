package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// browsers are those that the page is used in, with the programs that they may be.
var browsers = map[string][]string{
	"chrome":  {"chromium", "chromium-browser", "google-chrome"},
	"firefox": {"firefox-esr", "firefox"},
}

// What was seen by testdata/use.cjs.
type seen struct {
	Wrong, Requests                                                             []string
	Seconds                                                                     float64
	Problem, Label, Identity, Chosen, Stopped, Failed, Command, Verdict, Shares string
	Labels, Proportions, Report, Refused                                        string
	Focus, Row, Counted, Saved, Filled, Settled, LabelsSettled, SharesSettled   string
	Narrow                                                                      []string // while rows are labelled
	TooLarge, Encoding, Western, Batches, Parquet                               string
}

// Somebody opens the page from a file, drops files, stops, and labels by keyboard: the labels are those
// of the program, nothing is asked of a network, and whoever does not see or has a telephone can do it too.
func TestPageInBrowsers(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	found := map[string]string{}
	for kind, names := range browsers {
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil && found[kind] == "" {
				found[kind] = path
			}
		}
	}
	if found["chrome"] == "" {
		t.Skip("no browser (chromium) is installed: the page is not used")
	}
	if err := exec.Command("node", "-e", `require("puppeteer-core"); require("axe-core")`).Run(); err != nil {
		t.Skip("Node.js with puppeteer-core and axe-core (NODE_PATH) is not installed: the page is not used")
	}
	script, err := filepath.Abs(filepath.Join("testdata", "use.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("..", "..", ".."))
	folder := t.TempDir()
	text, err := build("-s -w")
	if err != nil {
		t.Fatal(err)
	}
	if program := len(regexp.MustCompile(`id="program">[^<]*`).Find(text)) / 4 * 3; program > 8_000_000 {
		t.Errorf("the program is %d bytes, compressed: at most 8,000,000 are wanted", program)
	}
	page := filepath.Join(folder, "index.html")
	put(t, page, text)
	source, target, broken := filepath.Join(folder, "a <b>patients.csv"), filepath.Join(folder, "new.csv"), filepath.Join(folder, `<img src=x onerror=alert(1)>.csv`)
	western := filepath.Join(folder, "western.csv")
	put(t, western, []byte(strings.NewReplacer("NK cell", "f\xfcr NK", "\nc", "\nw").Replace(string(cells(3, []float64{.3, .3, .4}, .2, true)))))
	put(t, source, cells(1, []float64{.6, .2, .2}, 0, true))
	put(t, target, cells(2, []float64{.2, .2, .6}, .7, false))
	put(t, broken, []byte("a,b\n1,2,3\n"))
	bomb := filepath.Join(folder, "bomb.csv.gz")
	put(t, bomb, zipped(t, "x,y,celltype\n", strings.Repeat("1,2,B cell\n", 10_000_000)))
	ask := native(t, folder, "--source", source, "--target", target, "--label", "celltype", "--id", "cell_id")
	wantLabels, wantShares, asked := ask("label"), ask("proportions"), ask("ask", "--budget", "24")

	pages := map[string]string{"chrome": "file://" + page, "firefox": "file://" + page, "served": served(t, folder)}
	found["served"] = found["chrome"]
	for kind, page := range pages {
		t.Run(kind, func(t *testing.T) {
			if found[kind] == "" {
				t.Skipf("%s is not installed: the page is not used in it", kind)
			}
			downloads := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "node", script, kind, found[kind], page, downloads, source, target, broken, bomb, western)
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			var s seen
			if err := json.Unmarshal(out, &s); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range s.Wrong {
				t.Error(wrong)
			}
			for _, r := range s.Requests {
				if !strings.HasPrefix(r, "file:") && !strings.HasPrefix(r, "blob:") && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "about:") && r != "https://example.org/" && (kind != "served" || !strings.HasPrefix(r, page)) {
					t.Errorf("the page asks for %s", r)
				}
			}
			const (
				command = "mars label --source 'a <b>patients.csv' --target new.csv --label celltype --id cell_id -o labels.csv --report labels.html --save model.safetensors\n" +
					"mars proportions --model model.safetensors -o shares.csv --report shares.html"
				settled = "mars ask --source 'a <b>patients.csv' --target new.csv --label celltype --id cell_id --budget 24 -o ask.csv --save asked.safetensors\n" +
					"mars label --source 'a <b>patients.csv' --target new.csv --label celltype --id cell_id --labels ask.csv --new-class Monocyte -o labels.csv --report labels.html\n" +
					"mars proportions --model asked.safetensors --target new.csv --label celltype --id cell_id --labels ask.csv --new-class Monocyte -o shares.csv --report shares.html"
			)
			if kind == "served" { // which has no limit of its own
				s.TooLarge = "bomb.csv.gz: MB: take fewer rows or columns, or the program for the shell, which has no such limit"
			}
			for what, got := range map[string][2]string{
				"a broken file":       {s.Problem, "<img src=x onerror=alert(1)>.csv: line 2: has 3 fields and the header 2"},
				"a file":              {s.Chosen, "a <b>patients.csv×a text table, 500 rows, 4 columns"},
				"the label":           {s.Label, "celltype"},
				"the identity":        {s.Identity, "cell_id"},
				"after Stop":          {s.Stopped, "Stopped."},
				"the command":         {s.Command, command},
				"the verdict":         {s.Verdict, "abels"},
				"the table of shares": {s.Shares, "90 % interval"},
				"the report":          {s.Report, "Labels of the target"},
				"a request":           {s.Refused, "connect-src"},
				"the focus":           {s.Focus, "panel"},
				"a row":               {s.Row, "Row 1 of 24The program’s guess: "},
				"the shares":          {s.Counted, "Monocyte"},
				"the rows' name":      {s.Saved, "ask.csv"},
				"with labels":         {s.Settled, settled},
				"old text":            {s.Encoding, "western.csv: line "},
				"its remedy":          {s.Encoding, "is not valid UTF-8: save it as UTF-8, or say below the files what it is"},
				"the letters":         {s.Western, "für NK"},
				"batches":             {s.Batches, "mars label --source western.csv --source 'a <b>patients.csv' --target new.csv --label celltype --id cell_id --encoding windows-1252 --batch-files -o labels.parquet"},
				"Parquet":             {s.Parquet, "PAR1"},
				"a bomb":              {s.TooLarge, "bomb.csv.gz: "},
				"a bomb's remedy":     {s.TooLarge, "MB: take fewer rows or columns, or the program for the shell, which has no such limit"},
			} {
				if !strings.Contains(got[0], got[1]) {
					t.Errorf("%s: %q, want %q", what, got[0], got[1])
				}
			}
			if s.Failed != "" {
				t.Fatal(s.Failed)
			}
			if kind == "served" && (s.Labels != wantLabels || s.Proportions != wantShares) {
				t.Error("answers are not the program's, byte by byte")
			}
			sameRows(t, s.Labels, wantLabels, 1e-5)
			sameRows(t, s.Proportions, wantShares, 1e-6)
			narrows(t, s.Narrow)
			sameRows(t, emptied(t, s.Filled, 17), emptied(t, asked, 0), 1e-5)
			filled := filepath.Join(t.TempDir(), "ask.csv")
			put(t, filled, []byte(s.Filled))
			sameRows(t, s.LabelsSettled, ask("label", "--labels", filled), 1e-5)
			sameRows(t, s.SharesSettled, ask("proportions", "--labels", filled), 1e-6)
			if kind != "firefox" {
				if got, err := os.ReadFile(filepath.Join(downloads, "labels.csv")); err != nil || string(got) != s.Labels {
					t.Errorf("what was downloaded is not what the page has: %v", err)
				}
				if files, err := os.ReadDir(downloads); err != nil || len(files) != 5 {
					t.Errorf("%d files were downloaded, error %v", len(files), err)
				}
			}
			t.Logf("%s took %.1f s", kind, s.Seconds)
		})
	}
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// cells is a table of cells of three types.
func cells(seed uint64, shares []float64, shift float64, labelled bool) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var b bytes.Buffer
	b.WriteString("cell_id,x,y" + map[bool]string{true: ",celltype"}[labelled] + "\n")
	for i := range 500 {
		k, u := 0, r.Float64()
		for ; k < 2 && u > shares[k]; k++ {
			u -= shares[k]
		}
		fmt.Fprintf(&b, "c%d,%.4f,%.4f", i, []float64{1, 5, 6}[k]+r.NormFloat64()+shift, []float64{5, 1, 7}[k]+r.NormFloat64()+shift)
		if labelled {
			b.WriteString("," + []string{"B cell", "NK cell", "T cell"}[k])
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

// native asks the program of this machine, of these files: it returns what a command writes.
func native(t *testing.T, folder string, files ...string) func(command string, more ...string) string {
	t.Helper()
	program := filepath.Join(folder, "mars")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/mars").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(command string, more ...string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), command+".csv")
		if out, err := exec.Command(program, slices.Concat([]string{command, "-o", path, "-q"}, files, more)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// served starts mars ui, until the test ends, and returns the address that it prints. It leaves no file.
func served(t *testing.T, folder string) string {
	t.Helper()
	temporary := t.TempDir()
	cmd := exec.Command(filepath.Join(folder, "mars"), "ui")
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // what it leaves is looked at
		cmd.Wait()                       //nolint:errcheck
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("mars ui leaves %v, error %v", left, err)
		}
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// zipped is texts, compressed.
func zipped(t *testing.T, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for _, text := range texts {
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var points = regexp.MustCompile(`^(\d+) rows have your label. The widest interval is (\d+) percentage points wide`)

// narrows checks that more labels make the widest interval narrower.
func narrows(t *testing.T, said []string) {
	t.Helper()
	if len(said) != 2 {
		t.Fatalf("%q was said while rows were labelled", said)
	}
	few, many := points.FindStringSubmatch(said[0]), points.FindStringSubmatch(said[1])
	if few == nil || many == nil || few[1] != "4" || many[1] != "17" {
		t.Fatalf("%q was said after 4 and 17 labels", said)
	}
	before, _ := strconv.Atoi(few[2])
	after, _ := strconv.Atoi(many[2])
	if after >= before {
		t.Errorf("intervals do not narrow: %q", said)
	}
}

// emptied is a table of mars ask without its labels, of which it must have so many, and without the codes of its
// rows, which hold all digits of numbers that differ by roundings.
func emptied(t *testing.T, text string, want int) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	label, labels := slices.Index(rows[0], "celltype"), 0
	for _, row := range rows[1:] {
		if row[label] != "" {
			labels++
		}
		row[label], row[len(row)-1] = "", ""
	}
	if labels != want {
		t.Errorf("%d rows have a label, want %d", labels, want)
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sameRows compares tables: text is the same, and numbers are as close as that.
func sameRows(t *testing.T, got, want string, tolerance float64) {
	t.Helper()
	read := func(text string) [][]string {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	g, w := read(got), read(want)
	if len(g) != len(w) || len(w) < 2 {
		t.Fatalf("%d rows, want %d", len(g), len(w))
	}
	near := func(a, b string) bool {
		x, err1 := strconv.ParseFloat(a, 64)
		y, err2 := strconv.ParseFloat(b, 64)
		return a == b || err1 == nil && err2 == nil && math.Abs(x-y) <= tolerance*max(1, math.Abs(y))
	}
	for i := range w {
		if !slices.EqualFunc(g[i], w[i], near) {
			t.Fatalf("row %d is %v, want %v", i, g[i], w[i])
		}
	}
}
