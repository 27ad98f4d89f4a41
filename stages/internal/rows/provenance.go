package rows

import (
	"encoding/json"

	"mars/arrowio"
	"mars/stages"
)

// Provenance is the JSON of the steps that led to what a stage learns from in:
// those of the stream and the stage's own.
func Provenance(env stages.Env, in arrowio.Source) (string, error) {
	meta, err := arrowio.ReadMeta(in.Schema())
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(append(meta.Provenance[:len(meta.Provenance):len(meta.Provenance)], env.Step))
	return string(text), err
}
