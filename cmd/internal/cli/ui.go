//go:build !js

package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	web "mars.dev/mars/cmd/internal/web/page"
	"mars.dev/mars/pipeline"
)

// uiCommand serves the page that labels in a browser to the browser of this computer.
func uiCommand() *cobra.Command {
	var port int
	var open bool
	cmd := &cobra.Command{
		Use:   "ui [flags]",
		Short: "Label and count in a browser on this computer, with this program behind the page",
		Long: `Prints an address, and serves a page there until Ctrl-C: drop files with labels and files without
on it, and see labels, shares, intervals and whether to believe them. It is the page of make web,
with this program behind it, so that files may be as large as for the commands. Answers are theirs.

Only this computer can reach the address, and only who has it: it holds a secret that is new each
time. The page cannot speak with anything else. What is dropped is copied into a folder for
temporary files (TMPDIR), which is removed at the end.`,
		Example: `  mars ui --open`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd, port, open)
		},
	}
	countVar(cmd.Flags(), &port, "port", 0, 0, "port to listen at (default: one that is free)")
	cmd.Flags().BoolVar(&open, "open", false, "open the address in the browser")
	return newCommand(cmd)
}

func serve(cmd *cobra.Command, port int, open bool) error {
	if port > 65535 {
		return usagef("--port %d: ports go to 65535", port)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("port %d cannot be had: choose another with --port, or leave it out: %w", port, err)
	}
	defer listener.Close()
	folder, err := os.MkdirTemp("", "mars-ui-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	u := &ui{host: listener.Addr().String(), token: rand.Text(), folder: folder, program: program}
	ctx := cmd.Context()
	// The long wait of a large file has no limit, that of a request's head has one.
	server := &http.Server{Handler: u.handler(), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	context.AfterFunc(ctx, func() { listener.Close() })
	address := "http://" + u.host + "/" + u.token + "/"
	fmt.Fprintln(cmd.OutOrStdout(), address)
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: open this address in a browser on this computer; Ctrl-C ends it\n", cmd.CommandPath())
	if open {
		if err := openBrowser(address); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: the browser cannot be opened (%v): open the address yourself\n", cmd.CommandPath(), err)
		}
	}
	err = server.Serve(listener)
	if ctx.Err() == nil {
		return err
	}
	// Commands and copies end with the context.
	soon, done := context.WithTimeout(context.Background(), grace)
	defer done()
	if server.Shutdown(soon) != nil {
		server.Close()
	}
	return ctx.Err()
}

// grace is how long a command may take to end once it is asked to.
const grace = 5 * time.Second

func openBrowser(address string) error {
	opener := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if opener == nil {
		opener = []string{"xdg-open"}
	}
	cmd := exec.Command(opener[0], append(opener[1:], address)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() //nolint:errcheck // the page says that it is open
	return nil
}

// A ui is what is behind one address. Files that it was sent, or that commands wrote, are in its
// folder, by numbers.
type ui struct {
	host, token, folder, program string
	files                        atomic.Int64
}

func (u *ui) handler() http.Handler {
	text := web.Served(Version())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'") // the page has the rest of it
		w.Write(text)                                                       //nolint:errcheck // who asked has gone
	})
	mux.HandleFunc("GET /file/{number}", u.send)
	mux.HandleFunc("POST /file", u.take)
	mux.HandleFunc("POST /run", u.run)
	behind := http.StripPrefix("/"+u.token, mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if why := u.refuses(r); why != "" {
			http.Error(w, "mars ui: "+why+": open the address that it has printed", http.StatusForbidden)
			return
		}
		behind.ServeHTTP(w, r)
	})
}

// refuses says why a request is not from the page: "" if it is. A name of another host is one that
// another page had made to lead here, and what another page asks has that page's origin.
func (u *ui) refuses(r *http.Request) string {
	token, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	origin, from := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.Host != u.host:
		return "this is another host"
	case from != "" && from != "same-origin" && from != "none", (origin != "" || r.Method != http.MethodGet) && origin != "http://"+u.host:
		return "another page asks"
	case subtle.ConstantTimeCompare([]byte(token), []byte(u.token)) == 0:
		return "the secret in the address is wrong"
	}
	return ""
}

// path is where the file of a number is.
func (u *ui) path(number int64) string {
	return filepath.Join(u.folder, strconv.FormatInt(number, 10))
}

// take keeps a file, and says its number.
func (u *ui) take(w http.ResponseWriter, r *http.Request) {
	number := u.files.Add(1)
	path := u.path(number)
	controller := http.NewResponseController(w)
	defer context.AfterFunc(r.Context(), func() { controller.SetReadDeadline(time.Now()) })() //nolint:errcheck // at the end, what still comes is cut off
	err := func() error {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r.Body)
		return cmp.Or(err, f.Close())
	}()
	if err != nil {
		os.Remove(path)
		http.Error(w, fmt.Sprintf("the file cannot be copied into the folder for temporary files: %v: make room there, or start mars ui with another in TMPDIR", err), http.StatusInsufficientStorage)
		return
	}
	if ms, err := strconv.ParseInt(r.URL.Query().Get("time"), 10, 64); err == nil {
		changed := time.UnixMilli(ms)
		os.Chtimes(path, changed, changed) //nolint:errcheck // reports say when a file was changed
	}
	fmt.Fprint(w, number)
}

func (u *ui) send(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeFile(w, r, u.path(number))
}

// A task is a command that the page wants done.
type task struct {
	Args   []string         // of mars
	Inputs map[string]int64 // files by the names that Args has for them
	Wanted []string         // names of those that it writes
}

// run does a task in a folder of its own, and writes lines of JSON: what the command says and how far
// it is, and at the end what it has printed and written.
func (u *ui) run(w http.ResponseWriter, r *http.Request) {
	var t task
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // to its end, after which it is noticed when the page goes
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	folder, err := os.MkdirTemp(u.folder, "run-")
	if err == nil {
		defer os.RemoveAll(folder)
		err = u.lay(folder, t.Inputs)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l := &lines{w: http.NewResponseController(w), to: json.NewEncoder(w)}
	printed, code := u.command(r.Context(), folder, t.Args, l)
	written := map[string]int64{}
	for _, name := range t.Wanted {
		path, number := filepath.Join(folder, name), u.files.Add(1)
		if is, err := os.Lstat(path); err != nil || !is.Mode().IsRegular() || !filepath.IsLocal(name) {
			continue
		}
		if os.Rename(path, u.path(number)) == nil {
			written[name] = number
		}
	}
	l.write(map[string]any{"code": code, "printed": printed, "files": written})
}

// lay puts files into a folder by their names, which lead nowhere else.
func (u *ui) lay(folder string, files map[string]int64) error {
	for name, number := range files {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%q is no name of a file here: rename it", name)
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if _, err := os.Stat(u.path(number)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: is not here any more: choose it again", name)
		}
		// A second name of the file itself would be a change of it to a command that is reading it.
		link := os.Symlink
		if runtime.GOOS == "windows" { // where it takes a right, and a new name is no change
			link = os.Link
		}
		if err := link(u.path(number), path); err != nil {
			return fmt.Errorf("%s: %w: start mars ui with another folder for temporary files in TMPDIR", name, err)
		}
	}
	return nil
}

// command runs this program as a child, which ends if ctx or this process does.
func (u *ui) command(ctx context.Context, folder string, args []string, l *lines) (printed string, code int) {
	cmd := exec.CommandContext(ctx, u.program, args...)
	cmd.Args[0], cmd.Dir, cmd.WaitDelay = browserProgram, folder, grace
	cmd.Env = append(os.Environ(), "TMPDIR="+folder, "TMP="+folder, pipeline.ParentVariable+"=0")
	cmd.Cancel = func() error { return pipeline.Stop(cmd.Process) }
	var out bytes.Buffer
	cmd.Stdout = &out
	alive, err := cmd.StdinPipe()
	said, err2 := cmd.StderrPipe()
	reports, progress, err3 := os.Pipe()
	if err := cmp.Or(err, err2, err3); err != nil {
		l.write(map[string]any{"line": err.Error()})
		return "", exitFailed
	}
	defer alive.Close()
	if runtime.GOOS != "windows" { // which hands down no other files
		cmd.ExtraFiles = []*os.File{progress}
		cmd.Env = append(cmd.Env, pipeline.ProgressVariable+"=3")
	}
	err = cmd.Start()
	progress.Close()
	var readers sync.WaitGroup
	readers.Go(func() {
		defer reports.Close()
		pipeline.ReadReports(reports, l.report)
	})
	if err == nil {
		s := bufio.NewScanner(said)
		for s.Buffer(nil, 1<<20); s.Scan(); {
			l.write(map[string]any{"line": s.Text()})
		}
		io.Copy(io.Discard, said) //nolint:errcheck // what follows a line that is too long
		err = cmd.Wait()
	}
	readers.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.write(map[string]any{"line": err.Error()})
		return "", exitFailed
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// lines are written as they come.
type lines struct {
	mu   sync.Mutex
	w    *http.ResponseController
	to   *json.Encoder
	last time.Time
}

func (l *lines) write(line any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to.Encode(line) //nolint:errcheck // the page may have gone, and then the command ends
	l.w.Flush()       //nolint:errcheck
}

// report tells how far a command is, a few times a second.
func (l *lines) report(what string, done, total int64) {
	if now := time.Now(); now.Sub(l.last) > 100*time.Millisecond {
		l.last = now
		l.write(map[string]any{"what": what, "done": done, "total": total})
	}
}
