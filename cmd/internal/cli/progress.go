//go:build !js

package cli

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar with rate and time left on a terminal, one at a time.
// Log lines written through it clear the bar first. Its methods may be called from
// any goroutine.
type progress struct {
	mu      sync.Mutex
	w       io.Writer
	enabled bool
	what    string
	bar     *progressbar.ProgressBar
}

// report is a stage's Progress: total ≤ 0 means that it is not known.
func (p *progress) report(what string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.enabled {
		return
	}
	if p.bar == nil || p.what != what {
		p.clear()
		if total <= 0 {
			total = -1
		}
		p.what = what
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(what),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(what),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	p.bar.Set64(done) //nolint:errcheck // a bar that cannot be drawn is no failure
}

// Write prints a log line where the bar was; the bar comes back at its next report.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear() //nolint:errcheck
	}
	return p.w.Write(b)
}

// stop takes the bar away for good.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.enabled = false
}

func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.bar != nil {
		p.bar.Clear() //nolint:errcheck
		p.bar = nil
	}
}
