package gate

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
)

// A Gate is what was fitted. Its methods do not change it.
type Gate struct {
	Made Made `json:"made"`
	// Problem, View and Answer are the scales of the signs: a sign counts in deviations from its
	// mean over the tasks of the fit.
	Problem []Scale `json:"problem"`
	View    []Scale `json:"view"`
	Answer  []Scale `json:"answer"`
	// Views have the coefficients of the signs of the problem, a line a view in the order of
	// package variable Views, and Shared those of the signs of a view and of their products.
	Views  []Linear  `json:"views"`
	Shared []float64 `json:"shared"`
	// Error gives the logit of half the expected L1, and Wrong that of the expected share of wrong
	// labels, by the signs of an answer and their products.
	Error Linear `json:"error"`
	Wrong Linear `json:"wrong"`
	// Farthest is the greatest Problem.Distance of the tasks that were not simulated: nothing is
	// known of what lies farther off.
	Farthest float64 `json:"farthest"`
	// Width is what part of the expected L1 intervals count, so that they hold.
	Width float64 `json:"width"`

	errors, wrongs correction // see Correct
}

// Made says how a gate was made.
type Made struct {
	Date     string `json:"date"`
	Tasks    int    `json:"tasks"`
	Families int    `json:"families"`
}

// Scale is that of a sign.
type Scale struct {
	Name      string  `json:"name"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// Linear is a linear function of signs on their scale, and of their products where these follow.
type Linear struct {
	Name     string    `json:"name"`
	Constant float64   `json:"constant"`
	Signs    []float64 `json:"signs"`
}

//go:embed gate.json
var embedded []byte

// Default is the gate that comes with the program.
var Default = sync.OnceValue(func() *Gate {
	g, err := Parse(embedded)
	if err != nil {
		panic(err) // a test reads it
	}
	return g
})

// Parse reads a gate, and fails if its signs are not those of this package.
func Parse(data []byte) (*Gate, error) {
	g, d := &Gate{}, json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(g); err != nil {
		return nil, fmt.Errorf("gate.json: %w: make it again with fitgate", err)
	}
	views := make([]string, len(g.Views))
	for i, v := range g.Views {
		views[i] = v.Name
		if len(v.Signs) != len(problemSigns) {
			return nil, fmt.Errorf("gate.json: view %s has %d coefficients: want %d: make it again with fitgate", v.Name, len(v.Signs), len(problemSigns))
		}
	}
	answers := countProducts(answerSigns)
	same := slices.Equal(views, Views) && len(g.Shared) == countProducts(viewSigns) && len(g.Error.Signs) == answers && len(g.Wrong.Signs) == answers
	for _, pair := range [][2][]string{{scaleNames(g.Problem), names(problemSigns)}, {scaleNames(g.View), names(viewSigns)}, {scaleNames(g.Answer), names(answerSigns)}} {
		same = same && slices.Equal(pair[0], pair[1])
	}
	if !same {
		return nil, fmt.Errorf("gate.json: its views or signs are not those of this program: make it again with fitgate")
	}
	return g, nil
}

func scaleNames(scales []Scale) []string {
	all := make([]string, len(scales))
	for i, s := range scales {
		all[i] = s.Name
	}
	return all
}

// scaled brings signs to their scales.
func scaled(signs []float64, scales []Scale) []float64 {
	z := make([]float64, len(signs))
	for i, v := range signs {
		// Farther out than anything of the fit, a sign says no more than there.
		z[i] = max(-maxScaled, min(maxScaled, (v-scales[i].Mean)/scales[i].Deviation))
	}
	return z
}

const maxScaled = 4

// A pair is two signs that are multiplied.
type pair struct{ first, second int }

// pairs are what is multiplied: a sign that speaks against an answer by each of those after it that do too, itself
// among them, and by all that do not. So what one says of what is wrong depends on the others.
func pairs[T any](signs []sign[T]) (all []pair) {
	for i, a := range signs {
		for j, b := range signs {
			if a.against && (j >= i || !b.against) {
				all = append(all, pair{i, j})
			}
		}
	}
	return all
}

// product is that of two signs on their scale. One that speaks against an answer counts as far as it lies above its
// mean: an answer against which nothing speaks is doubted no more than the signs themselves doubt it.
func product[T any](signs []sign[T], z []float64, p pair) float64 {
	first, second := max(z[p.first], 0), z[p.second]
	if signs[p.second].against {
		second = max(second, 0)
	}
	return first * second
}

// products returns z and the products behind it.
func products[T any](signs []sign[T], z []float64) []float64 {
	all := slices.Clone(z)
	for _, p := range pairs(signs) {
		all = append(all, product(signs, z, p))
	}
	return all
}

// countProducts is the number of values that products returns.
func countProducts[T any](signs []sign[T]) int { return len(signs) + len(pairs(signs)) }

func (l Linear) at(z []float64) float64 { return l.Constant + dot(l.Signs, z) }

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// Weights are the views' shares of the answer, which sum to 1. Only those of the names in assume
// have any, or all if it is nil. Where classes have no parts, there is no view "parts", and the
// view "classes" stands for both. The weights are nil if no view may have any.
func (g *Gate) Weights(s Signs, assume []string) []float64 {
	scores := g.scores(s)
	may := func(name string) bool { return assume == nil || slices.Contains(assume, name) }
	for i, v := range s.Views {
		if !may(v.Name) && !(v.Name == "classes" && undivided(s.Views) && may("parts")) {
			scores[i] = math.Inf(-1)
		}
	}
	if len(scores) == 0 || math.IsInf(slices.Max(scores), -1) {
		return nil
	}
	return softmax(scores)
}

// scores are the logarithms of the weights, but for a constant.
func (g *Gate) scores(s Signs) []float64 {
	z, scores := scaled(values(problemSigns, s.Problem), g.Problem), make([]float64, len(s.Views))
	for i, v := range s.Views {
		scores[i] = g.Views[index(v.Name)].at(z)
		if v.Name == "classes" && undivided(s.Views) {
			scores[i] = logSum(scores[i], g.Views[index("parts")].at(z))
		}
		scores[i] += dot(g.Shared, products(viewSigns, scaled(values(viewSigns, seen{v, s.Prior}), g.View)))
	}
	return scores
}

func undivided(views []View) bool {
	return !slices.ContainsFunc(views, func(v View) bool { return v.Name == "parts" })
}

func logSum(a, b float64) float64 {
	top := max(a, b)
	return top + math.Log(math.Exp(a-top)+math.Exp(b-top))
}

func softmax(scores []float64) []float64 {
	top, sum := slices.Max(scores), 0.0
	weights := make([]float64, len(scores))
	for i, s := range scores {
		weights[i] = math.Exp(s - top)
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights
}

// Expect returns the L1 error, 0 to 2, that the weighted mean of the views' proportions is expected
// to have, and the share of its labels, 0 to 1, that is expected to be wrong.
func (g *Gate) Expect(s Signs, weights []float64) (l1, wrong float64) {
	z := products(answerSigns, scaled(values(answerSigns, newAnswer(s, weights)), g.Answer))
	return 2 * logistic(g.Error.at(z)), logistic(g.Wrong.at(z))
}

func newAnswer(s Signs, weights []float64) answer {
	a := answer{Signs: s, weights: weights, mean: make([]float64, len(s.Prior))}
	for i, v := range s.Views {
		for k, p := range v.Proportions {
			a.mean[k] += weights[i] * p
		}
	}
	return a
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// A Reason is what a sign adds to the logarithm of a view's weight against the others'.
type Reason struct {
	Text  string  // the sign in words
	Value float64 // above 0 if it speaks for the view
}

// Why returns what speaks for a view, and against it, beside the mean of the others by their
// weights: the largest first. Signs of one meaning are one reason, and half of what the product of
// two adds is each one's.
func (g *Gate) Why(s Signs, weights []float64, view int) []Reason {
	others := make([]float64, len(weights))
	for i, w := range weights {
		if i != view {
			others[i] = w / max(1-weights[view], math.SmallestNonzeroFloat64)
		}
	}
	against := func(of func(i int) float64) float64 {
		value := of(view)
		for i, w := range others {
			if w > 0 {
				value -= w * of(i)
			}
		}
		return value
	}
	var reasons []Reason
	z := scaled(values(problemSigns, s.Problem), g.Problem)
	for j, sign := range problemSigns {
		value := against(func(i int) float64 { return g.Views[index(s.Views[i].Name)].Signs[j] })
		reasons = append(reasons, Reason{sign.said(z[j]), value * z[j]})
	}
	views, adds := make([][]float64, len(s.Views)), make([][]float64, len(s.Views))
	for i, v := range s.Views {
		views[i] = scaled(values(viewSigns, seen{v, s.Prior}), g.View)
		adds[i] = g.parts(views[i])
	}
	for j, sign := range viewSigns {
		value := against(func(i int) float64 { return adds[i][j] })
		if last := len(reasons) - 1; j > 0 && sign.high == viewSigns[j-1].high {
			reasons[last].Value += value
			continue
		}
		reasons = append(reasons, Reason{sign.said(against(func(i int) float64 { return views[i][j] })), value})
	}
	slices.SortStableFunc(reasons, func(a, b Reason) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	return reasons
}

// parts are what each sign of a view, on its scale, adds to the logarithm of its weight.
func (g *Gate) parts(z []float64) []float64 {
	adds := make([]float64, len(z))
	for i, x := range z {
		adds[i] = g.Shared[i] * x
	}
	for i, p := range pairs(viewSigns) {
		half := g.Shared[len(z)+i] * product(viewSigns, z, p) / 2
		adds[p.first] += half
		adds[p.second] += half
	}
	return adds
}
