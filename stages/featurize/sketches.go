package featurize

import (
	"encoding/json"
	"fmt"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/sketches"
	"mars.dev/mars/tables"
)

// openSketches puts the samples of sketches where a side names their files, and returns what
// all their rows are, as arrowio.TotalsKey has it; "" if there are none.
func (o *Options) openSketches(env stages.Env) (totals string, err error) {
	of := map[string]sketches.Totals{}
	for _, domain := range domains {
		s := o.side(domain)
		if s.Sketch == nil {
			if s.Sketch, err = loadSketches(s); err != nil {
				return "", err
			}
		}
		if s.Sketch == nil {
			continue
		}
		if o.Domain != "" {
			return "", fmt.Errorf("%s: is a sketch, which is of one domain: leave --domain-column out", s.Path)
		}
		if err := o.takeSketch(env, s, domain); err != nil {
			return "", fmt.Errorf("%s: %w", s.Path, err)
		}
		if !s.drawn() && o.Classes == nil { // else the rows are others
			of[domain.String()] = s.Sketch.Totals()
		}
	}
	if len(of) == 0 {
		return "", nil
	}
	text, err := json.Marshal(of)
	return string(text), err
}

// loadSketches reads the sketches that a side's path names, and merges them; nil if it names
// other files.
func loadSketches(s *SideOptions) (*sketches.Sketch, error) {
	if s.Path == "" || s.Path == "-" || s.Stream != nil {
		return nil, nil
	}
	paths, err := tables.Expand(s.Path)
	if err != nil || !sketches.Is(paths[0]) {
		//lint:ignore lostnil whoever reads it says what is wrong
		return nil, nil
	}
	return sketches.LoadAll(paths)
}

// takeSketch makes the side's rows those of its sketch's sample.
func (o *Options) takeSketch(env stages.Env, s *SideOptions, domain arrowio.Domain) error {
	k, f := s.Sketch, &s.Format
	switch {
	case f.Label == "":
		f.Label = k.Label
	case k.Label != "" && f.Label != k.Label:
		return fmt.Errorf("its labels are in the column %q, and --label says %q: leave it out", k.Label, f.Label)
	}
	if k.Label == "" && domain == arrowio.SourceDomain {
		return fmt.Errorf("its rows have no labels: make it with mars sketch --label")
	}
	if k.Label == "" && f.Label != "" {
		f.Label = "" // there is none to hide
	}
	switch {
	case f.ID == "":
		f.ID = k.ID
	case f.ID != k.ID:
		return fmt.Errorf("its rows are not known by the column %q: leave --id out, or make it with mars sketch --id", f.ID)
	}
	rows := k.Sample()
	rec := k.Record(rows)
	s.Stream = arrowio.NewBatches(s.Path, rec.Schema(), rec)
	t := k.Totals()
	env.Logger().Info(fmt.Sprintf("%s: a sketch of %d %s rows of %s", s.Path, t.Rows, domain, spelling.Count(len(k.Leaves), "part", "parts")))
	if t.Overlap > 1 {
		env.Logger().Warn(fmt.Sprintf("%s: parts have rows in common: how many rows there are is an estimate from the sample", s.Path))
	}
	return nil
}
