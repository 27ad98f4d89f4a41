package arrowio

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// Keys of a stream's metadata that belong to this project; all others are the
// user's and are kept. Meta holds what they say, which is JSON; ShapeKey is in the
// metadata of a field instead.
const (
	ClassesKey           = "mars.classes"
	SourceProportionsKey = "mars.proportions.source"
	TargetProportionsKey = "mars.proportions.target"
	LevelsKey            = "mars.levels"
	ProvenanceKey        = "mars.provenance"
	DiagnosticsKey       = "mars.diagnostics"
	TotalsKey            = "mars.totals"      // of rows that are a sample: what all rows are
	PreparationKey       = "mars.preparation" // of a column of features: how they were prepared
	DoubtsKey            = "mars.doubts"      // of a column of features: what speaks against the target's rows, a JSON array of text
	ShapeKey             = "mars.shape"       // of a column of images: C, H and W, as in "1x28x28"
)

// Meta is what travels in the schema's metadata. It is a hint: tools in between
// may drop it, so everything that needs it has a fallback.
type Meta struct {
	Classes           []string  // class names by index; nil if unknown
	SourceProportions []float64 // p_S, length C; nil if unknown
	TargetProportions []float64 // p_T, length C; nil if unknown
	// Levels are coarser classes of which Classes are parts, a JSON array; nil if there are none.
	Levels     json.RawMessage
	Provenance []Step // one for each stage, in the order they ran
	// Diagnostics is a JSON object of the stage that estimated p_T: what speaks
	// for the estimate and what against it; nil if unknown.
	Diagnostics json.RawMessage
}

// Step records one stage that touched the stream.
type Step struct {
	Command []string          `json:"command,omitempty"` // arguments as typed
	Stage   string            `json:"stage,omitempty"`
	Version string            `json:"version,omitempty"`
	Seed    uint64            `json:"seed,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	State   map[string]string `json:"state,omitempty"` // SHA-256 of files, by name
	// Selection is what the step chose some of its settings from; nil if all were given.
	Selection *Selection `json:"selection,omitempty"`
}

// A Selection is a choice among settings by a score.
type Selection struct {
	Score      string         `json:"score"`  // by which was chosen
	Chosen     map[string]any `json:"chosen"` // the value of each flag: a number or text
	Candidates []Candidate    `json:"candidates"`
}

// A Candidate is what a choice was made among.
type Candidate struct {
	Settings map[string]any     `json:"settings"`
	Scores   map[string]float64 `json:"scores,omitempty"` // by name
	Failed   string             `json:"failed,omitempty"` // why it was left out; "" if it was not
}

// Choice is what was chosen: "epochs=30 lambda=0.1".
func (s *Selection) Choice() string { return settingsText(s.Chosen) }

// String is what the candidate was: "epochs=30 lambda=0.1".
func (c Candidate) String() string { return settingsText(c.Settings) }

func settingsText(settings map[string]any) string {
	var texts []string
	for _, flag := range slices.Sorted(maps.Keys(settings)) {
		texts = append(texts, fmt.Sprintf("%s=%v", flag, settings[flag]))
	}
	return strings.Join(texts, " ")
}

// WithStep is the steps and one more after them. A step without a stage is none: the
// stage runs inside another, which has a step itself.
func WithStep(steps []Step, s Step) []Step {
	if s.Stage == "" {
		return steps
	}
	return append(steps[:len(steps):len(steps)], s)
}

// ReadMeta reads the project's keys of a schema. The field of a key that is absent
// is nil. A value that is not the JSON it should be is an error naming the key.
func ReadMeta(schema *arrow.Schema) (Meta, error) {
	var m Meta
	meta := schema.Metadata()
	for key, field := range m.fields() {
		i := meta.FindKey(key)
		if i < 0 {
			continue
		}
		if err := json.Unmarshal([]byte(meta.Values()[i]), field); err != nil {
			return Meta{}, fmt.Errorf("schema metadata %s: %w: drop or repair the key", key, err)
		}
	}
	return m, nil
}

// Apply returns schema with m in its metadata, beside the user's own keys. Keys
// of fields that are nil are removed.
func (m Meta) Apply(schema *arrow.Schema) *arrow.Schema {
	old := schema.Metadata()
	fields := m.fields()
	var keys, values []string
	for i, key := range old.Keys() {
		if _, ours := fields[key]; !ours {
			keys = append(keys, key)
			values = append(values, old.Values()[i])
		}
	}
	for _, key := range []string{ClassesKey, LevelsKey, SourceProportionsKey, TargetProportionsKey, DiagnosticsKey, ProvenanceKey} {
		text, err := json.Marshal(fields[key])
		if err != nil { // only a proportion that is NaN or infinite
			panic("arrowio: metadata " + key + ": " + err.Error())
		}
		if string(text) != "null" {
			keys = append(keys, key)
			values = append(values, string(text))
		}
	}
	meta := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(schema.Fields(), &meta)
}

func (m *Meta) fields() map[string]any {
	return map[string]any{
		ClassesKey:           &m.Classes,
		LevelsKey:            &m.Levels,
		SourceProportionsKey: &m.SourceProportions,
		TargetProportionsKey: &m.TargetProportions,
		ProvenanceKey:        &m.Provenance,
		DiagnosticsKey:       &m.Diagnostics,
	}
}
