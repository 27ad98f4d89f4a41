package arrowio

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// FuzzMeta reads metadata of any content. What is read can be written again, and is
// then the same.
func FuzzMeta(f *testing.F) {
	for i, text := range []string{`["a","b"]`, `[0.5,0.5]`, `[{"stage":"mars-train","seed":3,"options":{"a":"b"}}]`, `{"weights":{}}`, `null`, `[1e999]`, `{`} {
		f.Add(byte(i), text)
	}
	keys := []string{ClassesKey, SourceProportionsKey, TargetProportionsKey, ProvenanceKey, DiagnosticsKey}
	f.Fuzz(func(t *testing.T, key byte, text string) {
		meta := arrow.NewMetadata([]string{keys[int(key)%len(keys)]}, []string{text})
		m, err := ReadMeta(arrow.NewSchema(nil, &meta))
		if err != nil {
			return
		}
		once := m.Apply(arrow.NewSchema(nil, nil))
		again, err := ReadMeta(once)
		if err != nil {
			t.Fatal(err)
		}
		if !again.Apply(arrow.NewSchema(nil, nil)).Equal(once) {
			t.Error("written again, it differs")
		}
	})
}
