package watch

import (
	"mars.dev/mars/stages/algorithms/drift"
	"mars.dev/mars/stages/internal/windows"
	"mars.dev/mars/tables"
)

const (
	// maxUsed is how many rows of a pane its shares are estimated from, at most: more are
	// sampled. The shares of 50,000 rows are off by 0.002 by chance.
	maxUsed = 50_000
	// maxTested is how many rows of a pane the tests of drift look at, at most.
	maxTested = 1_000
)

// A pane is the rows that windows have in common: a whole window, or the part by which
// windows slide.
type pane struct {
	Number     int64 // of its slot in time; of the pane among all of a number of rows
	First      int64 // row of the stream, from 0
	Last       int64
	Posteriors drift.Sample
	Empty      int64        // rows without any value
	Scores     drift.Sample // before they are complete: posteriors, features
}

// Slot is the number of a windows.Pane.
func (p *pane) Slot() int64 { return p.Number }

func (w *Watcher) newPane(number int64) *pane {
	rows := int64(0) // of panes of time, nobody knows
	if w.options.Window.Rows > 0 {
		rows = w.divider.Size
	}
	return &pane{Number: number, First: w.State.Rows,
		Posteriors: drift.NewSample(len(w.model.Classes), maxUsed, rows),
		Scores:     drift.NewSample(len(w.model.Classes)+w.model.Width, maxTested, rows)}
}

// addRow adds the posteriors and the features of a row.
func (w *Watcher) addRow(p *pane, row windows.Row) {
	key := drift.Hash(w.options.Seed, uint64(w.State.Rows))
	p.Posteriors.Add(key, row.Row[:len(w.Classes)])
	if tables.IsMissing(row.Row[len(w.Classes):]) {
		p.Empty++
		p.Scores.Skip()
	} else {
		p.Scores.Add(key, row.Row)
	}
	p.Last = w.State.Rows
	w.State.Missing += row.Missing
}
