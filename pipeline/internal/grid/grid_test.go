package grid

import (
	"io"
	"strings"
	"testing"
)

func TestWriters(t *testing.T) {
	grids := []Grid{
		{Title: "A title", Head: []string{"a|b", "c_d"}, Rows: [][]string{{"c|d", "1 ± 2"}, {"e", "50 %"}},
			Strong: func(i, j int) bool { return i == 1 && j == 1 }, Notes: []string{"a note"}},
		{Notes: []string{"alone"}},
	}
	for want, write := range map[string]func(io.Writer, []Grid) error{
		"A title\na|b  c_d\nc|d  1 ± 2\ne    50 %*\na note\n\nalone\n":                                                                                                          WriteText,
		"A title\n\n| a\\|b | c_d |\n|---|---|\n| c\\|d | 1 ± 2 |\n| e | **50 %** |\n\n- a note\n\n- alone\n":                                                                   WriteMarkdown,
		"% A title\n\\begin{tabular}{ll}\n\\hline\na|b & c\\_d \\\\\n\\hline\nc|d & 1 $\\pm$ 2 \\\\\ne & \\textbf{50 \\%} \\\\\n\\hline\n\\end{tabular}\n% a note\n\n% alone\n": WriteLaTeX,
	} {
		var b strings.Builder
		if err := write(&b, grids); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("the tables are\n%s\nwant\n%s", b.String(), want)
		}
	}
}

func TestDecimals(t *testing.T) {
	for want, values := range map[string][]float64{
		"0 12 1862":         {0, 12, 1862},
		"0.005 0.500":       {0.005, 0.5},
		"0.500 9.990":       {0.5, 9.99},
		"0.50 12.34":        {0.5, 12.3449},
		"0.5 123.5":         {0.54, 123.456},
		"0 1234":            {0.4, 1234.4},
		"-0.050 0.000":      {-0.05, 0.0001},
		"0.001":             {0.001234},
		"0.000123 0.000012": {0.0001234, 0.0000123},
	} {
		var means []Mean
		for _, v := range values {
			means = append(means, Mean{Value: v, Runs: 1})
		}
		if got := strings.Join(Texts(means), " "); got != want {
			t.Errorf("%v are written %s, want %s", values, got, want)
		}
	}
}
