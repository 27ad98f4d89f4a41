package gate

import (
	"math"
)

// Problem is what is seen of a source and a target.
type Problem struct {
	// Separation is how well the classifiers tell the source's classes apart in rows that were
	// held out: their balanced accuracy, from 0 at chance to 1.
	Separation float64 `json:"separation"`
	// Misfit is how badly the source's classes, where they are, explain the target, in standard
	// deviations of chance, and Change how much new proportions explain. Both are about 0 if
	// nothing has happened, and 0 where too few rows could be compared.
	Misfit float64 `json:"misfit"`
	Change float64 `json:"change"`
	// Novelty is the share of target rows, 0 to 1, that lie where the source has few, and New what
	// of it neither the classes nor chance explain.
	Novelty float64 `json:"novelty"`
	New     float64 `json:"new"`
	// Distance is how far the middle row of the target lies from its nearest rows of the source, beside how
	// far the source's rows lie from their mean.
	Distance float64 `json:"distance"`
	// Rival is how much likelier the target is if all rows have moved alike, where that may look
	// like new proportions, in standard deviations of chance; 0 elsewhere.
	Rival float64 `json:"rival"`
	// Rows of the source and of the target, their columns, and the source's classes.
	Source  int `json:"source"`
	Target  int `json:"target"`
	Columns int `json:"columns"`
	Classes int `json:"classes"`
}

// View is what is seen of the answer under one assumption.
type View struct {
	Name string `json:"name"`
	// Apart is how well boosted trees tell the target's rows from those that the view expects:
	// the area under their ROC curve on rows that were held out. It is 0.5 if they do not, and
	// Beyond is how far it is from that, in standard deviations of chance.
	// Where nothing has changed, other rows of the same kind may have been chosen, so it is the share of
	// rows there that lie where the source has few, beyond what its own do.
	Apart  float64 `json:"apart"`
	Beyond float64 `json:"beyond"`
	// Blurred is Apart where noise has blurred both sides: what is left but for values that rows
	// of few values leave as soon as they move.
	Blurred float64 `json:"blurred"`
	// Doubt is 1 − the mean greatest posterior of the target's rows, 0 to 1.
	Doubt float64 `json:"doubt"`
	// Members is the L1 distance, 0 to 2, of the proportions by single classifiers from those by all.
	Members float64 `json:"members"`
	// Trees is the share of target rows, 0 to 1, that boosted trees label otherwise than the classifiers.
	Trees float64 `json:"trees"`
	// Proportions is p_T under the view, C values.
	Proportions []float64 `json:"proportions"`
}

// Signs are all that is seen of a task.
type Signs struct {
	Problem Problem `json:"problem"`
	Views   []View  `json:"views"`
	// Prior is p_S, C values.
	Prior []float64 `json:"prior"`
	// Disagree is the share of target rows, 0 to 1, that two views label differently (V×V).
	Disagree [][]float64 `json:"disagree"`
}

// A sign is a number of something that is seen.
type sign[T any] struct {
	name      string // its key in gate.json
	high, low string // what it says if it is large, or small; "" of an answer, whose signs nobody names
	of        func(T) float64
	// against says that a large value speaks against an answer: then others' values make a difference (products).
	against bool
}

// said is what the sign says where it lies so far above its mean.
func (s sign[T]) said(z float64) string {
	if z < 0 {
		return s.low
	}
	return s.high
}

// leastLog is added before a logarithm is taken of what may be 0.
const leastLog = 0.02

func logOf(x float64) float64 { return math.Log(max(x, 0) + leastLog) }

// deviations brings standard deviations, which may be 0 to 10⁴, to a scale on which what is beyond
// doubt differs little.
func deviations(x float64) float64 { return math.Copysign(math.Log1p(math.Abs(x)), x) }

var problemSigns = []sign[Problem]{
	about("overlap", "the source's classes overlap", "the source's classes are told apart well", func(p Problem) float64 { return 1 - p.Separation }),
	about("misfit", "the source's classes do not explain the target where they are", "the source's classes explain the target where they are", func(p Problem) float64 { return deviations(p.Misfit) }),
	about("overlap and misfit", "the source's classes overlap and do not explain the target", "the source's classes are told apart, or explain the target", func(p Problem) float64 { return (1 - p.Separation) * deviations(p.Misfit) }),
	about("change", "new proportions explain much of the target", "new proportions explain nothing more of the target", func(p Problem) float64 { return deviations(p.Change) }),
	about("explained", "new proportions explain most of what differs", "new proportions explain little of what differs", explained),
	about("overlap and explained", "the source's classes overlap, and new proportions explain most of what differs", "the source's classes are told apart, or new proportions explain little of what differs", func(p Problem) float64 { return (1 - p.Separation) * explained(p) }),
	about("novelty", "rows of the target lie where the source has few", "the target lies where the source has rows", func(p Problem) float64 { return p.Novelty }),
	about("new", "rows of the target seem to be of no class of the source", "no row of the target seems to be of a new class", func(p Problem) float64 { return p.New }),
	about("rival", "a movement of all rows explains the target better than new proportions", "new proportions explain the target as well as a movement of all rows", func(p Problem) float64 { return math.Tanh(p.Rival / 2) }),
	about("source rows", "the source has many rows", "the source has few rows", func(p Problem) float64 { return math.Log(float64(p.Source)) }),
	about("target rows", "the target has many rows", "the target has few rows", func(p Problem) float64 { return math.Log(float64(p.Target)) }),
	about("columns", "there are many columns", "there are few columns", func(p Problem) float64 { return math.Log(float64(p.Columns)) }),
	about("classes", "there are many classes", "there are few classes", func(p Problem) float64 { return math.Log(float64(p.Classes)) }),
}

// about is a sign of a problem, which speaks for no answer or against one.
func about(name, high, low string, of func(Problem) float64) sign[Problem] {
	return sign[Problem]{name: name, high: high, low: low, of: of}
}

// explained is the part, 0 to 1, of what differs beyond chance that new proportions explain.
func explained(p Problem) float64 {
	change := max(0, p.Change)
	return change / (change + max(0, p.Misfit) + 1)
}

// seen is a view beside the source.
type seen struct {
	View
	prior []float64
}

var viewSigns = []sign[seen]{
	{"apart", "the target's rows are told from those that it expects", "the target's rows are hardly told from those that it expects", func(v seen) float64 { return 2 * max(0, v.Apart-0.5) }, true},
	{"log apart", "the target's rows are told from those that it expects", "the target's rows are hardly told from those that it expects", func(v seen) float64 { return logOf(2 * (v.Apart - 0.5)) }, true},
	{"beyond chance", "the target's rows are told from those that it expects", "the target's rows are hardly told from those that it expects", func(v seen) float64 { return deviations(max(0, v.Beyond)) }, true},
	{"blurred", "the target's rows are told from those that it expects, even if blurred", "the target's rows are hardly told from those that it expects if blurred", func(v seen) float64 { return 2 * max(0, v.Blurred-0.5) }, true},
	{"log blurred", "the target's rows are told from those that it expects, even if blurred", "the target's rows are hardly told from those that it expects if blurred", func(v seen) float64 { return logOf(2 * (v.Blurred - 0.5)) }, true},
	{"shift", "the proportions would have changed much", "the proportions would have changed little", func(v seen) float64 { return distance(v.Proportions, v.prior) }, false},
	{"doubt", "labels would be uncertain", "labels would be certain", func(v seen) float64 { return v.Doubt }, true},
	{"trees", "boosted trees would label many rows otherwise", "boosted trees would label rows alike", func(v seen) float64 { return v.Trees }, true},
}

// answer is the weighted mean of the views.
type answer struct {
	Signs
	weights []float64
	mean    []float64 // of the proportions
}

// over is the weighted mean of what the views have.
func (a answer) over(of func(View) float64) (sum float64) {
	for i, v := range a.Views {
		if a.weights[i] > 0 {
			sum += a.weights[i] * of(v)
		}
	}
	return sum
}

// stays is the weight of the views that move no rows.
func (a answer) stays() float64 {
	return a.over(func(v View) float64 {
		if Of(v.Name).Moves {
			return 0
		}
		return 1
	})
}

// disagreement is the share of labels that two views, drawn by their weights, do not share.
func (a answer) disagreement() (sum float64) {
	for i, row := range a.Disagree {
		for j, d := range row {
			sum += a.weights[i] * a.weights[j] * d
		}
	}
	return sum
}

var answerSigns = []sign[answer]{
	{name: "spread", against: true, of: func(a answer) float64 {
		return logOf(a.over(func(v View) float64 { return distance(v.Proportions, a.mean) }))
	}},
	{name: "members", against: true, of: func(a answer) float64 {
		return logOf(a.over(func(v View) float64 { return v.Members }))
	}},
	{name: "doubt", against: true, of: func(a answer) float64 {
		return logOf(a.over(func(v View) float64 { return v.Doubt }))
	}},
	{name: "trees", against: true, of: func(a answer) float64 {
		return logOf(a.over(func(v View) float64 { return v.Trees }))
	}},
	{name: "disagreement", against: true, of: func(a answer) float64 { return logOf(a.disagreement()) }},
	{name: "apart", against: true, of: func(a answer) float64 {
		return logOf(a.over(func(v View) float64 { return 2 * (v.Apart - 0.5) }))
	}},
	{name: "blurred", against: true, of: func(a answer) float64 {
		return logOf(a.over(func(v View) float64 { return 2 * (v.Blurred - 0.5) }))
	}},
	{name: "beyond chance", against: true, of: func(a answer) float64 {
		return a.over(func(v View) float64 { return deviations(max(0, v.Beyond)) })
	}},
	{name: "shift", of: func(a answer) float64 { return logOf(distance(a.mean, a.Prior)) }},
	{name: "moved", of: func(a answer) float64 { return 1 - a.stays() }},
	{name: "new", against: true, of: func(a answer) float64 { return logOf(a.stays() * a.Problem.New) }},
	{name: "overlap", against: true, of: func(a answer) float64 { return logOf(1 - a.Problem.Separation) }},
	{name: "misfit", of: func(a answer) float64 { return deviations(a.Problem.Misfit) }},
	{name: "novelty", of: func(a answer) float64 { return a.Problem.Novelty }},
	{name: "source rows", of: func(a answer) float64 {
		return math.Log(float64(a.Problem.Source) / float64(a.Problem.Classes))
	}},
	{name: "target rows", of: func(a answer) float64 { return math.Log(float64(a.Problem.Target)) }},
	{name: "classes", of: func(a answer) float64 { return math.Log(float64(a.Problem.Classes)) }},
}

// distance is the L1 distance.
func distance(p, q []float64) (sum float64) {
	for k := range p {
		sum += math.Abs(p[k] - q[k])
	}
	return sum
}

// values are the signs of something that is seen.
func values[T any](signs []sign[T], seen T) []float64 {
	all := make([]float64, len(signs))
	for i, s := range signs {
		all[i] = s.of(seen)
	}
	return all
}

func names[T any](signs []sign[T]) []string {
	all := make([]string, len(signs))
	for i, s := range signs {
		all[i] = s.name
	}
	return all
}
