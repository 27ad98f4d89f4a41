package featurize

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
)

const (
	// minMore is the least share of rows that the target has to lack more than the source, for
	// the source's values to be taken away.
	minMore = 0.02
	// manyMore is the share of rows that the target has to lack more than the source, from which
	// on that is said: what is missing may not be so at random.
	manyMore = 0.2
	// maxPatterns is how many rows of the target tell which values are missing together.
	maxPatterns = 1 << 16
)

// gaps are the missing values of the target's rows that have some. A value that is filled in is no value of
// its class: where the target lacks many and the source few, the rows of one class look as if
// they were of another. So as many are taken away from the source, in the patterns of the
// target's rows, as if what is missing were missing at random.
type gaps struct {
	rows     int       // that have values
	lacking  []int     // rows without a value, by column
	patterns [][]int32 // columns that rows lack, of rows that lack some
}

func newGaps(columns int) *gaps { return &gaps{lacking: make([]int, columns)} }

// add looks at rows of the target.
func (g *gaps) add(t *tables.Table) {
	for i := 0; i < t.Features.Rows && g.rows < maxPatterns; i++ {
		if tables.IsMissing(t.Row(i)) {
			continue
		}
		var pattern []int32
		for j, v := range t.Row(i) {
			if v != v {
				pattern = append(pattern, int32(j))
				g.lacking[j]++
			}
		}
		if pattern != nil {
			g.patterns = append(g.patterns, pattern)
		}
		g.rows++
	}
}

// take takes values away from the source, and returns the columns.
func (g *gaps) take(source *tables.Table, seed uint64) (taken []int) {
	if g.rows < minIdentityRows {
		return nil
	}
	own := newGaps(len(g.lacking))
	own.add(source)
	// As many as are lacking are left if a value that a pattern lacks goes with this probability.
	probability := make([]float64, len(g.lacking))
	for j := range g.lacking {
		here, there := own.lackingShare(j), g.lackingShare(j)
		if there > here+minMore && there < 1 {
			probability[j] = (there - here) / (there * (1 - here))
			taken = append(taken, j)
		}
	}
	if taken == nil {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, streamGaps))
	nan := float32(math.NaN())
	for i := range source.Features.Rows {
		k, u := rng.IntN(g.rows), rng.Float64()
		if k >= len(g.patterns) {
			continue
		}
		row := source.Row(i)
		for _, j := range g.patterns[k] {
			if u < probability[j] {
				row[j] = nan
			}
		}
	}
	return taken
}

// streamGaps is the stream of random numbers that takes values away.
const streamGaps = 0x67617073

// doubtGaps warns of columns in which far more values are missing in the target, in rows that have
// some.
func (st *recipe) doubtGaps(env stages.Env, g *gaps, source *tables.Table, target string) {
	own := newGaps(len(g.lacking))
	own.add(source)
	var what []string
	for j, c := range st.Encoder.Columns {
		here, there := own.lackingShare(j), g.lackingShare(j)
		if there > here+manyMore && (j == 0 || st.Encoder.Columns[j-1].Name != c.Name) {
			what = append(what, fmt.Sprintf("%s (%.0f %% of the rows, and %.0f %% of those of %s)", c.Name, 100*there, 100*here, source.Name))
		}
	}
	if what != nil {
		st.doubt(env, fmt.Sprintf("%s: far more values are missing than in the source, and are taken to be missing in all classes alike: %s", target, nameColumns(what)))
	}
}

// lackingShare is the share of rows without a value in column j, of those that have values.
func (g *gaps) lackingShare(j int) float64 {
	return float64(g.lacking[j]) / float64(max(g.rows, 1))
}

// likeTarget takes values away from the source as the target lacks them.
func (st *recipe) likeTarget(env stages.Env, g *gaps, source *tables.Table, target string, indicator float64) {
	st.doubtGaps(env, g, source, target)
	taken := g.take(source, env.Seed)
	if taken == nil {
		return
	}
	var what []string
	for _, j := range taken {
		c := &st.Encoder.Columns[j]
		if j > 0 && st.Encoder.Columns[j-1].Name == c.Name {
			continue // the times of a date
		}
		share := float64(g.lacking[j]) / float64(g.rows)
		c.Gaps = c.Gaps || share > indicator
		what = append(what, fmt.Sprintf("%s (%.1f %%)", c.Name, 100*share))
	}
	env.Logger().Info(fmt.Sprintf("%s: values are taken away at random until as many are missing as in %s: %s", source.Name, target, nameColumns(what)))
}
