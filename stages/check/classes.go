package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/tables"
)

// classes are those of the reference.
type classes struct {
	names       []string
	predictable int // how many of them, the first, the model has posteriors for
	positive    int // the class that a score is of
	found       map[string]int
}

// newClasses are the classes that the model knows, and those that only labels have.
func newClasses(known, labels []string) *classes {
	c := &classes{names: slices.Clone(known), predictable: len(known), found: map[string]int{}}
	for _, label := range labels {
		if c.index(label) < 0 {
			c.names, c.found = append(c.names, label), map[string]int{}
		}
	}
	return c
}

// index is the class of a text, −1 if it is none. Numbers and truth values may be written otherwise
// than the class is: 1.0, True.
func (c *classes) index(text string) int {
	k, ok := c.found[text]
	if !ok {
		k = c.search(text)
		c.found[text] = k
	}
	return k
}

func (c *classes) search(text string) int {
	if k := slices.Index(c.names, text); k >= 0 {
		return k
	}
	if whole, zeros, ok := strings.Cut(text, "."); ok && strings.Trim(zeros, "0") == "" {
		if k := slices.Index(c.names, whole); k >= 0 {
			return k
		}
	}
	at := -1
	for k, name := range c.names {
		if strings.EqualFold(name, text) || strings.TrimSuffix(name, ".0") == text {
			if at >= 0 {
				return -1
			}
			at = k
		}
	}
	return at
}

// A survey is what a first look at the reference finds.
type survey struct {
	labels  map[string]bool
	known   []string // classes with posteriors, or that are predicted
	kind    kind
	guessed bool     // a column says which classes are predicted
	missing int64    // rows without a label
	ids     []string // the first, for a message
}

// shownIDs is how many identities a message names.
const shownIDs = 3

// look reads the classes of the reference.
func look(ctx context.Context, path string, t *truth, o Options) (*survey, error) {
	r := &reader{columns: o.Columns}
	r.columns.Time = ""
	s := &survey{labels: map[string]bool{}}
	predicted := map[string]bool{}
	err := r.each(ctx, path, o.Reading, func(rec arrow.Record) (err error) {
		labels, err := t.labels(r, rec)
		if err != nil {
			return err
		}
		if s.kind, err = r.kindOf(rec); err != nil {
			return err
		}
		guess, ids := of(rec, o.Columns.prediction()), of(rec, o.Columns.ID)
		s.guessed = guess != nil
		for i := range int(rec.NumRows()) {
			if label := labels(i); label != "" {
				s.labels[label] = true
			} else {
				s.missing++
			}
			if ids != nil && len(s.ids) < shownIDs {
				s.ids = append(s.ids, text(ids, i))
			}
			if s.kind == hard {
				if class := text(guess, i); class != "" {
					predicted[class] = true
				}
			}
			if len(s.labels) > o.MaxClasses || len(predicted) > o.MaxClasses {
				return fmt.Errorf("has more than %d classes: name the column of labels with --label, or raise --max-classes", o.MaxClasses)
			}
		}
		switch s.kind {
		case posteriors:
			s.known = r.named(rec)
		case listed:
			s.known, err = listedClasses(rec, o.Columns.Probability)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(s.labels) == 0 {
		return nil, t.missing(path, o.Columns.Label, s.ids)
	}
	if s.kind == hard {
		s.known = tables.Classes(sortedKeys(predicted))
	}
	return s, nil
}

// listedClasses are the names of the classes of lists of posteriors: a stream of mars says them.
func listedClasses(rec arrow.Record, column string) ([]string, error) {
	meta, err := arrowio.ReadMeta(rec.Schema())
	if err != nil {
		return nil, err
	}
	if len(meta.Classes) == 0 {
		return nil, fmt.Errorf("the column %q has lists of posteriors, and nothing says of which classes: give a column %s_CLASS for each", column, column)
	}
	return meta.Classes, nil
}

// classes are those of the survey.
func (s *survey) classes(o Options, path string) (*classes, error) {
	labels := tables.Classes(sortedKeys(s.labels))
	known := s.known
	if s.kind == scores {
		if len(labels) != 2 {
			return nil, fmt.Errorf("%s: column %q has %s, and --score is for two: give a column %s_CLASS for each class", path, o.Columns.Label, spelling.Count(len(labels), "class", "classes"), o.Columns.Probability)
		}
		known = labels
	}
	c := newClasses(known, labels)
	if len(c.names) == len(known)+len(labels) {
		return nil, fmt.Errorf("%s: no label is a class that is predicted: the labels in column %q are %s, and the predictions of %s: name the column of labels with --label, and call the classes alike in both", path, o.Columns.Label, spelling.List(labels), spelling.List(known))
	}
	if len(c.names) < 2 {
		return nil, fmt.Errorf("%s: has one class alone, %q: give labelled rows of all classes as the reference", path, c.names[0])
	}
	if c.positive = 1; s.kind == scores && o.Columns.Positive != "" {
		if c.positive = c.index(o.Columns.Positive); c.positive < 0 {
			return nil, fmt.Errorf("%s: has no class %q (its classes are %s): name the class that the score is of with --positive", path, o.Columns.Positive, strings.Join(c.names, ", "))
		}
	}
	return c, nil
}
