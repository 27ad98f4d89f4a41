package cli

import (
	"io"
	"syscall/js"
)

// progress is told to the page, by its function progress.
type progress struct {
	w       io.Writer
	enabled bool // has no meaning: a page has no terminal
}

// report is a stage's Progress: total ≤ 0 means that it is not known.
func (p *progress) report(what string, done, total int64) {
	if page := js.Global().Get("progress"); page.Type() == js.TypeFunction {
		page.Invoke(what, float64(done), float64(total))
	}
}

func (p *progress) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p *progress) stop()                       {}
func (p *progress) finish()                     {}
