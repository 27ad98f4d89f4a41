package hedge

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Evidence says how far the answer can be believed.
type Evidence struct {
	// ExpectedError is the L1 error, 0 to 2, that Proportions are expected to have.
	ExpectedError float64 `json:"expected_error"`
	// ExpectedAccuracy is the share of target rows, 0 to 1, whose label is expected to
	// be right.
	ExpectedAccuracy float64 `json:"expected_accuracy"`
	// Spread is the mean L1 distance of the views' proportions from the answer's, and
	// Members that of the members' from their ensemble's, 0 to 2. Both are weighted.
	Spread  float64 `json:"spread"`
	Members float64 `json:"members"`
	// Doubt is 1 − the mean greatest posterior of the target's rows, 0 to 1.
	Doubt float64 `json:"doubt"`
	// Untypical is the share of target rows, 0 to 1, whose typicality is below
	// UntypicalRate, which is the share to expect if no row is new.
	Untypical float64 `json:"untypical"`
	// Missing is the share of target rows, 0 to 1, that have no value at all: each may be of
	// any class.
	Missing float64 `json:"missing,omitempty"`
	// Unknown is how much of what could be known of the target's classes is not, 0 to 1: 1 if
	// the target lies farther from the source than any that was learnt from.
	Unknown float64 `json:"unknown,omitempty"`
	// Fewest is 1 / (n + 2) for the n rows that tell least: those of the target, or those of a
	// class of the source, by the share of the class.
	Fewest float64 `json:"fewest,omitempty"`
	// Thin says that the classes are so many, for their rows, that errors do not cancel out: see
	// ensemble.Thin. Files have an older name of it.
	Thin bool `json:"crowded,omitempty"`
}

// UntypicalRate is the typicality below which Evidence.Untypical counts rows.
const UntypicalRate = 0.05

const (
	// Where more rows than that lie where the source has none, that its classes have moved there
	// is taken on trust: columns that have changed places look the same. No task of the gate's shows
	// how often they have, so no more than the second of the labels are expected to be right then.
	farNovelty, farAccuracy = 0.5, 0.9

	// A label that is wrong counts a row for one class too many and for another too few. Where
	// classes have few rows such errors hardly cancel out: nine simulated targets of 200 to 1,000
	// classes were off by .5 to 2 times the share of wrong labels. At least that often is expected.
	thinError = 1.5

	// Where classes have moved, they are told by where they lie beside each other. A class that makes
	// up so much of the target has none beside it, and only that the classes have stayed near where
	// they were can tell which it is: not if more than so many of its rows would be of others then.
	loneShare, loneCrossed = 0.9, 0.25
)

// judge finds what the views differ by. posteriors are theirs, of the target's rows; it returns
// their mean.
func (m *Model) judge(f *fit, posteriors []blas32.General) blas32.General {
	e := &m.Evidence
	mean := dense.New(f.target.Rows, f.classes)
	for i, v := range m.Views {
		e.Spread += v.Weight * dense.L1(v.Proportions, m.Proportions)
		e.Members += v.Weight * v.Members
		for j, p := range posteriors[i].Data {
			mean.Data[j] += float32(v.Weight) * p
		}
	}
	e.Doubt = doubt(mean)
	if m.Strange() {
		e.Unknown = 1
	}
	e.Fewest, e.Thin = f.fewest(m.Proportions), f.thin
	if k := dense.Argmax(m.Proportions); m.Proportions[k] >= loneShare {
		if crossed := m.crossed(); crossed > loneCrossed {
			e.Unknown = max(e.Unknown, crossed)
			f.warn("nearly all target rows are taken for one class, %s, that has moved to where the source has others: another class that has moved there would look the same", m.Classes[k])
		}
	}
	return mean
}

// crossed is the share of rows that have another label because classes have moved than they would have if nothing had
// changed. Views that move nothing do not count: of the 2,304 tasks of the gate's fit none with one class alone has more than
// .15 then.
func (m *Model) crossed() (sum float64) {
	same := slices.IndexFunc(m.Views, func(v View) bool { return v.belief().still })
	for i, v := range m.Views {
		if same >= 0 && v.moves() {
			sum += v.Weight * m.disagree[i][same]
		}
	}
	return sum
}

// Strange reports whether the target lies farther from the source than any that was learnt from.
func (m *Model) Strange() bool { return m.Problem.Distance > gate.Default().Farthest }

// Far reports whether most rows of the target lie where the source has none.
func (m *Model) Far() bool { return m.Problem.Novelty > farNovelty }

// fewest is Evidence.Fewest. n rows without an exception leave the next one a chance of
// 1 / (n + 2) to be one (Laplace's rule of succession).
func (f *fit) fewest(shares []float64) float64 {
	chance := 0.0
	for k, share := range f.prior {
		chance += shares[k] / (share*float64(f.distinct) + 2)
	}
	return max(chance, 1/float64(f.target.Rows+2))
}

// expect finds what is expected of the answer: what the gate says, what no fit needs to tell, and what batches of the field say of both.
func (m *Model) expect() {
	e := &m.Evidence
	g := cmp.Or(m.gate, gate.Default())
	off, wrong := g.Expect(m.Signs(), m.weights())
	off, wrong = g.Correct(m.told(off, wrong))
	e.ExpectedError = off
	e.ExpectedAccuracy = min(1-wrong, 1-off/2)
}

// told is what is expected where the gate says that the proportions are off by so much in L1, and so many labels wrong: no
// less than what no fit needs to tell.
func (m *Model) told(off, wrong float64) (float64, float64) {
	e := &m.Evidence
	stays := Unmoved(m.Views)
	right := 1 - wrong
	if m.Far() {
		right = min(right, farAccuracy)
	}
	right = (1-e.Unknown)*right + e.Unknown/float64(len(m.Classes))
	// Each row of no class of the source is one too few of the class that the source lacks, and one
	// too many of another.
	off = max(off, 2*e.Fewest, 2*stays*m.Problem.New)
	if e.Thin {
		off = max(off, thinError*(1-right))
	}
	off = (1-e.Unknown)*off + e.Unknown*labelshift.Unknown(m.Proportions)
	off = labelshift.MissingError(off, e.Missing)
	// Shares that are off by an L1 distance have half as many rows with a wrong label at least,
	// and a row of no class of the source has none that is right.
	return off, 1 - min((1-e.Missing)*right, 1-off/2, 1-stays*m.Problem.New, 1-e.Fewest)
}

// membersApart is the mean L1 distance of the proportions by each member of an
// ensemble from those by all, under label shift.
func (f *fit) membersApart(ctx context.Context, l *learner) (float64, error) {
	all, err := f.shifted(ctx, l)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, p := range l.members {
		own, err := f.em(ctx, p)
		if err != nil {
			return 0, err
		}
		sum += l.model.Weights()[i] * dense.L1(all, own)
	}
	return sum, nil
}

// doubt is 1 − the mean greatest posterior.
func doubt(posteriors blas32.General) float64 {
	sum := 0.0
	for i := range posteriors.Rows {
		row := dense.Row(posteriors, i)
		sum += float64(row[dense.Argmax(row)]) / float64(posteriors.Rows)
	}
	return max(0, 1-sum)
}
