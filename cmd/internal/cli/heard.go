package cli

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/spf13/cobra"
)

// heard is what a command has told its log, for the page that it makes.
type heard struct {
	mu              sync.Mutex
	lines, warnings []string
}

type heardKey struct{}

// heardOf is what a command has said so far; nothing if it makes no page.
func heardOf(cmd *cobra.Command) (lines, warnings []string) {
	h, _ := cmd.Context().Value(heardKey{}).(*heard)
	if h == nil {
		return nil, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines), slices.Clone(h.warnings)
}

// listen keeps what a command that makes a page logs, even where it is to be quiet.
func listen(cmd *cobra.Command, log *slog.Logger) *slog.Logger {
	if page := cmd.Flags().Lookup("report"); page == nil || page.Value.String() == "" {
		return log
	}
	h := &heard{}
	cmd.SetContext(context.WithValue(cmd.Context(), heardKey{}, h))
	return slog.New(listener{log.Handler(), h})
}

// A listener hears what its handler handles, and what is too little for it.
type listener struct {
	slog.Handler
	*heard
}

func (l listener) Enabled(context.Context, slog.Level) bool { return true }

func (l listener) Handle(ctx context.Context, r slog.Record) error {
	l.mu.Lock()
	if r.Level >= slog.LevelWarn {
		l.warnings = append(l.warnings, r.Message)
	} else {
		l.lines = append(l.lines, r.Message)
	}
	l.mu.Unlock()
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

func (l listener) WithAttrs(attrs []slog.Attr) slog.Handler {
	return listener{l.Handler.WithAttrs(attrs), l.heard}
}

func (l listener) WithGroup(name string) slog.Handler {
	return listener{l.Handler.WithGroup(name), l.heard}
}
