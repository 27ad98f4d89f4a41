package label

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/levels"
)

// PredictedLevel is the column of the level of the predicted class, where Options.Confidence chooses it.
const PredictedLevel = "predicted_level"

// readLevels finds the levels of the classes. Without any, labels that need a confidence are of one.
func (l *Labels) readLevels(meta arrowio.Meta) error {
	if l.classes == nil {
		if l.Confidence == 0 {
			return nil
		}
		return l.in.Fail("", errors.New("its metadata do not name the classes"), "run mars-train or mars-predict before")
	}
	tree, err := levels.Parse(string(meta.Levels), l.classes)
	switch {
	case err != nil:
		return l.in.Fail("", err, "")
	case tree == nil && l.Confidence == 0:
		return nil
	case tree == nil:
		tree = levels.Flat(l.classes)
	}
	l.tree = tree
	for _, level := range tree.Levels {
		if (l.Unknown > 0 || l.Confidence > 0) && slices.Contains(level.Classes, Unknown) {
			return fmt.Errorf("%s: a class is called %q, as are rows that --unknown or --confidence leave without one: name the class otherwise, or leave the flag out", l.in.Name(), Unknown)
		}
	}
	return nil
}

// hasLevels reports whether there are levels of classes.
func (l *Labels) hasLevels() bool { return l.tree != nil && len(l.tree.Levels) > 1 }

// levelFields are the columns that levels need.
func (l *Labels) levelFields() (fields []arrow.Field) {
	if !l.hasLevels() {
		return nil
	}
	if l.Confidence > 0 {
		fields = append(fields, arrow.Field{Name: PredictedLevel, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	return append(fields, l.tree.Fields()...)
}

// settle gives rows their class at each level, and makes the deepest of those that are sure enough the
// predicted one.
func (l *Labels) settle(columns []arrow.Array, n int64) error {
	if l.tree == nil {
		return nil
	}
	classes, confidence := l.at(l.in.Columns.PredictedClass), l.at(Confidence)
	names, ok := columns[classes].(*array.String)
	if !ok {
		return l.in.Fail(l.in.Columns.PredictedClass, errors.New("is not text"), "run mars label anew")
	}
	predicted, level, sure := make([]string, n), make([]string, n), make([]float32, n)
	missing, unknown, strange := map[int]bool{}, map[int]bool{}, map[int]bool{}
	for i := range predicted {
		missing[i] = names.IsNull(i)
		strange[i] = l.Unknown > 0 && names.Value(i) == Unknown
		depth, class, p := l.deepest(l.posteriors.Row(i))
		if strange[i] {
			depth, class = -1, Unknown
		}
		predicted[i], sure[i] = class, p
		if unknown[i] = depth < 0 || missing[i]; !unknown[i] {
			level[i] = l.tree.Levels[depth].Name
		}
	}
	columns[classes], columns[confidence] = arrowio.NewStringsWithout(predicted, missing), arrowio.NewFloatArray(sure)
	if !l.hasLevels() {
		return nil
	}
	added := l.tree.Columns(l.posteriors, missing, strange, Unknown)
	if l.Confidence > 0 {
		added = slices.Insert(added, 0, arrowio.NewStringsWithout(level, unknown))
	}
	for j, field := range l.levelFields() {
		columns[l.at(field.Name)] = added[j]
	}
	return nil
}

// deepest is the class of the deepest level whose posterior is the confidence that is wanted, and that; the
// depth is −1 if there is none.
func (l *Labels) deepest(posteriors []float32) (depth int, class string, p float32) {
	classes, sums := l.tree.Decide(posteriors)
	for depth = len(classes) - 1; depth >= 0 && float64(sums[depth]) < l.Confidence; {
		depth--
	}
	if depth < 0 {
		return depth, Unknown, sums[0]
	}
	return depth, l.tree.Levels[depth].Classes[classes[depth]], sums[depth]
}

// endLevel counts at which level a row ended; level is "" where that is not known.
func (t *Tally) endLevel(level string) {
	if t.ended == nil {
		t.ended = map[string]int{}
	}
	t.ended[strings.Clone(level)]++
}

// KnownLevel is how many rows have a label of a level.
type KnownLevel struct {
	Level string `json:"level"` // Unknown for rows without
	Rows  int    `json:"rows"`
}

// Levels says how many rows have a label of each level, the finest first; nil where all have the finest.
func (t *Tally) Levels() (all []KnownLevel) {
	if t.ended == nil {
		return nil
	}
	for _, l := range slices.Backward(t.tree.Levels) {
		all = append(all, KnownLevel{l.Name, t.ended[l.Name]})
	}
	return append(all, KnownLevel{Unknown, t.ended[""]})
}

// LevelLine says it in words; "" where all have the finest.
func (t *Tally) LevelLine() string {
	var parts []string
	for _, l := range t.Levels() {
		parts = append(parts, fmt.Sprintf("%s (%d, %.1f %%)", l.Level, l.Rows, 100*float64(l.Rows)/float64(max(t.rows, 1))))
	}
	if parts == nil {
		return ""
	}
	return "the deepest level that is sure enough: " + strings.Join(parts, ", ")
}

// above is the class of a level of which one that is learnt is a part; "" if the level is not known.
func (l *Labels) above(level, class string) string {
	k := slices.Index(l.classes, class)
	for _, at := range l.tree.Levels {
		if at.Name == level && k >= 0 {
			return at.Classes[at.Of[k]]
		}
	}
	return ""
}
