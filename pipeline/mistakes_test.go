package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// What a file may say at its edges, and what it may not.
func TestEdgesOfFiles(t *testing.T) {
	const head = "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\n"
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"[matrix]\nseed = 1\n" + head:                                                                    "",
		head + "[table]\nshow = [\"make.seconds\"]\n":                                                    "",
		head + "[table]\nshow = [\"mak.seconds\"]\n":                                                     `f.toml: line 6: show: mak.seconds: there is no stage "mak": did you mean make?`,
		head + "lambda = [[1], [{a = 1}]]\n":                                                             "f.toml: line 5: lambda: is a map[string]interface {}: want text, a number, true or false, or a list of them",
		"[matrix]\nseed = [[{a = 1}]]\n" + head:                                                          "f.toml: line 2: seed: is a map[string]interface {}: want text, a number, true or false, or a list of them",
		"[matrix]\nseed = [1979-05-27]\n" + head:                                                         "f.toml: line 2: seed: is a time.Time: want text, a number, true or false, or a list of them",
		"[matrix]\nx = [{x = [[{a = 1}]]}]\n" + head:                                                     "f.toml: line 2: x: x: is a map[string]interface {}: want text, a number, true or false, or a list of them",
		head + "lambda = \"{lamda}\"\n":                                                                  "f.toml: line 5: lambda: the matrix has no value {lamda}: add a table [matrix] with lamda = [...]",
		"[matrix]\nlambda = [1, 2]\n" + head + "lambda = \"{lamda}\"\n":                                  "f.toml: line 7: lambda: the matrix has no value {lamda}: did you mean lambda?",
		"[matrix]\nlambda = [1, 2]\n" + head + "seed = \"{lambda}\"\n":                                   "",
		head + "lambda = \"worse\"\n":                                                                    "f.toml: line 5: lambda: is worse",
		head + "load = \"a\"\nread = \"b\"\n":                                                            "f.toml: line 6: read: map has no such flag: did you mean load?",
		head + "[[stage]]\nrun = \"ask\"\ndata = \"x\"\n":                                                "",
		head + "[[stage]]\nrun = \"ask\"\ndata = \"x\"\nafter = \"map\"\n":                               "f.toml: line 7: data: ask reads files or rows, not both: leave this out, or after and from",
		head + "[[stage]]\nrun = \"ask\"\ndata = \"x\"\nfrom = \"y\"\n":                                  "f.toml: line 7: data: ask reads files or rows, not both: leave this out, or after and from",
		head + "[[stage]]\nrun = \"ask\"\n":                                                              "f.toml: line 6: run: ask needs what make writes with keep = true: set that in line 1, or leave ask out",
		strings.Replace(head, "\"make\"\n", "\"make\"\nkeep = true\n", 1) + "[[stage]]\nrun = \"ask\"\n": "",
	} {
		catalogue := testCatalogue()
		catalogue[0].Flags["keep"] = Flag{Name: "keep", Bool: true}
		check := catalogue[1].Check
		catalogue[1].Check = func(args []string) (map[string]string, error) {
			if slices.Contains(args, "--lambda=worse") {
				return nil, errors.New("--lambda: is worse")
			}
			return check(args)
		}
		ask := *catalogue[2]
		ask.Name, ask.Wants, ask.Instead = "ask", "keep", []string{"data"}
		ask.Flags = map[string]Flag{"data": {Name: "data", Role: InputFile}}
		f, err := Parse("f.toml", text, append(catalogue, &ask))
		if err == nil {
			_, err = f.Expand(t.Context())
		}
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q:\n%v, want %s", text, err, want)
		}
	}
}

// Rows that are read from a stage's file are those of the stage.
func TestRowsFromFileOfStage(t *testing.T) {
	g := expand(t, "[[stage]]\nrun = \"map\"\nfrom = \"./rows.arrow\"\n[[stage]]\nrun = \"make\"\noutput = \"rows.arrow\"\n[[stage]]\nrun = \"map\"\nsave = \"model\"\n[[stage]]\nrun = \"map\"\nfrom = \"model\"\nlambda = 2\n")
	if got := labels(g.Nodes); got != "make, map, map, map" {
		t.Fatalf("the order is %s", got)
	}
	if n := g.Nodes[1]; n.Parent != g.Nodes[0] || n.From != "" || len(g.Nodes[0].Children) != 2 {
		t.Errorf("the rows are read from %v and %q; %d read them", n.Parent, n.From, len(g.Nodes[0].Children))
	}
	if n := g.Nodes[3]; n.Parent != nil || n.From != "model" {
		t.Errorf("a model is taken for rows: %v, %q", n.Parent, n.From)
	}
}

// --set gives an axis other values, of which those of the file keep what they set.
func TestSetMatrix(t *testing.T) {
	const text = "[matrix]\nmethod = [{name = \"a1\", method = \"a\", lambda = 2}, \"b\"]\nseed = 3\n[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nmethod = \"{method}\"\nlambda = \"{lambda}\"\nseed = \"{seed}\"\n"
	for target, c := range map[string]struct{ value, want, failure string }{
		"matrix.seed":   {"5,6", "method=a1 seed=5, method=a1 seed=6, method=b seed=5, method=b seed=6", ""},
		"matrix.method": {"c,a1", "method=c seed=3, method=a1 seed=3", ""},
		"matrix.sead":   {"1", "", `--set matrix.sead: no stage uses {sead}, and the matrix has no axis "sead": did you mean seed?`},
	} {
		f, err := Parse("test.toml", text, testCatalogue())
		if err == nil {
			err = f.Set(target, c.value, "flag")
		}
		var g *Graph
		if err == nil {
			g, err = f.Expand(t.Context())
		}
		if c.failure != "" || err != nil {
			if err == nil || err.Error() != c.failure {
				t.Errorf("%s: %v, want %s", target, err, c.failure)
			}
			continue
		}
		var runs []string
		for _, r := range g.Runs {
			n := r.Nodes[1]
			runs = append(runs, strings.TrimPrefix(n.Label(), "map "))
			if lambda, isA := n.Flags["lambda"], strings.Contains(n.Label(), "a1"); isA != (lambda == "2") {
				t.Errorf("%s: %s has lambda %q", target, n.Label(), lambda)
			}
		}
		if got := strings.Join(runs, ", "); got != c.want {
			t.Errorf("%s: the runs are %s, want %s", target, got, c.want)
		}
	}
	f, err := Parse("test.toml", "[[stage]]\nrun = \"make\"\nsize = \"{size}{size.name}\"\n", testCatalogue())
	if err == nil {
		err = f.Set("matrix.size", "7", "flag")
	}
	if err != nil {
		t.Fatal(err)
	}
	if g, err := f.Expand(t.Context()); err != nil || g.Nodes[0].Flags["size"] != "77" {
		t.Errorf("an axis that the file has not: %v, %v", g, err)
	}
}

// The environment sets flags of stages, and flags of --set come before it.
func TestEnvironmentOfStages(t *testing.T) {
	f, err := Parse("test.toml", "[[stage]]\nrun = \"make\"\nsize = 1\n[[stage]]\nrun = \"map\"\n", testCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{"MARS_MAKE_SIZE": "2", "MARS_MAP_LAMBDA": "3", "MARS_MAP_METHOD": "m"}
	if err := f.Settle(nil, []string{"map.method=n"}, func(name string) string { return variables[name] }, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stage      int
		flag       string
		want       Value
		alsoInFile int
	}{{0, "size", Value{"2", "environment MARS_MAKE_SIZE"}, 1}, {1, "lambda", Value{"3", "environment MARS_MAP_LAMBDA"}, 2}, {1, "method", Value{"n", "flag"}, 2}} {
		if s := f.Stages[c.stage]; s.Flags[c.flag] != c.want || len(s.Order) != c.alsoInFile {
			t.Errorf("%s is %+v, want %+v; the order is %v", c.flag, s.Flags[c.flag], c.want, s.Order)
		}
	}
}

func TestCombinationsFail(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := Combinations(ended, "a.toml", "[matrix]\nseed = 1\n"); !errors.Is(err, context.Canceled) {
		t.Errorf("when its context has ended: %v", err)
	}
	if _, _, err := Combinations(t.Context(), "a.toml", "[matrix]\nseed = []\n"); err == nil || err.Error() != "a.toml: line 2: seed: has no values, so there would be no runs: list some" {
		t.Errorf("an axis of no values: %v", err)
	}
}

// What a stage puts out is no object up to where it stops being one.
func TestNumbersThatEndEarly(t *testing.T) {
	for _, text := range []string{`{"a": 1, b: 2}`, `{"a": 1, 2: 3}`, `{"a": {"b": 1, c: 2}, "d": 3}`, `{"a": [1, x]}`, `{"a": 1]`} {
		if found, err := readNumbers([]byte(text)); err == nil {
			t.Errorf("%s is read as %v", text, found)
		}
	}
}

// An output may not be what is read, with it or for the table, nor another output.
func TestCheckFiles(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"in.csv.labels", "more.arrow.labels", "paper.csv", "config.toml"} {
		l.write(name, "text")
	}
	beside := func(_ context.Context, path string) []string { return []string{path, path + ".labels"} }
	const text = "[[stage]]\nrun = \"make\"\nsource = \"in.csv\"\noutput = \"rows.arrow\"\n[[stage]]\nrun = \"map\"\nfrom = \"more.arrow\"\nsave = \"model\"\n[table]\nbeside = \"paper.csv\"\n"
	for _, c := range []struct{ was, is, want string }{
		{"rows.arrow", "rows.arrow", ""}, {`"rows.arrow"`, `"./in.csv.labels"`, "in.csv.labels"}, {`"model"`, `"more.arrow.labels"`, "more.arrow.labels"},
		{`"model"`, `"./paper.csv"`, "paper.csv"}, {`"model"`, `"table.csv"`, "table.csv"}, {`"model"`, `"config.toml"`, "config.toml"},
	} {
		g := expand(t, strings.Replace(text, c.was, c.is, 1))
		err := g.CheckFiles(t.Context(), []arrowio.FileUse{{Flag: "config", Path: "config.toml"}}, []arrowio.FileUse{{Flag: "table", Path: "table.csv"}}, beside)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s for %s: %v, want %s", c.is, c.was, err, c.want)
		}
	}
	g := expand(t, text)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := g.CheckFiles(ended, nil, nil, beside); !errors.Is(err, context.Canceled) {
		t.Errorf("when its context has ended: %v", err)
	}
	t.Setenv("MARS_TEST_NOTHING", "")
	g.File.Table.Beside = "$MARS_TEST_NOTHING/x"
	if err := g.CheckFiles(t.Context(), nil, nil, beside); err == nil || !strings.HasPrefix(err.Error(), "test.toml: line 10: beside: the environment variable MARS_TEST_NOTHING is not set") {
		t.Errorf("a variable that is not set: %v", err)
	}
}

// What a file lacks that a stage reads is said with its place.
func TestKeysOfMissingFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"[[stage]]\nrun = \"make\"\nsource = \"none\"\n": "test.toml: line 3: source: stat none: ",
		"[[stage]]\nrun = \"map\"\nfrom = \"none\"\n":    "test.toml: line 3: from: stat none: ",
	} {
		if err := expand(t, text).Keys(t.Context(), &Machine{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Explain says of every stage whether it runs, and what has changed since it last did.
func TestExplain(t *testing.T) {
	l := newLab(t)
	l.write("in.csv", "text")
	const text = "[[stage]]\nrun = \"make\"\nsource = \"in.csv\"\n[[stage]]\nrun = \"map\"\nlambda = 1\n[[stage]]\nrun = \"tell\"\n"
	explain := func(text string, m *Machine, algorithm int, cache *Cache) string {
		t.Helper()
		catalogue := l.catalogue()
		catalogue.Find("make").Algorithm = algorithm
		f, err := Parse("test.toml", text, catalogue)
		if err != nil {
			t.Fatal(err)
		}
		g, err := f.Expand(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := errors.Join(g.Keys(t.Context(), m), Explain(t.Context(), &b, g, cache)); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "\n", " | ")), " ")
	}
	same := &Machine{Kernels: "generic", Threads: 1}
	if got, want := explain(text, same, 1, l.cache), "make runs has not run before | map runs has not run before | tell runs has not run before |"; got != want {
		t.Errorf("at first:\n%s, want\n%s", got, want)
	}
	if err := l.run(text); err != nil {
		t.Fatal(err)
	}
	const after = " | map runs make runs before it | tell runs map runs before it |"
	for _, c := range []struct {
		name, text string
		m          *Machine
		algorithm  int
		cache      *Cache
		want       string
	}{
		{"another lambda", strings.Replace(text, "lambda = 1", "lambda = 2", 1), same, 1, l.cache, "make cached 3 rows, made "},
		{"a lambda more", strings.Replace(text, "lambda = 1", "lambda = 1\nmethod = \"a\"", 1), same, 1, l.cache, "map runs method is now a, and was not given | tell runs map runs before it |"},
		{"no lambda", strings.Replace(text, "lambda = 1\n", "", 1), same, 1, l.cache, "map runs lambda was 1, and is not given now | tell runs map runs before it |"},
		{"another algorithm", text, same, 2, l.cache, "make runs the algorithm's version changed from 1 to 2" + after},
		{"other kernels", text, &Machine{Kernels: "avx2", Threads: 1}, 1, l.cache, "make runs the kernels changed from generic to avx2 | map runs the kernels changed from generic to avx2; make runs before it |"},
		{"other threads", text, &Machine{Kernels: "generic", Threads: 4}, 1, l.cache, "map runs the number of threads changed from 1 to 4 | tell runs map runs before it |"},
		{"threads that are set", strings.Replace(text, "lambda = 1", "lambda = 1\njobs = 4", 1), same, 1, l.cache, "map runs jobs is now 4, and was not given | tell runs map runs before it |"},
		{"no cache", text, same, 1, nil, "make runs there is no cache | map runs there is no cache | tell runs there is no cache |"},
	} {
		if got := explain(c.text, c.m, c.algorithm, c.cache); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
	l.write("in.csv", "other text")
	again := &Machine{Kernels: "generic", Threads: 1} // which has not hashed it yet
	if got, want := explain(text, again, 1, l.cache), "make runs in.csv has changed"+after; got != want {
		t.Errorf("of another file:\n%s, want\n%s", got, want)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := Explain(ended, &strings.Builder{}, expand(t, makeMapTell), l.cache); !errors.Is(err, context.Canceled) {
		t.Errorf("when its context has ended: %v", err)
	}
}
