package adapt

import (
	"fmt"

	"mars.dev/mars/stages/algorithms/labelshift"
)

// A Use is what a model of any method says of its use.
type Use struct {
	// Vectors says what rows the model takes: "" for features, or "embedding".
	Vectors string
	// Decision is what Decide makes posteriors ready for; nil leaves them as they are.
	Decision *labelshift.Decision
	// Provenance says how the model was made, as JSON; "" where nobody says.
	Provenance string
	// Preparation says how the model's rows were prepared, in the words of who prepared them;
	// "" where nobody says.
	Preparation string
	// Levels are coarser classes of which the model's are parts, in the words of who names them;
	// "" where nobody does.
	Levels string
}

// Put adds what is known to the metadata of the model's file.
func (u *Use) Put(metadata map[string]string) {
	for key, value := range map[string]string{KeyVectors: u.Vectors, KeyProvenance: u.Provenance, KeyPreparation: u.Preparation, KeyLevels: u.Levels} {
		if value != "" {
			metadata[key] = value
		}
	}
	if u.Decision != nil {
		metadata[KeyDecision] = u.Decision.String()
	}
}

// Get reads what Put adds.
func (u *Use) Get(metadata map[string]string) error {
	u.Vectors, u.Provenance, u.Preparation, u.Levels = metadata[KeyVectors], metadata[KeyProvenance], metadata[KeyPreparation], metadata[KeyLevels]
	if text, there := metadata[KeyDecision]; there {
		d, err := labelshift.ParseDecision(text)
		if err != nil {
			return fmt.Errorf("metadata %s: %w", KeyDecision, err)
		}
		u.Decision = &d
	}
	return nil
}
