package responses

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/state"
)

// A file that cannot be written or read is an error, and says which it is.
func TestErrorsOfFiles(t *testing.T) {
	one := part(t, 1, "m", "a", 1)
	missing := filepath.Join(t.TempDir(), "missing", "r.arrow")
	if err := one.Save(missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("into a folder that is not there: %v", err)
	}
	one.Point[0][0] = math.NaN()
	path := filepath.Join(t.TempDir(), "r.arrow")
	if err := one.Save(path); err == nil {
		t.Error("a point that is no number is saved")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file of it")
	}
	model := &hedge.Model{Classes: []string{"a", "b"}}
	if _, err := LoadOf(model, "m", missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
	if _, err := Load(missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
	if err := part(t, 1, "m", "a", 1).Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOf(model, "n", path); err == nil || !strings.HasPrefix(err.Error(), path+": its sums are of another model than --model: ") {
		t.Errorf("got %v", err)
	}
	table := state.NewTable(Kind, 1)
	table.SetMeta(headerKey, `{"version":1,"classes":["a"],"pass":1,"point":[[1]]}`)
	table.AddStrings("part", []string{"a"})
	if _, err := table.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || err.Error() != path+`: column "sums" is missing: save it again` {
		t.Errorf("got %v", err)
	}
}
