package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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
	page := filepath.Join(folder, "index.html")
	put(t, page, text)
	source, target, broken := filepath.Join(folder, "a <b>patients.csv"), filepath.Join(folder, "new.csv"), filepath.Join(folder, `<img src=x onerror=alert(1)>.csv`)
	put(t, source, cells(1, []float64{.6, .2, .2}, 0, true))
	put(t, target, cells(2, []float64{.2, .2, .6}, .7, false))
	put(t, broken, []byte("a,b\n1,2,3\n"))
	wantLabels, wantShares := native(t, folder, source, target)

	for kind := range browsers {
		t.Run(kind, func(t *testing.T) {
			if found[kind] == "" {
				t.Skipf("%s is not installed: the page is not used in it", kind)
			}
			downloads := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "node", script, kind, found[kind], page, downloads, source, target, broken)
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
				if !strings.HasPrefix(r, "file:") && !strings.HasPrefix(r, "blob:") && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "about:") && r != "https://example.org/" {
					t.Errorf("the page asks for %s", r)
				}
			}
			const command = "mars label --source 'a <b>patients.csv' --target new.csv --label celltype --id cell_id -o labels.csv --report labels.html --save model.safetensors\n"
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
			} {
				if !strings.Contains(got[0], got[1]) {
					t.Errorf("%s: %q, want %q", what, got[0], got[1])
				}
			}
			if s.Failed != "" {
				t.Fatal(s.Failed)
			}
			sameRows(t, s.Labels, wantLabels, 1e-5)
			sameRows(t, s.Proportions, wantShares, 1e-6)
			if kind == "chrome" {
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

// native is what the program of this machine writes of labels and shares.
func native(t *testing.T, folder, source, target string) (labels, shares string) {
	t.Helper()
	program := filepath.Join(folder, "mars")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/mars").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ask := func(command, name string) string {
		path := filepath.Join(folder, name)
		if out, err := exec.Command(program, command, "--source", source, "--target", target, "--label", "celltype", "--id", "cell_id", "-o", path, "-q").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return ask("label", "labels.csv"), ask("proportions", "shares.csv")
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
