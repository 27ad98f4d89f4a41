package watch

import (
	"fmt"
	"slices"

	"mars.dev/mars/stages/internal/windows"
)

// A Place is how far input and output have come.
type Place = windows.Place

// settings are those that a result depends on, by the names of their flags.
func (w *Watcher) settings() map[string]string {
	o := w.options
	return map[string]string{"window": o.Window.String(), "slide": o.Slide.String(), "late": o.Late.String(), "level": fmt.Sprint(o.Level),
		"false-alarm": fmt.Sprint(o.FalseAlarm), "seed": fmt.Sprint(o.Seed)}
}

func (w *Watcher) checkpoint() windows.Checkpoint[State] {
	return windows.Checkpoint[State]{Model: w.sum, Options: w.settings(), State: w.State}
}

// Save writes a checkpoint, whole or not at all.
func (w *Watcher) Save(path string, place Place) error {
	c := w.checkpoint()
	c.Place = place
	return c.Save(path)
}

// Resume goes on from a checkpoint. found is false if there is none.
func (w *Watcher) Resume(path string) (place Place, found bool, err error) {
	c := w.checkpoint()
	if found, err = c.Resume(path, "mars watch", "model than "+w.options.Model); err != nil || !found {
		return place, false, err
	}
	if !w.fits(&c.State) {
		return place, false, windows.Damaged(path)
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
