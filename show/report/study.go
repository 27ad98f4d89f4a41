package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/pipeline/compare"
	"mars.dev/mars/show/figures"
)

// Study is what there is to see of the runs of a pipeline file: their numbers and, if they are
// of several methods, these compared.
func Study(results *pipeline.Results) ([]*Part, error) {
	rows := results.Cells()
	if len(rows) < 2 {
		return nil, fmt.Errorf("the runs left no numbers: let a stage eval with json = true, or mars proportions, be the last")
	}
	p := &Part{Title: "Runs", Lead: spelling.Count(len(rows)-1, "run", "runs") + "."}
	failed := 0
	for _, row := range results.Rows {
		if row.Error != "" {
			failed++
		}
	}
	if failed > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d of %d runs failed: the table says why.", failed, len(rows)-1))
	}
	t := figures.Table{Head: rows[0], Rows: rows[1:]}
	if more := len(t.Rows) - maxTable; more > 0 {
		p.Text = append(p.Text, fmt.Sprintf("The table has the first %d runs: mars run --table runs.csv writes all.", maxTable))
		t.Rows = t.Rows[:maxTable]
	}
	for _, row := range t.Rows {
		for j := len(results.Axes); j < len(row); j++ {
			row[j] = rounded(row[j])
		}
	}
	p.Tables = []Table{{Title: "Numbers of the runs", Table: t}}
	if !slices.Contains(results.Axes, "method") {
		return []*Part{p}, nil
	}
	compared, err := methods(func(o compare.Options) (*compare.Comparison, error) {
		return compare.Table(runsName, results.Cells(), o) // rows are rounded
	})
	if err != nil { // methods cannot be compared in every study
		p.Text = append(p.Text, "The methods are not compared: "+strings.TrimSuffix(strings.TrimPrefix(err.Error(), runsName+": "), ".")+".")
		return []*Part{p}, nil
	}
	return []*Part{compared, p}, nil
}

// runsName is what a table that is no file is called in errors.
const runsName = "runs"

// methods is what there is to see of the methods of a study: a comparison and its figures. What
// is missing is said, and left out.
func methods(load func(compare.Options) (*compare.Comparison, error)) (*Part, error) {
	var warnings []string
	o := compare.Options{}
	c, err := load(o)
	if err != nil {
		o.Incomplete = true
		c, err = load(o)
	}
	if err != nil {
		o.Mixed = true
		if c, err = load(o); err == nil {
			warnings = append(warnings, "The results are of several versions of the program: they compare the versions as well as the methods.")
		}
	}
	if err != nil {
		return nil, err
	}
	p, err := Comparison(c)
	if err != nil {
		return nil, err
	}
	p.Warnings = append(warnings, p.Warnings...)
	var drawn []*figures.Figure
	f, err := figures.StudyOf(c, figures.StudyOptions{PerRow: panelsInPage})
	if err != nil {
		return nil, err
	}
	f.Title = strings.ToUpper(c.Number[:1]) + strings.ReplaceAll(c.Number[1:], "_", " ") + " by method"
	drawn = append(drawn, f)
	if has := func(other compare.Other) bool { return other.Name == sharesError }; slices.ContainsFunc(c.Others, has) {
		o.Number, o.Incomplete = sharesError, true
		shares, err := load(o)
		if err != nil {
			return nil, err
		}
		f, err := figures.StudyOf(shares, figures.StudyOptions{PerRow: panelsInPage})
		if err != nil {
			return nil, err
		}
		f.Kind, f.Title = "errors", "L1 error of the estimated proportions"
		drawn = append(drawn, f)
	}
	p.Figures = append(drawn, p.Figures...)
	return p, nil
}

const (
	panelsInPage = 2 // side by side: a page is narrower than a figure may be
	sharesError  = "proportions_l1"
)

// rounded writes a number with the digits that people read.
func rounded(cell string) string {
	if v, err := strconv.ParseFloat(cell, 64); err == nil {
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return cell
}
