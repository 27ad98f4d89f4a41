package pipeline

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Results are the numbers of the runs of a graph: a row for each run.
type Results struct {
	Axes    []string // of the matrix
	Columns []string // names of the numbers
	Rows    []ResultRow
}

// A ResultRow is one run's.
type ResultRow struct {
	Values  []string           // of the matrix, one for each axis
	Numbers map[string]float64 // by column
	Error   string             // why the run failed; "" if it did not
}

// A printout is the numbers that a stage of a run has put out.
type printout struct {
	stage string // its name in the file
	numberList
}

// results gathers the numbers of every run.
func (r *Runner) results() (*Results, error) {
	t, printouts := &Results{Axes: axisNames(r.Graph.File.Axes)}, make([][]printout, len(r.Graph.Runs))
	for i, run := range r.Graph.Runs {
		row := ResultRow{Numbers: map[string]float64{}, Error: r.failureOf(run)}
		for _, axis := range t.Axes {
			row.Values = append(row.Values, run.Values[axis])
		}
		t.Rows = append(t.Rows, row)
		var err error
		if printouts[i], err = r.printouts(run); err != nil {
			return nil, err
		}
	}
	if err := r.fill(t, printouts); err != nil {
		return nil, err
	}
	return t, r.beside.join(t)
}

// printouts reads what the text stages of a run have put out.
func (r *Runner) printouts(run *Run) ([]printout, error) {
	var all []printout
	for _, n := range run.Nodes {
		if n == nil || n.Stage.Rows {
			continue
		}
		e := r.store.lookup(n.Key)
		if e == nil {
			continue // it failed, and others were to go on
		}
		f, _ := e.File("")
		text, err := os.ReadFile(e.Path(f))
		if err != nil {
			return nil, err
		}
		found, err := readNumbers(text)
		if err != nil {
			return nil, n.fail("", fmt.Errorf("its output makes no row of a table (json = true?): %w", err))
		}
		if slices.ContainsFunc(all, func(p printout) bool { return p.stage == n.Name }) {
			return nil, n.fail("", sameName(n.Name))
		}
		all = append(all, printout{n.Name, found})
	}
	return all, nil
}

// sameName refuses two stages of a run whose numbers could not be told apart.
func sameName(stage string) error {
	return fmt.Errorf("a run has two stages that are called %s: give one another name with name", stage)
}

// fill takes the numbers that the table wants.
func (r *Runner) fill(t *Results, printouts [][]printout) error {
	spec := r.Graph.File.table()
	if spec.Numbers == nil {
		t.takeAll(printouts)
	}
	for _, name := range append(slices.Clone(spec.Numbers), spec.Show...) {
		if slices.Contains(t.Columns, name) || r.beside.has(name) {
			continue
		}
		stage, of, isCost := cutCost(name)
		var err error
		if isCost {
			err = r.takeCost(t, stage, of)
		} else {
			err = t.take(name, printouts)
		}
		if err != nil {
			return r.Graph.File.failTable(name, err)
		}
	}
	if len(t.Columns) == 0 && !t.failed() {
		return errors.New(`table: no stage puts out numbers: end with run = "eval" and json = true`)
	}
	return nil
}

// takeAll takes the numbers at the top level of all printouts. One that two stages of a
// run put out has the stage's name before it.
func (t *Results) takeAll(printouts [][]printout) {
	shared := map[string]bool{}
	for _, of := range printouts {
		seen := map[string]bool{}
		for _, o := range of {
			for _, n := range o.top() {
				shared[n.path], seen[n.path] = shared[n.path] || seen[n.path], true
			}
		}
	}
	for i, of := range printouts {
		for _, o := range of {
			for _, n := range o.top() {
				if shared[n.path] {
					n.path = o.stage + "." + n.path
				}
				t.set(i, n)
			}
		}
	}
}

// take takes a number by its name in the JSON, with or without that of the stage
// before it, or all numbers of the object or list that has the name.
func (t *Results) take(name string, printouts [][]printout) error {
	found, some := false, false
	for i, of := range printouts {
		from := ""
		for _, o := range of {
			some = true
			for _, n := range o.named(name) {
				if from != "" && from != o.stage {
					return fmt.Errorf("both %s and %s put out %s: write %s.%s or %s.%s", from, o.stage, name, from, name, o.stage, name)
				}
				from, found = o.stage, true
				t.set(i, n)
			}
		}
	}
	if !found && some && slices.Contains(sometimes, name) {
		t.addColumn(name) // the runs that have it are not among these
		return nil
	}
	if !found && some && !t.failed() {
		return fmt.Errorf("no stage puts out %s: %s", name, didYouMean(name, topNames(printouts)))
	}
	return nil
}

// sometimes are numbers that eval puts out of some methods alone: those that estimate the
// target's proportions. A study may be run in part, without them.
var sometimes = []string{"proportions_l1"}

// topNames are the names at the top level of all printouts.
func topNames(printouts [][]printout) []string {
	var names []string
	for _, of := range printouts {
		for _, o := range of {
			for _, n := range o.numberList {
				if name, _, _ := strings.Cut(n.path, "."); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// named are a printout's numbers of a name, or below it, with the stage's name before
// it or without.
func (o printout) named(name string) numberList {
	own := o.below(name)
	if rest, ok := strings.CutPrefix(name, o.stage+"."); ok {
		for _, n := range o.below(rest) {
			own = append(own, number{path: o.stage + "." + n.path, value: n.value})
		}
	}
	return own
}

// takeCost takes the seconds or megabytes of a stage.
func (r *Runner) takeCost(t *Results, stage, of string) error {
	name := stage + "." + of
	t.addColumn(name)
	for i, run := range r.Graph.Runs {
		for _, n := range run.Nodes {
			if n == nil || n.Name != stage {
				continue
			}
			if _, twice := t.Rows[i].Numbers[name]; twice {
				return fmt.Errorf("%s: %w", name, sameName(stage))
			}
			if v, known := r.costOf(n, of); known {
				t.set(i, number{path: name, value: v})
			}
		}
	}
	return nil
}

const megabyte = 1e6

func (r *Runner) costOf(n *Node, of string) (v float64, known bool) {
	c, known := r.cost(n)
	if of == "seconds" {
		return c.Seconds, known
	}
	return float64(c.Peak) / megabyte, known && c.Peak > 0
}

func (t *Results) set(row int, n number) {
	t.Rows[row].Numbers[n.path] = n.value
	t.addColumn(n.path)
}

func (t *Results) addColumn(name string) {
	if !slices.Contains(t.Columns, name) {
		t.Columns = append(t.Columns, name)
	}
}

func (t *Results) failed() bool {
	return slices.ContainsFunc(t.Rows, func(row ResultRow) bool { return row.Error != "" })
}
