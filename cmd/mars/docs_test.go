package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/cmd/internal/cli"
)

// Every command of the README and the how-tos works as it stands: their shell
// blocks run in order, in a folder of their own, after the files that their
// other blocks hold ("python cluster.py" after the fence) are written. What a
// block with "text printed by COMMAND" holds is what that prints first. The
// programs beside the pages are there too. A block with "sh needs torch" after
// the fence is skipped where that is not installed; MARS_PYTHON_TORCH may name a Python of its
// own that has it, as MARS_PYTHON_SPARK and others may. MARS_SOURCE is the clone, which
// the programs in Go import, and from which those in Python import mars.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(programsBeside, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no how-to found", err)
	}
	t.Parallel()
	bin := programs(t)
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		if filepath.Base(page) == contribute {
			continue // see TestContribute
		}
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			runPage(t, string(text), bin)
		})
	}
}

// The index of decisions lists them in their order, which is that of their dates.
func TestDecisions(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "decisions.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts := func(pattern string) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(page), -1) {
			found = append(found, m[1])
		}
		return found
	}
	listed, decided, dates := texts(`(?m)^- \[(.*)\]\(#`), texts(`(?m)^## (.*)$`), texts(`(?m)^\*(\d{4}-\d\d-\d\d)`)
	if !slices.Equal(listed, decided) || len(dates) != len(decided) || !slices.IsSorted(dates) {
		t.Errorf("the index is\n%q\nthe decisions are\n%q\nof the dates\n%q", listed, decided, dates)
	}
}

// experiments is their folder.
var experiments = filepath.Join("..", "..", "docs", "experiments")

// The files of the experiments name stages and flags that there are. Their data are
// not needed for that.
func TestExperiments(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(experiments, "*.toml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no experiment found", err)
	}
	t.Parallel()
	mars := filepath.Join(programs(t), "mars")
	for _, file := range files {
		cmd := exec.Command(mars, "run", "--shell", file)
		cmd.Env = append(os.Environ(), "MARS_DATA=/data", "MARS_BLOBS=/blobs")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v:\n%s", file, err, out)
		}
	}
	runStudy(t, mars)
}

// runStudy runs a study with few and small tasks from its beginning to its tables.
func runStudy(t *testing.T, mars string) {
	dir := t.TempDir()
	table := filepath.Join(dir, "toy.csv")
	cmd := exec.Command(mars, "run", "-q", "--cache", filepath.Join(dir, "cache"), "--table", table,
		"--set", "matrix.seed=0,1", "--set", "rows.source-rows=150", "--set", "rows.target-rows=150", "--set", "proportions.bootstrap=10",
		filepath.Join(experiments, "estimators-toy.toml"))
	printed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"estimators_l1.mte", "translate.seconds", "\ntoy-mid   2 ", "\ntoy-high  2 "} {
		if !strings.Contains(string(printed), want) {
			t.Errorf("the table lacks %q:\n%s", want, printed)
		}
	}
	runs, err := os.ReadFile(table)
	if err != nil || strings.Count(string(runs), "\n") != 5 || strings.Contains(string(runs), ",,") {
		t.Errorf("the runs are\n%s%v", runs, err)
	}
}

func runPage(t *testing.T, text, bin string) {
	dir, path := t.TempDir(), bin
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "python3 ") {
		path += ":" + pythonFolder(t)
	}
	if err := os.CopyFS(dir, os.DirFS(programsBeside)); err != nil {
		t.Fatal(err)
	}
	library := t.TempDir() // of packages that a page in R installs
	environment := append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"), "MARS_SOURCE="+root, "R_LIBS="+library+":"+os.Getenv("R_LIBS"),
		"PYTHONPATH="+filepath.Join(root, "clients", "python", "src"), "PYTHONDONTWRITEBYTECODE=1", "MARS_BINARY=")
	run := func(t *testing.T, text string, environment []string) string {
		cmd := exec.Command("bash", "-eu", "-c", text)
		cmd.Dir, cmd.Env = dir, environment
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v:\n%s\n%s", err, text, out)
		}
		return string(out)
	}
	for _, b := range blocks(text) {
		kind, rest, _ := strings.Cut(b.info, " ")
		need, needs := strings.CutPrefix(rest, "needs ")
		command, printed := strings.CutPrefix(rest, "printed by ")
		switch {
		case printed:
			if out := run(t, command, environment); !strings.HasPrefix(out, strings.TrimSuffix(b.text, "…\n")) {
				t.Errorf("the page says that %s prints\n%sand it prints\n%s", command, b.text, out)
			}
		case kind != "sh" && rest != "":
			if err := os.WriteFile(filepath.Join(dir, rest), []byte(b.text), 0o666); err != nil {
				t.Fatal(err)
			}
		case kind != "sh" || strings.Contains(b.text, "make demo"):
		case needs:
			t.Run(need, func(t *testing.T) {
				environment := environment
				if python := os.Getenv("MARS_PYTHON_" + strings.ToUpper(need)); python != "" {
					environment = append(slices.Clone(environment), "PATH="+filepath.Dir(python)+":"+path+":"+os.Getenv("PATH"))
				}
				probe := exec.Command("bash", "-c", probes[need])
				if probe.Env = environment; probe.Run() != nil {
					t.Skipf("%s is not installed: its block is not run", need)
				}
				run(t, b.text, environment)
			})
		default:
			run(t, b.text, environment)
		}
	}
}

// programsBeside is the folder of the how-tos and of programs that these use.
var programsBeside = filepath.Join("..", "..", "docs", "how-to")

// probes are commands that fail where what a block needs is not installed.
var probes = map[string]string{
	"onnx":    "python3 -c 'import onnxruntime'",
	"node":    `node -e 'require("onnxruntime-node")'`,
	"torch":   "python3 -c 'import torch'",
	"R":       "Rscript -e 'library(processx); library(jsonlite)'",
	"anndata": "python3 -c 'import anndata'",
	"scanpy":  "python3 -c 'import scanpy'",
	"PIL":     "python3 -c 'import PIL'",
	"quapy":   "python3 -c 'import quapy'",
	"skada":   "python3 -c 'import skada'",
	"spark":   "python3 -c 'import pyspark' && java -version",
	"ray":     "python3 -c 'import ray.data'",
	"dask":    "python3 -c 'import dask.dataframe'",
}

type block struct{ info, text string }

// blocks are the fenced blocks of a Markdown page.
func blocks(text string) []block {
	var found []block
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			info, body, _ := strings.Cut(part, "\n")
			found = append(found, block{info, body})
		}
	}
	return found
}

// pythonFolder is a folder whose python3 has what the how-tos use.
func pythonFolder(t *testing.T) string {
	python := os.Getenv("MARS_PYTHON")
	if python == "" {
		python = "python3"
	}
	if exec.Command(python, "-c", "import duckdb, pandas, polars, pyarrow, safetensors, sklearn").Run() != nil {
		t.Skip("no Python with DuckDB, pandas, polars, pyarrow, safetensors and scikit-learn: pip install -r testdata/requirements.txt, and let MARS_PYTHON name it")
	}
	found, err := exec.LookPath(python)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(found)
}

// programs builds mars, makes the links that make build makes, and returns their folder.
func programs(t *testing.T) string {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range cli.Programs() {
		if err := os.Symlink("mars", filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}
