package models

import (
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/adapt"
)

// A model keeps what it has from a stream under the stream's keys, so that
// whoever knows one can read the other.
func TestKeysAgree(t *testing.T) {
	for model, stream := range map[string]string{
		adapt.KeyClasses: arrowio.ClassesKey, adapt.KeyProportions: arrowio.TargetProportionsKey, adapt.KeyProvenance: arrowio.ProvenanceKey,
		adapt.KeyPreparation: arrowio.PreparationKey, adapt.KeyLevels: arrowio.LevelsKey,
	} {
		if model != stream {
			t.Errorf("a model's key %s is %s in a stream", model, stream)
		}
	}
}
