package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/safetensors"
)

var testSteps = []arrowio.Step{{Stage: "make", Version: "1"}, {Stage: "map", Version: "1", Options: map[string]string{"lambda": "2"}}}

// rowsWith is a file of rows that carries steps.
func rowsWith(t *testing.T, steps []arrowio.Step) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.arrow")
	w, err := arrowio.Create(path, arrowio.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	schema := arrowio.Meta{Provenance: steps}.Apply(testSchema)
	if err := arrowio.Copy(t.Context(), w, arrowio.NewBatches("list", schema, batch(1, 2))); err != nil {
		t.Fatal(err)
	}
	return path
}

func modelWith(t *testing.T, provenance string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := safetensors.Write(f, safetensors.File{Metadata: map[string]string{arrowio.ProvenanceKey: provenance}}); err != nil {
		t.Fatal(err)
	}
	return path
}

// Without the cache, streams and models say what led to them.
func TestTraceEmbedded(t *testing.T) {
	cache := openTest(t)
	for _, path := range []string{rowsWith(t, testSteps), modelWith(t, `[{"stage": "make"}, {"stage": "map", "options": {"lambda": "2"}}]`)} {
		h, err := Trace(t.Context(), path, cache, testCatalogue())
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Steps) != 2 || h.Steps[0].Stage != "make" || h.Steps[1].Stage != "map" || h.Steps[1].Options["lambda"] != "2" {
			t.Errorf("%s: the steps are %+v", path, h.Steps)
		}
	}
}

func TestTraceRefuses(t *testing.T) {
	cut := rowsWith(t, testSteps)
	if err := os.Truncate(cut, 100); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(text, []byte("a,b\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		cut: "is cut or damaged", text: "says nothing of its provenance",
		rowsWith(t, nil): "says nothing of its provenance", modelWith(t, "{}"): "metadata mars.provenance",
		rowsWith(t, []arrowio.Step{{Stage: "none"}}): `was made by "none", which this program does not have`,
	} {
		_, err := Trace(t.Context(), path, openTest(t), testCatalogue())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
