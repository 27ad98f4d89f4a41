package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every kind of model, by every method and architecture and of every kind of table, gives
// the posteriors of mars predict in ONNX Runtime and in PyTorch, to less than 1e-5.
func TestExportedModelsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains fifty models")
	}
	t.Parallel()
	bin := programs(t)
	folder, err := filepath.Abs(filepath.Join("..", "..", "testdata", "export"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(t *testing.T, name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		cmd.Stderr = &strings.Builder{}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s%s", name, args, err, out, cmd.Stderr)
		}
		return string(out)
	}
	pythons := pythonFolder(t)
	run(t, filepath.Join(pythons, "python3"), filepath.Join(folder, "make.py"))
	for _, what := range []string{"streams", "tables"} {
		list := run(t, "bash", filepath.Join(folder, what+".sh"))
		if err := os.WriteFile(filepath.Join(dir, what+".txt"), []byte(list), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	agree := regexp.MustCompile(`\n[45]\d models agree\n$`)
	same := func(t *testing.T, python, program, needs, advice string) {
		if exec.Command(python, "-c", "import pandas, pyarrow, "+needs).Run() != nil {
			t.Skip(advice)
		}
		if out := run(t, python, filepath.Join(folder, program), "streams.txt", "tables.txt"); !agree.MatchString(out) {
			t.Errorf("the program says\n%s", out)
		}
	}
	ran := t.Run("onnx", func(t *testing.T) {
		same(t, filepath.Join(pythons, "python3"), "onnx_same.py", "onnx, onnxruntime", "no Python with onnx and onnxruntime: pip install -r testdata/requirements.txt, and let MARS_PYTHON name it")
	})
	t.Run("node", func(t *testing.T) {
		if _, err := os.Stat(filepath.Join(dir, "numbers.model.json")); err != nil || !ran {
			t.Skip("its rows are those of the test before, which has not run")
		}
		if exec.Command("node", "-e", `require("onnxruntime-node")`).Run() != nil {
			t.Skip("no Node.js with onnxruntime-node: npm install --ignore-scripts onnxruntime-node, and let NODE_PATH name its node_modules")
		}
		run(t, "node", filepath.Join(folder, "node_same.js"), "numbers.model", "mixed.model", "gaps.model", "gmm-ot.model", "grey-digits-gn.model", "colour-resnet8.model", "self.model")
	})
	t.Run("torch", func(t *testing.T) {
		python := os.Getenv("MARS_PYTHON_TORCH")
		if python == "" {
			python = filepath.Join(pythons, "python3")
		}
		same(t, python, "torch_same.py", "safetensors, torch", "no PyTorch: let MARS_PYTHON_TORCH name an interpreter that has it, with pandas, pyarrow and safetensors")
	})
}
