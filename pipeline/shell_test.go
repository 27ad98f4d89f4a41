package pipeline

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// A script has the commands of a pipeline, joined by pipes where rows have one reader.
func TestWriteShell(t *testing.T) {
	const head = "#!/usr/bin/env bash\nset -euo pipefail\n"
	const folder = "work=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT\n"
	for _, c := range []struct{ name, text, want string }{
		{"a pipe", makeMapTell, head + "\n# tell\nmars make |\n  mars map |\n  mars tell\n"},
		{"rows that nobody takes", "[[stage]]\nrun = \"make\"\n", head + "\n# make\nmars make >/dev/null\n"},
		{"rows of two readers", "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"tell\"\n[[stage]]\nrun = \"map\"\nafter = \"make\"\noutput = \"-x.arrow\"\nlambda = \"a b\"\n",
			head + folder + "\n# make\nmars make -o \"$work/0.arrow\"\n\n# tell\nmars tell \"$work/0.arrow\"\n\n# map\nmars map --lambda 'a b' \"$work/0.arrow\" -o ./-x.arrow\n"},
		{"rows in a file", "[[stage]]\nrun = \"make\"\noutput = \"a/rows.arrow\"\n[[stage]]\nrun = \"tell\"\noutput = \"a/b/text\"\n",
			head + "mkdir -p -- a\nmkdir -p -- a/b\n\n# make\nmars make -o a/rows.arrow\n\n# tell\nmars tell a/rows.arrow >a/b/text\n"},
		{"rows of a file", "[[stage]]\nrun = \"map\"\nfrom = \"in.arrow\"\nkeep = true\nsave = \"m\"\n[[stage]]\nrun = \"tell\"\nkeep = false\n",
			head + "\n# tell\nmars map --keep --save m in.arrow |\n  mars tell --keep=false\n"},
		{"compressed rows", "[[stage]]\nrun = \"make\"\noutput = \"a.arrow\"\ncompress = \"zstd\"\n[[stage]]\nrun = \"map\"\ncompress = \"zstd\"\n[[stage]]\nrun = \"tell\"\n",
			head + "\n# make\nmars make --compress zstd -o a.arrow\n\n# tell\nmars map a.arrow |\n  mars tell\n"},
		{"two files of the same", "[matrix]\ncopy = [1, 2]\n[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nlambda = 1\nsave = \"{copy}/m\"\noutput = \"{copy}.arrow\"\n",
			head + "mkdir -p -- 1\nmkdir -p -- 2\n\n# map copy=1\nmars make |\n  mars map --lambda 1 --save 1/m -o 1.arrow\ncp -- 1.arrow 2.arrow\ncp -- 1/m 2/m\n"},
		{"two layouts", "[matrix]\nkind = [\"arrow\", \"arrows\", \"csv.gz\", \"csv.zst\"]\n[[stage]]\nrun = \"make\"\noutput = \"a.{kind}\"\n",
			head + "\n# make kind=arrow\nmars make -o a.arrow\nmars make -o a.arrows\nmars make -o a.csv.gz\nmars make -o a.csv.zst\n"},
		{"compressed layouts", "[matrix]\nkind = [\"csv.gz\", \"tsv.gz\"]\n[[stage]]\nrun = \"make\"\noutput = \"a.{kind}\"\n", head + "\n# make kind=csv.gz\nmars make -o a.csv.gz\nmars make -o a.tsv.gz\n"},
		{"other compressed layouts", "[matrix]\nkind = [\"csv.zst\", \"tsv.zst\"]\n[[stage]]\nrun = \"make\"\noutput = \"a.{kind}\"\n", head + "\n# make kind=csv.zst\nmars make -o a.csv.zst\nmars make -o a.tsv.zst\n"},
		{"a layout for people", "[[stage]]\nrun = \"make\"\noutput = \"a.csv\"\n", head + "\n# make\nmars make -o a.csv\n"},
		{"a layout that no stage reads", "[[stage]]\nrun = \"make\"\noutput = \"a.csv\"\n[[stage]]\nrun = \"tell\"\n",
			head + folder + "\n# make\nmars make -o \"$work/0.arrow\"\nmars make -o a.csv\n\n# tell\nmars tell \"$work/0.arrow\"\n"},
	} {
		catalogue := testCatalogue()
		catalogue[0].Write = func(path string) WriteRows {
			if strings.HasSuffix(path, ".csv") {
				return func(context.Context, io.Writer, arrowio.Stream) error { return nil }
			}
			return nil
		}
		for _, s := range catalogue {
			s.Flags["keep"] = Flag{Name: "keep", Bool: true}
			s.Flags["compress"] = Flag{Name: "compress", Role: Encoding}
		}
		f, err := Parse("test.toml", c.text, catalogue)
		if err != nil {
			t.Fatal(err)
		}
		g, err := f.Expand(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := g.WriteShell(&b); err != nil || b.String() != c.want {
			t.Errorf("%s: %v, the script is\n%s, want\n%s", c.name, err, b.String(), c.want)
		}
		if err := g.WriteShell(writerFunc(func([]byte) (int, error) { return 0, errors.New("no room") })); err == nil || err.Error() != "no room" {
			t.Errorf("%s: a script that nobody takes: %v", c.name, err)
		}
	}
}

// What a terminal would obey is quoted byte by byte, and what it shows is not.
func TestQuoteControl(t *testing.T) {
	for text, want := range map[string]string{"\x1b ~": `$'\x1b ~'`, "\n'\\": `$'\x0a\x27\x5c'`, "\x7f\x80": `$'\x7f\x80'`, "~": "'~'"} {
		if got := Quote(text); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
	}
}

// A layout of the stage's own is written, or not at all.
func TestOwnLayout(t *testing.T) {
	l := newLab(t)
	failure := errors.New("no such layout")
	g := expand(t, "[[stage]]\nrun = \"make\"\noutput = \"a.csv\"\n")
	n := g.Nodes[0]
	n.Stage.Write = func(path string) WriteRows {
		if !strings.HasSuffix(path, ".csv") {
			return nil
		}
		return func(_ context.Context, w io.Writer, rows arrowio.Stream) error {
			if _, err := io.WriteString(w, "x\n"); err != nil {
				return err
			}
			return failure
		}
	}
	if err := g.Keys(t.Context(), &Machine{}); err != nil {
		t.Fatal(err)
	}
	e := put(t, l.cache, n)
	if err := deliver(t.Context(), n, e); !errors.Is(err, failure) || isThere("a.csv") {
		t.Errorf("%v, the file is there: %t", err, isThere("a.csv"))
	}
	failure = nil
	if err := deliver(t.Context(), n, e); err != nil || l.file("a.csv") != "x\n" {
		t.Errorf("%v, the file holds %q", err, l.file("a.csv"))
	}
	if f, ok := e.fileOf(hashed(t, "a.csv")); !ok || f.Name != RowsName {
		t.Errorf("the layout is not known: %v", f)
	}
	if (Output{"output", "a.csv"}).encoding(n) == nil || (Output{"output", "a.arrow"}).encoding(n) != nil {
		t.Error("the layouts are mixed up")
	}
	if _, err := encodeFile(t.Context(), "none", "b", nil); err == nil {
		t.Error("a file is made of none")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := copyFile(ended, "a.csv", "b"); !errors.Is(err, context.Canceled) || isThere("b") {
		t.Errorf("a copy that is interrupted: %v", err)
	}
}

// A consumer that does not mind that its rows end early does not hide that they were told to.
func TestJoinToldToEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	patient := func(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error {
		if err := count(1)(ctx, in, out); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	err := Join(ctx, "numbers", nil, []Filter{patient}, func(ctx context.Context, in arrowio.Stream) error {
		_, err := in.Next()
		cancel()
		<-ctx.Done()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// A program ends with the one that started it. What is no number of an open file is refused.
func TestParentVariable(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	os.Stdin = r
	t.Setenv(ParentVariable, "0") // standard input
	ended := make(chan bool)
	if err := EndWithParent(func() { close(ended) }); err != nil {
		t.Fatal(err)
	}
	if _, inherited := os.LookupEnv(ParentVariable); inherited {
		t.Error("the variable is there for programs that this one starts")
	}
	w.Close()
	<-ended
	r.Close()
	for text, want := range map[string]string{"-1": "want the number of an open file descriptor", "x": "want the number of an open file descriptor", "0": "is not an open file descriptor", "99999": "is not an open file descriptor"} {
		t.Setenv(ParentVariable, text)
		if err := EndWithParent(func() {}); err == nil || err.Error() != ParentVariable+"="+text+": "+want {
			t.Errorf("%q: %v", text, err)
		}
	}
	os.Unsetenv(ParentVariable)
	if err := EndWithParent(func() { t.Error("nobody has asked for that") }); err != nil {
		t.Error(err)
	}
}
