package labelshift

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The tables of these tests were made by testdata/oracle/labelshift/generate.py
// with NumPy, SciPy and scikit-learn.
const oracleFolder = "../../../testdata/oracle/labelshift"

func readOracle(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(oracleFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for k, w := range want {
		if !(math.Abs(got[k]-w) <= tolerance*max(1, math.Abs(w))) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}
