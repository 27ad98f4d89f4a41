package pipeline

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// FuzzParse reads pipeline files. What is read is printed as a file that says the same.
func FuzzParse(f *testing.F) {
	for _, name := range ExampleNames() {
		text, err := Example(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "a", "[[stage]]", "[[stage]]\nrun = \"make\"", "jobs = 1\n[[stage]]\nrun = \"make\"\nsize = 0x10",
		"[[stage]]\nrun = \"make\"\nname = \"a\\n[[stage]]\\nrun = 'tell'\"\nsize = \"\\\"\\u0007\"",
		"[matrix]\n\"a b\" = [1, {x = 1.5, only = {}}]\n[[stage]]\nrun = \"make\"\nwhen = \"a b=1\"", "[table]\nbeside = \"x\"\n[[stage]]\nrun = 'make'",
		"stage = 1", "matrix = []", "[matrix]\nv = [[]]", "[[stage]]\nrun = \"make\"\nsize = [1, [2, 3]]", "\xff = 1", "[[stage]]\nrun = \"map\"\nfrom = \"-\"",
	} {
		f.Add(text)
	}
	defaults := map[string]string{"cache": "/c", "jobs": "0", "threads": "0", "memory": "", "in-process": "false"}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("a.toml", text, testCatalogue())
		if err != nil || file.Settle(nil, nil, func(string) string { return "" }, defaults) != nil {
			return
		}
		first := configOf(t, file)
		again, err := Parse("b.toml", first, testCatalogue())
		if err != nil {
			t.Fatalf("%q is printed as\n%s\nwhich is none: %v", text, first, err)
		}
		for i, s := range again.Stages {
			for name, v := range s.Flags {
				if was := file.Stages[i].Flags[name].Text; was != v.Text {
					t.Errorf("%q: %s was %q and is %q", text, name, was, v.Text)
				}
			}
		}
	})
}

func configOf(t *testing.T, file *File) string {
	t.Helper()
	var text strings.Builder
	if err := file.WriteConfig(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// FuzzManifest reads manifests of entries. No file of an entry lies outside of it.
func FuzzManifest(f *testing.F) {
	key := Dependencies{Stage: "make", Options: map[string]string{}}.Key()
	manifest := func(name string) []byte {
		e := Entry{Key: key, Dependencies: Dependencies{Stage: "make", Options: map[string]string{}}, Files: []EntryFile{{Name: name, Size: 4}}}
		text, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		return text
	}
	for _, name := range []string{"rows.arrow", "save/model", "../rows.arrow", "/etc/passwd", "out", "out/secret", "", ".", "save/../../../secret", "entry.json"} {
		f.Add(manifest(name))
	}
	f.Add([]byte("{"))
	f.Add([]byte(`{"key":"` + key + `","recipe":{"rows":{"key":"../../x"}},"files":[{"name":"rows.arrow","size":-1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := openTest(t)
		dir := c.path(entriesDir, key)
		secret := filepath.Join(filepath.Dir(c.Dir), "secret")
		for path, data := range map[string][]byte{
			filepath.Join(dir, manifestName): text, filepath.Join(dir, RowsName): []byte("rows"), filepath.Join(dir, "save", "model"): []byte("text"), secret: []byte("text"),
		} {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "out")); err != nil {
			t.Skip(err)
		}
		e, err := c.Lookup(key)
		if err != nil || e == nil {
			return
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range e.Files {
			path, err := filepath.EvalSymlinks(e.Path(file))
			if err != nil || !strings.HasPrefix(path, real+string(filepath.Separator)) {
				t.Errorf("%s: the entry has the file %q: %v", text, path, err)
			}
		}
		e.Verify(t.Context()) //nolint:errcheck // it may fail
		if _, err := c.Verify(t.Context(), func(ListEntry, error) {}); err != nil {
			t.Error(err)
		}
	})
}

// FuzzOrigin reads what the cache says of what something was made from.
func FuzzOrigin(f *testing.F) {
	key := strings.Repeat("a", 64)
	f.Add([]byte(`{"recipe":{"stage":"make"}}`))
	f.Add([]byte(`{"recipe":{"stage":"map","rows":{"key":"` + key + `"}}}`)) // made from itself
	f.Add([]byte(`{"recipe":{"stage":"map","rows":{"key":"../../x"},"files":{"load":{"key":"` + key + `/save","name":"../x"}}}}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := openTest(t)
		if err := os.WriteFile(c.path(originsDir, key), text, 0o666); err != nil {
			t.Fatal(err)
		}
		h := &tracer{cache: c, at: map[string]int{}, history: &History{File: "a"}}
		h.add(strings.Repeat("b", 64), Origin{Dependencies{Stage: "map", Rows: &Input{Name: "x", Key: key}}, "1"})
		if h.err != nil {
			return
		}
		var out bytes.Buffer
		h.history.WritePipeline(&out, testCatalogue(), Place{Dir: "again"}) //nolint:errcheck // it may fail
		if err := h.history.WriteText(&out); err != nil {
			t.Error(err)
		}
	})
}

// FuzzProvenance reads what files say of their provenance. The pipeline that is made of it
// has only options of the catalogue, reads local files and writes into its folder.
func FuzzProvenance(f *testing.F) {
	for _, text := range []string{
		`[{"stage":"make","options":{"source":"a.csv"}},{"stage":"map","options":{"lambda":"2"},"state":{"m":"00"}}]`,
		`[{"stage":"make","options":{"source":"../a.csv"}}]`, `[{"stage":"make","options":{"source":"/a"}}]`, `[{"stage":"make","state":{"/a":"00"}}]`,
		`[{"stage":"map","options":{"save":"/a","output":"b"}}]`, `[{"stage":"make","options":{"size = 1\n[[stage]]\nrun = \"tell\"\noutput":"a"}}]`,
		`[{"stage":"make","options":{"size":"\"\n[[stage]]\nrun = 'tell'\noutput = \"/x\""}}]`, `[{"stage":"make","seed":-1,"options":{"size":"1e3"}}]`,
		`[{"stage":"make"},{"stage":"map","state":{"load=..":"0","a=b":"1"}}]`, `[{"stage":"make","options":{"source":"again/a"}},{"stage":"map","state":{"again":""}}]`, `[]`, `null`, `[null]`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var steps []arrowio.Step
		if json.Unmarshal([]byte(text), &steps) != nil || len(steps) == 0 {
			return
		}
		h, err := fromSteps("rows.arrow", steps, testCatalogue())
		if err != nil {
			return
		}
		if err := h.WriteText(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
		dir := h.NewFolder(t.TempDir())
		var out strings.Builder
		if err := h.WritePipeline(&out, testCatalogue(), Place{dir, true}); err != nil {
			return
		}
		file, err := Parse("a.toml", out.String(), testCatalogue())
		if err != nil {
			if strings.Contains(text, "make") { // a map alone has nothing to read
				t.Fatalf("%s gives\n%s\n%v", text, out.String(), err)
			}
			return
		}
		if len(file.Stages) != len(steps) {
			t.Errorf("%s gives\n%s\nwhich has %d stages", text, out.String(), len(file.Stages))
		}
		for _, s := range file.Stages {
			for name, v := range s.Flags {
				checkPlaceOf(t, s.Stage.Flags[name].Role, v.Text, dir)
			}
		}
	})
}

func checkPlaceOf(t *testing.T, role Role, path, dir string) {
	t.Helper()
	inside := strings.HasPrefix(filepath.Clean(path), dir+string(filepath.Separator))
	switch {
	case role.Writes() && !inside:
		t.Errorf("it writes %q", path)
	case role.Reads() && (!filepath.IsLocal(path) || inside):
		t.Errorf("it reads %q", path)
	}
}
