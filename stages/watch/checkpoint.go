package watch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"mars.dev/mars/arrowio/atomicfile"
)

// A Checkpoint is what a watch goes on from after a restart.
type Checkpoint struct {
	Version int
	Model   string            // SHA-256 of its file
	Options map[string]string // that the result depends on
	State   State
	Place   Place
}

// A Place is how far input and output have come.
type Place struct {
	Offset int64  // bytes of the file that is followed
	Lines  int64  // of the input
	Head   string // the lines before the first row, or a row that shows the fields of JSON
	Output int64  // bytes of the output file
	Mark   []byte // a hash of what the followed file begins with
	Marked int64  // bytes that it is of
}

const (
	checkpointVersion = 1
	maxCheckpoint     = 1 << 30
)

// options are those that a result depends on, by the names of their flags.
func (w *Watcher) settings() map[string]string {
	o := w.options
	span := func(s Span) string {
		if s.Time > 0 {
			return s.Time.String()
		}
		return strconv.FormatInt(s.Rows, 10)
	}
	return map[string]string{"window": span(o.Window), "slide": span(o.Slide), "late": o.Late.String(), "level": fmt.Sprint(o.Level),
		"false-alarm": fmt.Sprint(o.FalseAlarm), "seed": fmt.Sprint(o.Seed)}
}

// Save writes a checkpoint, whole or not at all.
func (w *Watcher) Save(path string, place Place) error {
	body, err := json.Marshal(Checkpoint{checkpointVersion, w.sum, w.settings(), w.State, place})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(body)
	return atomicfile.WriteFile(path, append(append(body, '\n'), hex.EncodeToString(sum[:])+"\n"...))
}

// Resume goes on from a checkpoint. found is false if there is none.
func (w *Watcher) Resume(path string) (place Place, found bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return place, false, nil
	}
	if err != nil {
		return place, false, err
	}
	if info.Size() > maxCheckpoint || !info.Mode().IsRegular() {
		return place, false, fmt.Errorf("%s: is no checkpoint of mars watch: name another file", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return place, false, err
	}
	body, tail, _ := bytes.Cut(text, []byte("\n"))
	sum := sha256.Sum256(body)
	if string(bytes.TrimSpace(tail)) != hex.EncodeToString(sum[:]) {
		return place, false, fmt.Errorf("%s: is no checkpoint of mars watch, or is damaged: name another file, or remove it to begin anew", path)
	}
	var c Checkpoint
	if err := json.Unmarshal(body, &c); err != nil || c.Version != checkpointVersion {
		return place, false, fmt.Errorf("%s: is a checkpoint of another version of mars: remove it to begin anew", path)
	}
	if c.Model != w.sum {
		return place, false, fmt.Errorf("%s: is of another model than %s: give that model, or remove the checkpoint to begin anew", path, w.options.Model)
	}
	for name, is := range w.settings() {
		if was := c.Options[name]; was != is {
			return place, false, fmt.Errorf("%s: was made with --%s %s, and this is %s: give the same, or remove the checkpoint to begin anew", path, name, was, is)
		}
	}
	if !w.fits(&c.State) {
		return place, false, fmt.Errorf("%s: is damaged or was changed: remove it to begin anew", path)
	}
	w.State = c.State
	return c.Place, true, nil
}

// fits reports whether a state is one of this model: what is in it has the lengths that it is read by.
func (w *Watcher) fits(s *State) bool {
	classes, width := len(w.Classes), len(w.Classes)+w.model.Width
	closed := func(p *pane) bool { return p != nil && p.Posteriors.Fits(classes, maxUsed) }
	open := func(p *pane) bool { return closed(p) && p.Scores.Fits(width, maxTested) }
	not := func(f func(*pane) bool) func(*pane) bool { return func(p *pane) bool { return !f(p) } }
	return !slices.ContainsFunc(s.Open, not(open)) && !slices.ContainsFunc(s.Recent, not(closed)) &&
		(s.Held == nil || len(s.Held.Row) == width) && (s.Shares == nil || len(s.Shares) == classes) &&
		len(s.Before)%len(w.names) == 0 && (s.Test == nil || s.Test.Fits(len(w.names)))
}
