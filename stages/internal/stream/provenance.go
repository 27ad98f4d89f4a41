package stream

import (
	"encoding/json"

	"mars.dev/mars/arrowio"
)

// Provenance is the JSON of the steps that led to what a stage learns from these
// rows: those of the stream and the stage's own.
func (r *Rows) Provenance() (string, error) {
	meta, err := r.Meta()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(arrowio.WithStep(meta.Provenance, r.Step))
	return string(text), err
}
