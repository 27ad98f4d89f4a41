package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/internal/contexttest"
)

// testCatalogue has a stage that makes rows, one that maps them and one of text.
func testCatalogue() Catalogue {
	flags := func(roles map[string]Role) map[string]Flag {
		all := map[string]Flag{"output": {Name: "output", Role: RowsFile}, "seed": {Name: "seed", Role: Seed}}
		for name, role := range roles {
			all[name] = Flag{Name: name, Role: role}
		}
		return all
	}
	check := func(args []string) (map[string]string, error) {
		set := map[string]string{}
		for _, arg := range args {
			name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			if value == "bad" {
				return nil, errors.New("--" + name + " is bad")
			}
			set[name] = value
		}
		return set, nil
	}
	return Catalogue{
		{Name: "make", Algorithm: 1, Rows: true, Flags: flags(map[string]Role{"source": InputFile, "size": Effect}), Check: check},
		{Name: "map", Algorithm: 1, Reads: true, Rows: true, Flags: flags(map[string]Role{"lambda": Effect, "method": Effect, "save": StateFile, "load": LoadFile, "memory": NoEffect, "jobs": Threads}), Check: check},
		{Name: "tell", Algorithm: 1, Reads: true, Flags: flags(nil), Check: check},
	}
}

func expand(t *testing.T, text string) *Graph {
	t.Helper()
	f, err := Parse("test.toml", text, testCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.Expand(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func labels(nodes []*Node) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Label())
	}
	return strings.Join(all, ", ")
}

func TestExpandShares(t *testing.T) {
	g := expand(t, `
[matrix]
method = ["a", {name = "b1", method = "b", weight = 1}]
seed = [0, 1]
[[stage]]
run = "make"
[[stage]]
run = "map"
name = "embed"
seed = "{seed}"
[[stage]]
run = "map"
method = "{method}"
lambda = "{weight}"
save = "{method.name}-{seed}"
[[stage]]
run = "tell"
`)
	want := "make, embed seed=0, map method=a seed=0, tell method=a seed=0, embed seed=1, map method=a seed=1, tell method=a seed=1, " +
		"map method=b1 seed=0, tell method=b1 seed=0, map method=b1 seed=1, tell method=b1 seed=1"
	if got := labels(g.Nodes); got != want {
		t.Errorf("nodes are\n%s, want\n%s", got, want)
	}
	if len(g.Runs) != 4 || len(g.Nodes[1].Children) != 2 {
		t.Errorf("%d runs, %d children of embed", len(g.Runs), len(g.Nodes[1].Children))
	}
	a, b := g.Nodes[2], g.Nodes[7]
	if _, given := a.Flags["lambda"]; given || b.Flags["lambda"] != "1" || b.Flags["method"] != "b" || b.Flags["save"] != "b1-0" {
		t.Errorf("flags are %v and %v", a.Flags, b.Flags)
	}
}

func TestExpandFollowsFiles(t *testing.T) {
	g := expand(t, `
[[stage]]
run = "make"
name = "more"
[[stage]]
run = "map"
load = "state"
[[stage]]
run = "make"
size = 2
[[stage]]
run = "map"
name = "fit"
save = "state"
`)
	if got := labels(g.Nodes); got != "more, make, fit, map" {
		t.Errorf("order is %s", got)
	}
	if maker := g.Nodes[3].Files[0].Maker; maker != g.Nodes[2] {
		t.Errorf("the state is made by %v", maker)
	}
	f, err := Parse("test.toml", "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nload = \"a\"\nsave = \"b\"\n[[stage]]\nrun = \"map\"\nload = \"b\"\nsave = \"a\"\n", testCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Expand(t.Context()); err == nil || !strings.Contains(err.Error(), "what it writes itself") {
		t.Errorf("a circle of files gives %v", err)
	}
}

func TestExpandStopsWithItsContext(t *testing.T) {
	f, err := Parse("test.toml", "[matrix]\nseed = [1, 2, 3]\nsize = [4, 5]\n[[stage]]\nrun = \"make\"\nseed = \"{seed}\"\nsize = \"{size}\"\n", testCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	contexttest.Stops(t, 16, func(ctx context.Context) error { // 4 combinations of values, 6 runs, 6 nodes
		_, err := f.Expand(ctx)
		return err
	})
}

func TestMistakes(t *testing.T) {
	const head = "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\n"
	const axes = "[matrix]\nseed = [0, 1]\n"
	for text, want := range map[string]string{
		"":                                      "there are no stages",
		"[matrix]\nx = []\n" + head:             "line 2: x: has no values",
		"[matrix]\nx = [{y = 1}]\n" + head:      "line 2: x: a table of values needs the key x",
		head + "lambda = {a = 1}":               "line 5: lambda: is a map",
		head + "lambda = \"bad\"":               "line 5: lambda: --lambda is bad",
		head + "after = \"maik\"":               "line 5: after: no stage above is called \"maik\": did you mean make?",
		head + "after = \"make\"\nfrom = \"x\"": "line 6: from: a stage reads",
		head + "load = \"\"":                    "line 5: load: names no file",
		head + "[[stage]]\n":                    "line 5: stage 3 does not say what it runs",
		head + "[[stage]]\nrun = \"tell\"\n[[stage]]\nrun = \"map\"":   "line 8: run: tell puts out no rows for map to read",
		"[[stage]]\nrun = \"make\"\nfrom = \"x\"":                      "make reads no rows",
		"[matrix]\nseed = [1, 2]\n" + head:                             "line 2: seed: no stage uses it: write {seed}",
		head + "save = \"a\"\nload = \"./a\"":                          "line 5: save: a is input and output at once",
		axes + "method = [{method = 1, seed = 2}]\n" + head:            "line 3: method: the value 1 sets seed, which is an axis itself: write only = {seed = ...}",
		axes + "method = [{method = 1, only = {sed = 0}}]\n" + head:    `line 3: method: only, of the value 1: the matrix has no axis "sed": did you mean seed?`,
		axes + "method = [{method = 1, only = \"seed\"}]\n" + head:     `line 3: method: only: "seed" is no condition: write AXIS=VALUE`,
		axes + "method = [{method = 1, only = {seed = 3}}]\n" + head:   `line 3: method: only, of the value 1: seed has no value "3": it has 0, 1`,
		axes + head + "when = \"seed=7\"":                              `line 7: when: seed has no value "7": it has 0, 1`,
		axes + head + "when = {sede = 0}":                              `line 7: when: the matrix has no axis "sede": did you mean seed?`,
		axes + head + "when = 3":                                       "line 7: when: is a int64: want a table of axes and their values",
		head + "save = \"$MARS_TEST_UNSET/x\"":                         "line 5: save: the environment variable MARS_TEST_UNSET is not set",
		"[table]\nshow = [\"accuracy\"]\nrows = \"seed\"\n" + head:     "line 3: rows: a table has no such key: there are file, columns, over, numbers, show, beside",
		"[table]\noverr = \"seed\"\n" + head:                           "line 2: overr: a table has no such key: did you mean over?",
		axes + "[table]\ncolumns = \"sed\"\n" + head:                   `line 4: columns: the matrix has no axis "sed": did you mean seed?`,
		axes + "[table]\nover = [\"seed\", \"pair\"]\n" + head:         `line 4: over: the matrix has no axis "pair"`,
		axes + "[table]\nover = \"seed\"\ncolumns = \"seed\"\n" + head: "line 5: columns: an axis cannot be both columns and over",
		"[table]\nshow = [\"accuracy\", \"mak.seconds\"]\n" + head:     `line 2: show: mak.seconds: there is no stage "mak": did you mean make?`,
		"[table]\nnumbers = [\"x\", \"eval.megabytes\"]\n" + head:      `line 2: numbers: eval.megabytes: there is no stage "eval"`,
		"tabel = 1\n" + head:                                           "line 1: tabel: there is no such setting: did you mean table?",
		head + "when = \"seed=7\"":                                     `line 5: when: there is no axis "seed": the file has no table [matrix]`,
		"[matrix]\na = [{a = 1, only = {b = 1}}]\nb = [{b = 1, only = {c = 1}}, 2]\nc = [{c = 1, only = {b = 2}}]\n" + head: "line 1: leaves no combination",
		axes + "[[stage]]\nrun = \"make\"\nwhen = \"seed=1\"\n[[stage]]\nrun = \"map\"\n":                                   "line 7: run: map reads rows, and there is no stage before it: name a file with from, or begin with featurize (map seed=0)",
	} {
		f, err := Parse("f.toml", text, testCatalogue())
		if err == nil {
			_, err = f.Expand(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v, want %s", text, err, want)
		}
	}
}

// A value may go with some values of other axes alone, and a stage belong to some runs.
func TestConditions(t *testing.T) {
	const text = `
[matrix]
method = [{method = "a", only = {seed = [0]}}, {name = "b1", method = "b", only = "data=x"}, "c"]
seed = [0, 1]
data = ["x", "z"]
[[stage]]
run = "make"
size = "{data}"
[[stage]]
run = "map"
name = "embed"
when = {method = ["a", "b1"]}
[[stage]]
run = "map"
name = "train"
method = "{method}"
[[stage]]
run = "tell"
after = "embed"
when = "method=c"
seed = "{seed}"
`
	f, err := Parse("test.toml", text, testCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.Expand(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, r := range g.Runs {
		run := r.Values["method"] + r.Values["seed"] + r.Values["data"] + ":"
		for _, n := range r.Nodes {
			if n != nil {
				run += " " + n.Name
				if n.Parent != nil {
					run += "<" + n.Parent.Name
				}
			}
		}
		runs = append(runs, run)
	}
	want := []string{
		"a0x: make embed<make train<embed", "a0z: make embed<make train<embed",
		"b10x: make embed<make train<embed", "b11x: make embed<make train<embed",
		"c0x: make train<make tell<make", "c0z: make train<make tell<make",
		"c1x: make train<make tell<make", "c1z: make train<make tell<make",
	}
	if !slices.Equal(runs, want) {
		t.Errorf("the runs are\n%s", strings.Join(runs, "\n"))
	}
	config := printed(t, f)
	if again := expand(t, config); labels(again.Nodes) != labels(g.Nodes) || len(again.Runs) != len(g.Runs) {
		t.Errorf("what is printed says something else:\n%s", config)
	}
}

// printed is a file as --print-config prints it.
func printed(t *testing.T, f *File) string {
	t.Helper()
	numbers := map[string]string{"jobs": "0", "threads": "0", "in-process": "false"}
	var text strings.Builder
	if err := errors.Join(f.Settle(nil, nil, func(string) string { return "" }, numbers), f.WriteConfig(&text)); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Everything that a result depends on is in the key, and nothing else.
func TestKey(t *testing.T) {
	base := func() Dependencies {
		return Dependencies{Stage: "map", Algorithm: 1, Kernels: "generic", Threads: 2, Options: map[string]string{"seed": "1", "load": "in/f.csv", "more": "in/g.csv"},
			Rows: &Input{Name: "a", Key: "k"}, Files: map[string]Input{"load": {Name: "in/f.csv", SHA256: "s"}, "more": {Name: "in/g.csv", SHA256: "s"}}}
	}
	key := base().Key()
	for name, change := range map[string]func(*Dependencies){
		"stage":     func(r *Dependencies) { r.Stage = "make" },
		"algorithm": func(r *Dependencies) { r.Algorithm = 2 },
		"kernels":   func(r *Dependencies) { r.Kernels = "avx2" },
		"threads":   func(r *Dependencies) { r.Threads = 3 },
		"seed":      func(r *Dependencies) { r.Options["seed"] = "2" },
		"option":    func(r *Dependencies) { r.Options["lambda"] = "1" },
		"rows":      func(r *Dependencies) { r.Rows.Key = "l" },
		"content":   func(r *Dependencies) { r.Rows = &Input{SHA256: "k"} },
		"file":      func(r *Dependencies) { r.Files["load"] = Input{SHA256: "t"} },
		"ending":    func(r *Dependencies) { r.Options["load"] = "in/f.tsv" },
		"second":    func(r *Dependencies) { r.Options["load"] = "in/f.tsv.gz" },
		"member":    func(r *Dependencies) { r.Options["load"] = "in/f.npz:x" },
		"same file": func(r *Dependencies) { r.Options["more"] = "in/f.csv" },
		"flag":      func(r *Dependencies) { r.Files = map[string]Input{"init": {SHA256: "s"}} },
	} {
		r := base()
		if change(&r); r.Key() == key {
			t.Errorf("another %s has the same key", name)
		}
	}
	renamed := base()
	renamed.Rows.Name, renamed.Files["load"] = "b", Input{Name: "g", SHA256: "s"}
	renamed.Options["load"], renamed.Options["more"] = "other/copy.of.f.csv", "other/g.csv"
	if renamed.Key() != key {
		t.Error("what inputs are called changes the key")
	}
}

func TestShellQuote(t *testing.T) {
	for text, want := range map[string]string{"a,b=1": "a,b=1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'"} {
		if got := Quote(text); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
	}
}

// What --print-config prints says the same when it is read again.
func TestValuesAsTOML(t *testing.T) {
	for text, want := range map[string]string{"1": "1", "0.5": "0.5", "1e-3": `"1e-3"`, "007": `"007"`, "inf": `"inf"`, "a,b": `"a,b"`, "true": `"true"`} {
		if got := (Flag{}).toml(text); got != want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
}

func TestLiveView(t *testing.T) {
	g := expand(t, "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"tell\"\n")
	var out strings.Builder
	v := &Live{W: &out, Width: func() int { return 40 }}
	v.Plan(nil, g.Nodes)
	v.Start(g.Nodes[0])
	v.last = v.last.Add(-redrawEvery * 2)
	v.Progress(g.Nodes[0], "epochs", 2, 4)
	v.Log(g.Nodes[0], "mars-make: warning: dry")
	v.Done(g.Nodes[0], 7, 0, nil)
	for _, want := range []string{"2 stages to run, 0 in the cache\n", "[0/2] make: at work", "[0/2] make: 2 of 4 epochs", "make: warning: dry\n", "make: 7 rows in 0.0 s\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the view lacks %q:\n%q", want, out.String())
		}
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if visible := line[strings.LastIndex(line, "J")+1:]; len(visible) >= 40 {
			t.Errorf("a line is wider than the terminal: %q", visible)
		}
	}
}

// The runs of a file that ships are those that its head says.
func TestCombinationsOfExamples(t *testing.T) {
	for name, want := range map[string]int{"paper-toy": 17820, "paper-digits": 1980, "paper-visda": 2200, "paper-office31": 1320, "paper-officehome": 2640} {
		text, err := Example(name)
		if err != nil {
			t.Fatal(err)
		}
		axes, runs, err := Combinations(t.Context(), name, text)
		if err != nil || len(runs) != want {
			t.Errorf("%s: %d runs (%v), want %d", name, len(runs), err, want)
		}
		if first := strings.Join(runs[0], " "); name == "paper-toy" && (strings.Join(axes, " ") != "setting x method seed" || first != "0 0 source 0") {
			t.Errorf("%s: axes %v, the first run %s", name, axes, first)
		}
	}
	if _, _, err := Combinations(t.Context(), "bad.toml", "[matrix]\na = ["); err == nil || !strings.Contains(err.Error(), "bad.toml") {
		t.Errorf("no TOML: %v", err)
	}
}
