package pipeline

import (
	"strings"
	"testing"
)

// Environment variables are put into paths, those of the matrix too, and into
// nothing else.
func TestEnvironmentInPaths(t *testing.T) {
	t.Setenv("MARS_TEST_DATA", "/data/{x}$y")
	t.Chdir(t.TempDir())
	const text = `
[matrix]
folder = ["$MARS_TEST_DATA"]
[[stage]]
run = "make"
size = "$MARS_TEST_DATA"
output = "{folder}/a$$b.arrow"
[[stage]]
run = "map"
from = "$MARS_TEST_DATA.arrow"
`
	g := expand(t, text)
	if n := g.Nodes[0]; n.Flags["size"] != "$MARS_TEST_DATA" || n.Outputs[0].Path != "/data/{x}$y/a$b.arrow" {
		t.Errorf("the flags are %v, the outputs %v", n.Flags, n.Outputs)
	}
	if from := g.Nodes[1].From; from != "/data/{x}$y.arrow" {
		t.Errorf("the rows are read from %s", from)
	}
	f := &File{}
	for _, path := range []string{"a", "$", "$$", "$a/$$b$"} {
		if again, err := f.path(asPath(path)); again != path || err != nil {
			t.Errorf("%s is written %s, which is %s, %v", path, asPath(path), again, err)
		}
	}
}

// A single command's paths have been through a shell already.
func TestSingleLeavesDollars(t *testing.T) {
	stage := testCatalogue().Find("make")
	g, err := Single(stage, map[string]string{"source": "$HOME"}, []string{"source"}, "")
	if err != nil || g.Nodes[0].Files[0].Path != "$HOME" {
		t.Errorf("the graph is %+v, %v", g, err)
	}
}

func TestUnsetVariable(t *testing.T) {
	t.Setenv("MARS_TEST_NOTHING", "")
	f, err := Parse("f.toml", "table = \"$MARS_TEST_NOTHING/x\"\n[[stage]]\nrun = \"make\"\n", testCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	err = f.Settle(nil, nil, func(string) string { return "" }, nil)
	if want := "f.toml: line 1: table: the environment variable MARS_TEST_NOTHING is not set: set it to what $MARS_TEST_NOTHING stands for"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
