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

// Arch is the architecture asked for, or, if that is auto, "toy" for rows of the paper's
// toy problem: its network and SGD are for that problem, and not for any two columns. Rows
// that have lost their provenance are any.
func (r *Rows) Arch(asked string) string {
	meta, err := r.Meta()
	if asked == "auto" && err == nil && len(meta.Provenance) > 0 && isToy(meta.Provenance[0]) {
		return "toy"
	}
	return asked
}

// isToy reports whether a step is mars-featurize toy, which alone reads no file.
func isToy(s arrowio.Step) bool {
	return s.Stage == "mars-featurize" && s.Options["source"] == "" && s.Options["target"] == ""
}
