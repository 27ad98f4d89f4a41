// Package survey counts how sure labels are and, where the truth is known, how often they are
// right, and keeps those that are most in doubt.
package survey

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	bins = 10
	most = 20 // rows in doubt that are kept
)

// A Survey of labels. The zero value is ready. It takes little memory however many there are.
type Survey struct {
	Bins     []Bin `json:"bins"`     // of confidence, from 0 to 1
	Doubtful []Row `json:"doubtful"` // those of the lowest confidence, the lowest first
	// Error is the expected calibration error (Guo et al. 2017): by how much confidence and
	// accuracy differ in a bin, as a mean over rows. nil: the truth is not known.
	Error *float64 `json:"error,omitempty"`

	rows int
}

// A Bin is the labels whose confidence is from From to To.
type Bin struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	Rows       int      `json:"rows"`
	Confidence *float64 `json:"confidence"`         // mean; null without rows
	Accuracy   *float64 `json:"accuracy,omitempty"` // share that is right, where the truth is known

	sum          float64
	known, right int
}

// A Row is a label in doubt.
type Row struct {
	ID         string    `json:"id"`
	Label      string    `json:"label"`
	Truth      string    `json:"truth,omitempty"` // "" if it is not known
	Confidence float64   `json:"confidence"`
	Next       string    `json:"next,omitempty"` // the class that is next in likelihood, and how likely; "" if it is not known
	Values     []float32 `json:"-"`              // of the row's columns; nil if they are not known
}

// Add adds a label with its confidence, 0 to 1. What else is known of its row is asked if it is in doubt.
func (s *Survey) Add(confidence float64, label, truth string, about func() Row) error {
	if !(confidence >= 0 && confidence <= 1+1e-6) {
		return fmt.Errorf("a confidence of %v: want 0 to 1", confidence)
	}
	if s.Bins == nil {
		for k := range bins {
			s.Bins = append(s.Bins, Bin{From: float64(k) / bins, To: float64(k+1) / bins})
		}
	}
	s.rows++
	b := &s.Bins[min(int(confidence*bins), bins-1)]
	b.Rows++
	b.sum += min(confidence, 1)
	if truth != "" {
		b.known++
		if truth == label {
			b.right++
		}
	}
	if n := len(s.Doubtful); n == most && confidence >= s.Doubtful[n-1].Confidence {
		return nil
	}
	at, _ := slices.BinarySearchFunc(s.Doubtful, confidence, func(r Row, c float64) int {
		if r.Confidence == c { // the first comes first
			return -1
		}
		return cmp.Compare(r.Confidence, c)
	})
	row := about()
	row.ID, row.Label, row.Truth, row.Confidence = strings.Clone(row.ID), strings.Clone(label), strings.Clone(truth), confidence
	s.Doubtful = slices.Insert(s.Doubtful, at, row)
	s.Doubtful = s.Doubtful[:min(len(s.Doubtful), most)]
	return nil
}

// Finish computes the means, and returns the survey; nil if there are no labels.
func (s *Survey) Finish() *Survey {
	if s.rows == 0 {
		return nil
	}
	gap, known := 0.0, 0
	for k := range s.Bins {
		b := &s.Bins[k]
		if b.Rows == 0 {
			continue
		}
		mean := b.sum / float64(b.Rows)
		b.Confidence = &mean
		if b.known > 0 {
			right := float64(b.right) / float64(b.known)
			b.Accuracy = &right
			gap += float64(b.known) * max(mean-right, right-mean)
			known += b.known
		}
	}
	if known > 0 {
		gap /= float64(known)
		s.Error = &gap
	}
	return s
}
