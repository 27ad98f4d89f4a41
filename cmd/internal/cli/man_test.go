package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A page of the manual says what the help says: all of its text, every flag with what it
// does, and every example.
func TestManPagesSayWhatHelpSays(t *testing.T) {
	pages, flags := manPages(), 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		name := pageName(cmd) + ".1"
		if strings.Contains(string(pages[name]), "\n\n") {
			t.Errorf("%s has an empty section or line", name)
		}
		page := plain(string(pages[name]))
		delete(pages, name)
		parts := []string{cmd.Short, strings.TrimSuffix(cmd.Long, exitCodesHelp()), cmd.Example}
		for _, s := range exitStatuses {
			parts = append(parts, s.meaning)
		}
		helped := func(f *pflag.Flag) {
			flag, does := flagUsage(f)
			parts = append(parts, flag+" "+does)
			flags++
		}
		cmd.LocalFlags().VisitAll(helped)
		cmd.InheritedFlags().VisitAll(helped)
		for _, part := range parts {
			if words := strings.Join(strings.Fields(part), " "); !strings.Contains(page, words) {
				t.Errorf("%s lacks %q", name, words)
			}
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	root := Mars()
	root.Version = Version()
	check(root)
	for name := range pages {
		t.Errorf("there is no command for the page %s", name)
	}
	if flags < 200 {
		t.Errorf("only %d flags were looked at", flags)
	}
}

var (
	inRoff    = regexp.MustCompile(`\\(\(\w\w|\[u\w+\]|f[BIR]|[-:&])`)
	unicodeOf = regexp.MustCompile(`\\\[u([0-9A-F]+)\]`)
)

// plain is what a page shows, with single spaces.
func plain(page string) string {
	var text []string
	for line := range strings.SplitSeq(page, "\n") {
		if !strings.HasPrefix(line, ".") {
			text = append(text, line)
		}
	}
	back := map[string]string{`\(rs`: `\`, `\-`: "-", `\(aq`: "'", `\(ga`: "`", `\(ha`: "^", `\(ti`: "~", `\(dq`: `"`}
	shown := inRoff.ReplaceAllStringFunc(strings.Join(text, " "), func(found string) string {
		if code := unicodeOf.FindStringSubmatch(found); code != nil {
			var r rune
			for _, digit := range code[1] {
				r = r<<4 + rune(strings.IndexRune("0123456789ABCDEF", digit))
			}
			return string(r)
		}
		return back[found] // fonts and breaks are nothing
	})
	return strings.Join(strings.Fields(shown), " ")
}

// Text that roff would take for its own comes out as it went in.
func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		`.SH no section`:     `\&.SH no section`,
		`'tis`:               `\(aqtis`,
		`C:\new\table.csv`:   `C:\(rsnew\(rstable.csv`,
		"`a` ^ ~b \"c\"":     `\(gaa\(ga \(ha \(tib \(dqc\(dq`,
		"--unknown 0.01":     `\-\-unknown 0.01`,
		"a → b – Bures–W. é": `a \[u2192] b \[u2013] Bures\[u2013]W. \[u00E9]`,
	} {
		if got := roff(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		p := &page{}
		p.line(".TH \"%s\" 1 2026-01-01", "T")
		p.section("NAME")
		p.filled(text)
		p.asIs([]string{text})
		for _, program := range [][]string{{"mandoc", "-T", "utf8"}, {"groff", "-K", "utf8", "-T", "utf8", "-P", "-c", "-man"}} {
			shown, found := rendered(t, program, p.String())
			if words := strings.Join(strings.Fields(text), " "); found && strings.Count(shown, words) != 2 {
				t.Errorf("%s shows %q as\n%s", program[0], text, shown)
			}
		}
	}
}

// What is made for all machines does not depend on the one that it is made on.
func TestShareIsTheSameEverywhere(t *testing.T) {
	before, err := Share()
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 3))
	for _, variable := range []string{"HOME", "TMPDIR", "XDG_CACHE_HOME", "MARS_CACHE"} {
		t.Setenv(variable, t.TempDir())
	}
	after, err := Share()
	if err != nil || len(after) != len(before) {
		t.Fatalf("%d files, and then %d, error %v", len(before), len(after), err)
	}
	for name, text := range before {
		if !bytes.Equal(after[name], text) {
			t.Errorf("%s is another with other processors and folders", name)
		}
	}
}

var overstruck = regexp.MustCompile(".\b")

// rendered is a page as a program shows it, and whether there is that program.
func rendered(t *testing.T, program []string, page string) (string, bool) {
	t.Helper()
	if _, err := exec.LookPath(program[0]); err != nil {
		return "", false
	}
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Stdin = strings.NewReader(page)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", program, err)
	}
	return strings.Join(strings.Fields(overstruck.ReplaceAllString(string(out), "")), " "), true
}

// mandoc has nothing to say against any page.
func TestManPagesLint(t *testing.T) {
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is not installed: pages of the manual are not checked by it")
	}
	defer func(was string) { date = was }(date)
	date = "2026-11-22T10:00:00+00:00"
	dir := t.TempDir()
	args := []string{"-T", "lint"}
	for name, page := range manPages() {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, page, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	if out, err := exec.Command("mandoc", args...).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
