package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/validate"
	"mars.dev/mars/stages/internal/stream"
)

// A Candidate is a training that may be chosen.
type Candidate struct {
	Settings []Setting // what tells it from the others
	Options  Options   // with the settings, and the same Save for all
}

// A Setting is the value of a flag.
type Setting struct{ Flag, Value string }

// String is how a user writes the settings.
func (c Candidate) String() string {
	texts := make([]string, len(c.Settings))
	for i, s := range c.Settings {
		texts[i] = s.Flag + "=" + s.Value
	}
	return strings.Join(texts, " ")
}

// settings are the values by flag, as numbers where they are.
func (c Candidate) settings() map[string]any {
	values := map[string]any{}
	for _, s := range c.Settings {
		if v, err := strconv.ParseFloat(s.Value, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			values[s.Flag] = v
		} else {
			values[s.Flag] = s.Value
		}
	}
	return values
}

// A Choice says how to choose among trainings without a label of the target.
type Choice struct {
	Candidates []Candidate
	// Scores are some of validate.Names. The first chooses; the others are only told.
	Scores []string
	// Report is the file of every candidate's scores; "" for none.
	Report string
}

// An outcome is what came of a candidate.
type outcome struct {
	scores  map[string]float64
	failed  error // why it cannot be chosen; nil if it can
	seconds float64
	// lacks are classes that it gives no target row.
	lacks []string
}

// Select scores every candidate, each trained on the source without the rows that are held
// out, and then trains the best on all rows as Fit does. Of several that are best it takes the
// first. A candidate that fails is left out; that all do is an error.
func Select(c Choice) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		spool := arrowio.NewSpool(in, env.Memory)
		defer spool.Close()
		outcomes, err := c.try(ctx, env, spool)
		if err != nil {
			return err
		}
		best, err := c.best(outcomes)
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name(), err)
		}
		c.say(env, outcomes, best)
		if c.Report != "" {
			if err := c.write(outcomes, best); err != nil {
				return err
			}
		}
		env.Step.Selection = c.selection(outcomes, best)
		if err := spool.Rewind(); err != nil {
			return err
		}
		return Fit(c.Candidates[best].Options)(ctx, env, spool, out)
	}
}

// try scores all candidates, one after the other.
func (c Choice) try(ctx context.Context, env stages.Env, spool *arrowio.Spool) ([]outcome, error) {
	t := &trials{env: env, spool: spool, data: map[string]*stream.Samples{}}
	outcomes := make([]outcome, len(c.Candidates))
	for i, candidate := range c.Candidates {
		env.Report("candidates", int64(i), int64(len(outcomes)))
		if err := candidate.Options.require(&stream.Rows{Env: env, Stream: spool}); err != nil {
			return nil, err
		}
		begin := time.Now()
		o, err := t.score(ctx, candidate.Options, c.Scores)
		if err != nil {
			return nil, err
		}
		o.seconds = time.Since(begin).Seconds()
		outcomes[i] = o
		c.log(env, i, o)
	}
	env.Report("candidates", int64(len(outcomes)), int64(len(outcomes)))
	return outcomes, nil
}

// log tells what came of a candidate.
func (c Choice) log(env stages.Env, i int, o outcome) {
	name := fmt.Sprintf("candidate %d of %d, %s", i+1, len(c.Candidates), c.Candidates[i])
	if o.failed != nil {
		env.Logger().Warn(fmt.Sprintf("%s: left out: %v", name, o.failed))
		return
	}
	texts := make([]string, 0, len(c.Scores))
	for _, score := range c.Scores {
		text := "none"
		if v, ok := o.scores[score]; ok {
			text = strconv.FormatFloat(v, 'f', 4, 64)
		}
		texts = append(texts, score+" "+text)
	}
	env.Logger().Info(fmt.Sprintf("%s: %s (%.1f s)", name, strings.Join(texts, ", "), o.seconds))
}

// best is the first of the candidates whose score is greatest.
func (c Choice) best(outcomes []outcome) (int, error) {
	best := -1
	for i, o := range outcomes {
		if o.failed == nil && (best < 0 || o.scores[c.Scores[0]] > outcomes[best].scores[c.Scores[0]]) {
			best = i
		}
	}
	if best >= 0 {
		return best, nil
	}
	err := outcomes[0].failed
	if len(outcomes) == 1 {
		return 0, fmt.Errorf("the only candidate, %s, failed: %w", c.Candidates[0], err)
	}
	if same := !slices.ContainsFunc(outcomes, func(o outcome) bool { return o.failed.Error() != err.Error() }); same {
		return 0, fmt.Errorf("all %d candidates failed: %w", len(outcomes), err)
	}
	return 0, fmt.Errorf("all %d candidates failed, each as said above; the first, %s: %w", len(outcomes), c.Candidates[0], err)
}

// say tells what is chosen, and what speaks against it.
func (c Choice) say(env stages.Env, outcomes []outcome, best int) {
	score := c.Scores[0]
	value := outcomes[best].scores[score]
	env.Logger().Info(fmt.Sprintf("chosen by %s: %s (%.4f): training on all source rows with it", score, c.Candidates[best], value))
	alike, able := 0, 0
	for _, o := range outcomes {
		if o.failed != nil {
			continue
		}
		able++
		if o.scores[score] == value {
			alike++
		}
	}
	switch {
	case alike == able && able > 1:
		env.Logger().Warn(fmt.Sprintf("all candidates have the same score %s: it tells nothing, and the first is taken", score))
	case alike > 1:
		env.Logger().Warn(fmt.Sprintf("%d candidates have the best score: the first of them is taken", alike))
	}
	if lacks := outcomes[best].lacks; lacks != nil {
		env.Logger().Warn(fmt.Sprintf("the chosen candidate gave no target row the class %s: if the target has such rows, do not believe the score", strings.Join(lacks, ", ")))
	}
}

// selection is what provenance keeps. It has no times, so that the same work gives the same
// bytes.
func (c Choice) selection(outcomes []outcome, best int) *arrowio.Selection {
	s := &arrowio.Selection{Score: c.Scores[0], Chosen: c.Candidates[best].settings()}
	for i, o := range outcomes {
		candidate := arrowio.Candidate{Settings: c.Candidates[i].settings(), Scores: o.scores}
		if o.failed != nil {
			candidate.Failed = o.failed.Error()
		}
		s.Candidates = append(s.Candidates, candidate)
	}
	return s
}

// CheckScores reports a score that there is not, or that is there twice.
func CheckScores(names []string) error {
	for i, name := range names {
		switch {
		case !slices.Contains(validate.Names, name):
			return fmt.Errorf("there is no score %q: choose of %s", name, strings.Join(validate.Names, ", "))
		case slices.Contains(names[:i], name):
			return fmt.Errorf("the score %s is there twice", name)
		}
	}
	if len(names) == 0 {
		return errors.New("it names no score")
	}
	return nil
}
