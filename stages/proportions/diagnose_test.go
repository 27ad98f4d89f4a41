package proportions

import (
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/internal/diagnostics"
)

// What the diagnostics doubt of the estimate, its verdict and its warnings say.
func TestVerdictHeedsDiagnostics(t *testing.T) {
	r := &Report{Warnings: []string{}}
	d := &Diagnostics{Weights: &diagnostics.Weights{}, Translation: &diagnostics.Translation{}}
	r.judge(d)
	if !strings.HasPrefix(r.Verdict, "These proportions can be believed") || len(r.Warnings) != 0 {
		t.Errorf("verdict %q, warnings %q", r.Verdict, r.Warnings)
	}
	d.Translation.Words = []string{"the source has not arrived"}
	r.judge(d)
	if !strings.HasPrefix(r.Verdict, "Believe these proportions with care") || len(r.Warnings) != 1 {
		t.Errorf("verdict %q, warnings %q", r.Verdict, r.Warnings)
	}
}

// Doubts of the embedding are doubts of all that follows.
func TestVerdictHeedsSelfTraining(t *testing.T) {
	said := diagnostics.NewSelfTraining(&selftrain.Report{FirstKept: 0.9})
	r := &Report{Warnings: []string{}}
	r.judge(&Diagnostics{})
	r.heed(nil)
	r.heed(said)
	if !strings.HasPrefix(r.Verdict, "These proportions can be believed") || r.Diagnostics.SelfTraining != said {
		t.Errorf("verdict %q", r.Verdict)
	}
	r.heed(diagnostics.NewSelfTraining(&selftrain.Report{FirstKept: 0.1}))
	if !strings.HasPrefix(r.Verdict, "Do not believe") || len(r.Warnings) != 1 {
		t.Errorf("verdict %q, warnings %q", r.Verdict, r.Warnings)
	}
}
