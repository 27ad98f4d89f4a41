package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"mars.dev/mars/arrowio/safetext"
)

// textHandler writes log records as a person reads them:
// "mars-cluster: warning: message (key value, key value)".
type textHandler struct {
	mu    sync.Mutex
	w     io.Writer
	name  string
	level slog.Level
	attrs []slog.Attr
	once  *unrepeated // nil: all is written
}

// An unrepeated knows what was said of the source for the target before, which people need not read for each of fifty.
type unrepeated struct {
	mu          sync.Mutex
	source      string
	before, now map[string]bool
}

// next begins a target.
func (u *unrepeated) next() { u.before, u.now = u.now, map[string]bool{} }

// said tells whether a message is of the source, and was there for the target before.
func (u *unrepeated) said(message string) bool {
	if u == nil || !strings.HasPrefix(message, u.source+":") {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now[message] = true
	return u.before[message]
}

func (h *textHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *textHandler) Handle(_ context.Context, r slog.Record) error {
	if h.once.said(r.Message) {
		return nil
	}
	var b strings.Builder
	b.WriteString(h.name)
	b.WriteString(": ")
	if r.Level >= slog.LevelWarn {
		b.WriteString(strings.ToLower(strings.Replace(r.Level.String(), "WARN", "warning", 1)) + ": ")
	}
	b.WriteString(r.Message)
	var details []string
	add := func(a slog.Attr) bool {
		details = append(details, fmt.Sprintf("%s %v", a.Key, a.Value))
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	if len(details) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(details, ", "))
	}
	line := safetext.Escape(b.String()) + "\n"
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.w, line)
	return err
}

func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &textHandler{w: h.w, name: h.name, level: h.level, once: h.once, attrs: append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

func (h *textHandler) WithGroup(string) slog.Handler { return h }
