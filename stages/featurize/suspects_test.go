package featurize

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize/format"
	"mars.dev/mars/stages/internal/stream"
)

// suspect is a table of columns that are functions of the row's number.
func suspect(rows int, labels bool, columns map[string]func(i int) float32) *format.Table {
	t := &format.Table{Name: "s.csv"}
	for _, name := range []string{"id", "key", "wide", "pixel", "copy", "value"} {
		if columns[name] != nil {
			t.Columns = append(t.Columns, name)
		}
	}
	for i := range rows {
		row := make([]float32, len(t.Columns))
		for j, name := range t.Columns {
			row[j] = columns[name](i)
		}
		stream.AppendRow(&t.Features, row)
		if labels {
			t.Labels = append(t.Labels, string(rune('a'+i%3)))
		}
	}
	return t
}

func logged(to *bytes.Buffer) stages.Env {
	return stages.Env{Log: slog.New(slog.NewTextHandler(to, nil))}
}

// Row numbers and keys are left out with a word; pixels, counts and fractions are not.
func TestIdentities(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	permuted := rng.Perm(300)
	columns := map[string]func(int) float32{
		"id":    func(i int) float32 { return float32(i + 1) },
		"key":   func(i int) float32 { return float32(permuted[i]) },
		"wide":  func(i int) float32 { return float32(permuted[i]*7919 + i) },
		"pixel": func(int) float32 { return float32(rng.IntN(256)) },
		"value": func(int) float32 { return rng.Float32() },
	}
	var log bytes.Buffer
	kept := withoutIdentities(logged(&log), suspect(300, true, columns))
	if !slices.Equal(kept, []string{"pixel", "value"}) || !strings.Contains(log.String(), "id, key, wide") {
		t.Errorf("kept %v, said %s", kept, log.String())
	}
	log.Reset()
	if kept := withoutIdentities(logged(&log), suspect(10, true, columns)); len(kept) != 5 || log.Len() > 0 {
		t.Errorf("of few rows %v are kept: %s", kept, log.String())
	}
	if kept := withoutIdentities(logged(&log), suspect(300, true, map[string]func(int) float32{"id": columns["id"]})); len(kept) != 1 {
		t.Error("no column is left")
	}
}

// A copy of the label, and a column that says which file a row is from, are named.
func TestWarnOfCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	var log bytes.Buffer
	columns := map[string]func(int) float32{
		"copy":  func(i int) float32 { return float32(i % 3) },
		"value": func(int) float32 { return rng.Float32() },
	}
	source := suspect(60, true, columns)
	warnOfCopies(logged(&log), source, suspect(60, false, columns))
	if !strings.Contains(log.String(), `column \"copy\" tells all classes`) || strings.Contains(log.String(), "value") {
		t.Errorf("said %s", log.String())
	}
	log.Reset()
	columns["value"] = func(int) float32 { return 2 + rng.Float32() }
	warnOfCopies(logged(&log), source, suspect(60, false, columns))
	if !strings.Contains(log.String(), `column \"value\" has no value of the target`) {
		t.Errorf("said %s", log.String())
	}
}
