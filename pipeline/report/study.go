package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/pipeline"
	"mars.dev/mars/pipeline/compare"
	"mars.dev/mars/pipeline/figures"
)

// Study is what there is to see of the runs of a pipeline file: their numbers and, if they are
// of several methods, these compared.
func Study(results *pipeline.Results) ([]*Part, error) {
	var text bytes.Buffer
	if err := results.WriteCSV(&text, false); err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(text.Bytes())).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("the runs left no numbers: let a stage eval with json = true, or mars proportions, be the last")
	}
	p := &Part{Title: "Runs", Lead: fmt.Sprintf("%d runs.", len(rows)-1)}
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
	p.Tables = []Table{{"Numbers of the runs", t}}
	if !slices.Contains(results.Axes, "method") || failed > 0 {
		return []*Part{p}, nil
	}
	compared, err := comparison(text.Bytes())
	if err != nil { // methods cannot be compared in every study
		p.Text = append(p.Text, "The methods are not compared: "+strings.TrimSuffix(err.Error(), ".")+".")
		return []*Part{p}, nil
	}
	return []*Part{compared, p}, nil
}

// comparison compares the methods of a table.
func comparison(text []byte) (*Part, error) {
	const name = "runs"
	c, err := compare.Table(name, bytes.NewReader(text), compare.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), name+": "))
	}
	return Comparison(c)
}
