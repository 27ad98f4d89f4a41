//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A served is a mars ui that was started, as a page sees it.
type served struct {
	t         *testing.T
	cmd       *exec.Cmd
	log       bytes.Buffer
	address   string // with a slash at its end
	temporary string
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{t: t, cmd: exec.Command("mars", "ui"), temporary: t.TempDir()}
	s.cmd.Env = append(os.Environ(), "TMPDIR="+s.temporary)
	s.cmd.Stderr = &s.log
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.address = strings.TrimSpace(line)
	return s
}

// origin is the address without its secret.
func (s *served) origin() string {
	return s.address[:strings.LastIndexByte(s.address[:len(s.address)-1], '/')]
}

// request is one of the page, or with another host, origin, address or method one that is not.
func (s *served) request(method, path string, body io.Reader) *http.Request {
	r, err := http.NewRequest(method, s.address+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if method != http.MethodGet {
		r.Header.Set("Origin", s.origin())
	}
	return r
}

func (s *served) ask(r *http.Request) (status int, text string) {
	s.t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if allowed := answer.Header.Get("Access-Control-Allow-Origin"); allowed != "" {
		s.t.Errorf("another origin is allowed: %q", allowed)
	}
	return answer.StatusCode, string(all)
}

func (s *served) send(text string) (number int) {
	s.t.Helper()
	status, answer := s.ask(s.request("POST", "file?time=1700000000000", strings.NewReader(text)))
	number, err := strconv.Atoi(answer)
	if status != 200 || err != nil {
		s.t.Fatalf("a file is answered by %d %q", status, answer)
	}
	return number
}

// A done is the last line of a task.
type done struct {
	Code    int
	Printed string
	Files   map[string]int
	lines   []string // of what it said
}

func (s *served) task(args []string, inputs map[string]int, wanted ...string) io.Reader {
	text, err := json.Marshal(map[string]any{"args": args, "inputs": inputs, "wanted": wanted})
	if err != nil {
		s.t.Fatal(err)
	}
	return bytes.NewReader(text)
}

func (s *served) do(args []string, inputs map[string]int, wanted ...string) (d done) {
	s.t.Helper()
	status, answer := s.ask(s.request("POST", "run", s.task(args, inputs, wanted...)))
	if status != 200 {
		s.t.Fatalf("status %d: %s", status, answer)
	}
	for line := range strings.Lines(answer) {
		var said struct{ Line *string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Line != nil {
			d.lines = append(d.lines, *said.Line)
		} else if err := json.Unmarshal([]byte(line), &d); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
	}
	return d
}

// interrupted ends it, and checks that it leaves nothing.
func (s *served) interrupted() {
	s.t.Helper()
	if took := end(s.t, s.cmd, os.Interrupt); took > 3*time.Second {
		s.t.Errorf("it works for %v more", took)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 130 || !strings.HasSuffix(s.log.String(), "mars ui: interrupted\n") {
		s.t.Errorf("status %d, messages\n%s", code, &s.log)
	}
	s.left(0)
}

// left checks how many files and folders there are, soon.
func (s *served) left(want int) {
	s.t.Helper()
	var found []string
	for range 100 {
		found, _ = filepath.Glob(filepath.Join(s.temporary, "*"))
		if inside, _ := filepath.Glob(filepath.Join(s.temporary, "*", "*")); len(found)+len(inside) == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Errorf("%d files and folders are wanted, left are %v", want, found)
}

// What the page is answered is what the commands write, whatever the files are called.
func TestUIAnswers(t *testing.T) {
	dir, hostile := t.TempDir(), `<img src=x onerror=alert(1)> "a" $(rm -rf .) é.csv`
	says(t, dir, "featurize", "toy", "--source-rows", "300", "--target-rows", "300", "-o", "rows.arrow")
	rows, err := os.ReadFile(filepath.Join(dir, "rows.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t)
	defer s.interrupted()
	if status, text := s.ask(s.request("GET", "", nil)); status != 200 || !strings.Contains(text, "The program mars on this computer does the work") || strings.Contains(text, "{{") || len(text) > 60_000 {
		t.Errorf("the page is %d bytes, status %d", len(text), status)
	}
	number := s.send(string(rows))
	for name, path := range map[string]string{"labels.csv": "label -o labels.csv", "shares.csv": "proportions -o shares.csv", "ask.csv": "ask --budget 8 -o ask.csv"} {
		says(t, dir, append(strings.Fields(path), "rows.arrow")...)
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		beside, end := context.WithCancel(t.Context()) // that others read the file is no change of it
		go func() {
			for beside.Err() == nil {
				http.DefaultClient.Do(s.request("POST", "run", s.task([]string{"look", "x"}, map[string]int{"x": number})).WithContext(beside)) //nolint:errcheck,bodyclose // nobody hears
			}
		}()
		d := s.do(append(strings.Fields(path), hostile), map[string]int{hostile: number}, name, "absent")
		end()
		if d.Code != 0 || len(d.Files) != 1 {
			t.Fatalf("%+v", d)
		}
		if _, got := s.ask(s.request("GET", fmt.Sprintf("file/%d", d.Files[name]), nil)); got != string(want) {
			t.Errorf("%s is not what the command writes", name)
		}
	}
	d := s.do([]string{"look", hostile}, map[string]int{hostile: s.send("a,b\n1,2\n")})
	if !strings.Contains(d.Printed, `"Rows":1`) {
		t.Errorf("look: %+v", d)
	}
	d = s.do([]string{"label", "--source", hostile, "--target", hostile, "-o", "l.csv"}, map[string]int{hostile: s.send("a,b\n1,2,3\n")}, "l.csv")
	if last := d.lines[len(d.lines)-1]; d.Code != 1 || len(d.Files) != 0 || !strings.HasPrefix(last, "mars label: "+hostile+": line 2: has 3 fields") {
		t.Errorf("an error is %+v", d)
	}
	if d := s.do([]string{"run", "study.toml"}, nil); d.Code != 2 || !strings.Contains(d.lines[0], `there is no command "run"`) {
		t.Errorf("another command: %+v", d)
	}
	for _, name := range []string{"../x", "/x", "a/../../x", ""} {
		if status, text := s.ask(s.request("POST", "run", s.task([]string{"look", name}, map[string]int{name: number}))); status != 400 || !strings.Contains(text, "rename it") {
			t.Errorf("%q: status %d: %s", name, status, text)
		}
	}
	if status, text := s.ask(s.request("POST", "run", s.task([]string{"look", "x"}, map[string]int{"x": 99}))); status != 400 || !strings.Contains(text, "x: is not here any more") {
		t.Errorf("a file that is not there: status %d: %s", status, text)
	}
	if d := s.do([]string{"look", "x"}, map[string]int{"x": number}, "../"+strconv.Itoa(number), "../../x", "x/.."); len(d.Files) != 0 {
		t.Errorf("files from elsewhere are taken: %v", d.Files)
	}
	for _, path := range []string{"file/run-1", "file/" + url.PathEscape("../../x"), "file/-1", "file/", "file/99"} {
		if status, _ := s.ask(s.request("GET", path, nil)); status != 404 {
			t.Errorf("%s: status %d", path, status)
		}
	}
}

// Nobody but the page is answered.
func TestUIRefuses(t *testing.T) {
	s := serve(t)
	defer s.interrupted()
	for name, change := range map[string]func(*http.Request){
		"no secret":           func(r *http.Request) { r.URL.Path = "/" },
		"a wrong secret":      func(r *http.Request) { r.URL.Path = "/AAAAAAAAAAAAAAAAAAAAAAAAAA/" },
		"its beginning":       func(r *http.Request) { r.URL.Path = r.URL.Path[:len(r.URL.Path)-2] + "/" },
		"another host":        func(r *http.Request) { r.Host = "mars.example" + r.URL.Host[strings.IndexByte(r.URL.Host, ':'):] },
		"localhost":           func(r *http.Request) { r.Host = strings.Replace(r.URL.Host, "127.0.0.1", "localhost", 1) },
		"another port":        func(r *http.Request) { r.Host = "127.0.0.1:1" },
		"another origin":      func(r *http.Request) { r.Header.Set("Origin", "http://mars.example") },
		"the origin of files": func(r *http.Request) { r.Header.Set("Origin", "null") },
		"another site":        func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another port's page": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"a form":              func(r *http.Request) { r.Method = "POST" },
		"a preflight":         func(r *http.Request) { r.Method = "OPTIONS"; r.Header.Set("Origin", "http://mars.example") },
	} {
		r := s.request("GET", "", nil)
		if status, _ := s.ask(r); status != 200 {
			t.Fatalf("the page: status %d", status)
		}
		change(r)
		if status, text := s.ask(r); status != 403 || !strings.Contains(text, "open the address that it has printed") {
			t.Errorf("%s: status %d: %s", name, status, text)
		}
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(s.origin(), "http://"))
	if err != nil || host != "127.0.0.1" {
		t.Errorf("it listens at %s", s.origin())
	}
	if _, log, status := answers(t, t.TempDir(), "ui", "--port", port); status != 1 || !strings.Contains(log, "choose another with --port") {
		t.Errorf("a port that is taken: status %d: %s", status, log)
	}
}

// A command ends when the page stops it, and all do on Ctrl-C, with what is being sent: nothing is left.
func TestUIEnds(t *testing.T) {
	dir := t.TempDir()
	says(t, dir, "featurize", "toy", "--source-rows", "20000", "--target-rows", "20000", "-o", "rows.arrow")
	rows, err := os.ReadFile(filepath.Join(dir, "rows.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t)
	inputs := map[string]int{"rows.arrow": s.send(string(rows))}
	began := func(r *http.Request) { // once it says something
		t.Helper()
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Body.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	long := func() *http.Request {
		return s.request("POST", "run", s.task([]string{"proportions", "--bootstrap", "100000", "rows.arrow"}, inputs))
	}
	ctx, stop := context.WithCancel(t.Context())
	began(long().WithContext(ctx))
	s.left(3) // its folder, the file, and that of the command
	stop()
	s.left(2)
	began(long())
	stalled, w := io.Pipe()
	defer w.Close()
	go http.DefaultClient.Do(s.request("POST", "file", stalled)) //nolint:errcheck,bodyclose // it is cut off
	w.Write([]byte("a,b\n"))                                     //nolint:errcheck
	s.interrupted()
}
