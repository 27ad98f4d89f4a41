package eval

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestMetricsAreScikitLearns(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "oracle", "eval", "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Classes          int
		Truth, Predicted []int
		Accuracy         float64
		BalancedAccuracy float64 `json:"balanced_accuracy"`
		Recall           []*float64
		Confusion        [][]int `json:"confusion_matrix"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		m := newMetrics(names(c.Classes), confusion(c.Classes, c.Truth, c.Predicted))
		if m.N != len(c.Truth) || !near(m.Accuracy, c.Accuracy) || !near(m.BalancedAccuracy, c.BalancedAccuracy) {
			t.Errorf("case %d: n %d, accuracy %v, balanced accuracy %v; want %d, %v, %v",
				i, m.N, m.Accuracy, m.BalancedAccuracy, len(c.Truth), c.Accuracy, c.BalancedAccuracy)
		}
		if !reflect.DeepEqual(m.Confusion, c.Confusion) {
			t.Errorf("case %d: confusion matrix %v, want %v", i, m.Confusion, c.Confusion)
		}
		for k, r := range m.Recall {
			if (r == nil) != (c.Recall[k] == nil) || r != nil && !near(*r, *c.Recall[k]) {
				t.Errorf("case %d: recall of class %d is %v, want %v", i, k, optional(r), optional(c.Recall[k]))
			}
		}
	}
}

func TestProportionsBesideTruth(t *testing.T) {
	m := newMetrics(names(3), confusion(3, []int{0, 0, 0, 1}, []int{0, 0, 1, 1}))
	m.setProportions([]float64{0.2, 0.3, 0.5}, []float64{0.5, 0.25, 0.25})
	if got := m.Proportions.True; !reflect.DeepEqual(got, []float64{0.75, 0.25, 0}) {
		t.Errorf("true proportions %v", got)
	}
	if !near(*m.ProportionsL1, 0.5) {
		t.Errorf("L1 %v, want 0.5", *m.ProportionsL1)
	}
	var table bytes.Buffer
	if err := m.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rows 4   accuracy 0.7500", "0.2000      0.5000   0.7500", "L1 error of the estimated proportions: 0.5000"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}

func names(n int) []string {
	s := make([]string, n)
	for k := range s {
		s[k] = strconv.Itoa(k)
	}
	return s
}

func confusion(classes int, truth, predicted []int) [][]int {
	c := make([][]int, classes)
	for k := range c {
		c[k] = make([]int, classes)
	}
	for i, k := range truth {
		c[k][predicted[i]]++
	}
	return c
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
