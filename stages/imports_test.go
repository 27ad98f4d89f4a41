package stages

import (
	"os/exec"
	"strings"
	"testing"
)

// floors are the kinds of packages from the ground up. A package imports those
// of lower floors, and of its own floor only where peers says so.
var floors = []struct {
	name  string
	holds func(path string) bool
	peers bool
}{
	{"words", within("internal/spelling"), false},
	{"tests of contexts", within("internal/contexttest"), false},
	{"algorithms/internal", within("stages/algorithms/internal"), true},
	{"algorithms", within("stages/algorithms"), true},
	{"arrowio", within("arrowio"), true},
	{"tables", within("tables"), true},
	{"stages", func(path string) bool { return path == "stages" }, false},
	{"stages/internal", within("stages/internal"), true},
	{ownPackages, func(path string) bool { return within("stages")(path) && strings.Count(path, "/") > 1 }, true},
	{"a stage", within("stages"), false},
	{"pipeline", within("pipeline"), true},
	{"show", within("show"), true},
	{"cmd", within("cmd"), true},
}

const ownPackages = "a stage's own packages"

// stageOf is the stage that a package is, or is part of: stages/NAME.
func stageOf(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

func within(folder string) func(string) bool {
	return func(path string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
}

func floorOf(path string) int {
	for i, f := range floors {
		if f.holds(path) {
			return i
		}
	}
	return -1
}

// No import runs back up: algorithms know neither Arrow nor stages, arrowio neither
// mathematics nor other formats, tables no stage, and no stage another one or what is another
// one's own; the command line wires them all.
func TestImportsRunDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "mars.dev/mars/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		from := strings.TrimPrefix(paths[0], "mars.dev/mars/")
		packages++
		for _, to := range paths[1:] {
			if strings.HasPrefix(to, "github.com/apache/arrow") && floorOf(from) < floorOf("arrowio") {
				t.Errorf("%s is an algorithm and imports %s", from, to)
			}
			if within("arrowio")(from) && (strings.Contains(to, "/parquet") || to == "encoding/csv") {
				t.Errorf("%s imports %s: other formats are for tables", from, to)
			}
			if to, ours := strings.CutPrefix(to, "mars.dev/mars/"); ours {
				checkImport(t, from, to)
			}
		}
	}
	if packages < 30 {
		t.Errorf("only %d packages were looked at", packages)
	}
}

func checkImport(t *testing.T, from, to string) {
	t.Helper()
	high, low := floorOf(from), floorOf(to)
	switch {
	case high < 0 || low < 0:
		t.Errorf("%s or %s is on no floor", from, to)
	case high < low:
		t.Errorf("%s (%s) imports %s (%s), which is above it", from, floors[high].name, to, floors[low].name)
	case high == low && !floors[high].peers:
		t.Errorf("%s imports %s: both are %s", from, to, floors[high].name)
	case strings.HasPrefix(from, "arrowio") && !strings.HasPrefix(to, "arrowio"):
		t.Errorf("%s imports %s: arrowio knows Arrow and nothing else", from, to)
	case floors[low].name == ownPackages && !within("cmd")(from) && stageOf(from) != stageOf(to):
		t.Errorf("%s imports %s, which is the stage %s's own", from, to, stageOf(to))
	case floors[high].name == ownPackages && floors[low].name == "stages/internal":
		t.Errorf("%s imports %s: what is a stage's own takes plain data", from, to)
	}
}
