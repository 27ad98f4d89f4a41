package diagnostics

import (
	"strings"
	"testing"
)

// What each verdict says, and when.
func TestSentence(t *testing.T) {
	for want, s := range map[string]Signs{
		"Do not believe these shares yet: about half":                             {ExpectedError: 0.3, Accuracy: 1, Against: true},
		"These shares cannot be judged without labels of the target: about half.": {ExpectedError: 0.3, Accuracy: 1},
		"These shares cannot be judged without labels of the target":              {ExpectedError: 0.01, Accuracy: 0.5},
		"Believe these shares with care: about half.":                             {ExpectedError: 0.15, Accuracy: 1, Warned: true},
		"Believe these shares with care, because of the warnings: about half.":    {ExpectedError: 0.05, Accuracy: 1, Warned: true},
		"These shares can be believed: about half.":                               {ExpectedError: 0.2 / 2, Accuracy: 1},
		"These shares can be believed":                                            {Accuracy: 0.7, Against: true},
	} {
		if got := s.Sentence("shares", "about half"); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %s", s, got)
		}
	}
}
