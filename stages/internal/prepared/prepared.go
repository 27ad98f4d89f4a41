// Package prepared says what was done to the rows of each domain before any stage
// learnt from them: which columns are features, in which order, the steps that brought
// images to a shape, and standardisation. featurize makes it and writes it to the
// stream; models keep it, so that other rows are prepared alike, and rows that were
// prepared otherwise are refused.
package prepared

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/scale"
)

// Preparation is that of both domains. The JSON is the value of arrowio.PreparationKey.
type Preparation struct {
	Version int      `json:"version"`
	Columns []string `json:"columns,omitempty"` // the features' names, of tables
	// Centres were taken off the features' numbers before they became float32; nil: nothing was.
	Centres []float64 `json:"centres,omitempty"`
	// Inputs says how the features are made of the columns of a table (encode.Encoder); nil:
	// they are its columns.
	Inputs json.RawMessage `json:"inputs,omitempty"`
	// Pictures says how images were found in files, which says nothing of what became of them.
	Pictures Pictures `json:"pictures,omitzero"`

	// Compensate says that FCS files were rid of spillover.
	Compensate bool `json:"compensate,omitempty"`

	Source Side `json:"source"`
	Target Side `json:"target"`
}

// Pictures are images of files.
type Pictures struct {
	Column string `json:"column,omitempty"` // of a table, with their paths; "" for folders
	Colour bool   `json:"colour,omitempty"` // they have three channels, though all be grey
}

// version is that of the JSON.
const version = 1

// Side is the preparation of a domain's rows.
type Side struct {
	Images    json.RawMessage  `json:"images,omitempty"`    // the steps of images
	Transform *scale.Transform `json:"transform,omitempty"` // of numbers; nil: none
	scale.Scaling
}

// Of returns the side of a domain.
func (p *Preparation) Of(d arrowio.Domain) *Side {
	if d == arrowio.SourceDomain {
		return &p.Source
	}
	return &p.Target
}

// Text is the JSON.
func (p *Preparation) Text() (string, error) {
	p.Version = version
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("prepared: %w", err)
	}
	return string(text), nil
}

// Parse reads what Text writes.
func Parse(text string) (*Preparation, error) {
	p := &Preparation{}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, fmt.Errorf("%s: %w", arrowio.PreparationKey, err)
	}
	if p.Version != version {
		return nil, fmt.Errorf("%s: version %d is not known: use the program that made it", arrowio.PreparationKey, p.Version)
	}
	for _, s := range []Side{p.Source, p.Target} {
		if err := errors.Join(s.Check(s.Width()), s.transform().Check()); err != nil {
			return nil, fmt.Errorf("%s: %w", arrowio.PreparationKey, err)
		}
	}
	return p, nil
}

func (s *Side) transform() (t scale.Transform) {
	if s.Transform != nil {
		t = *s.Transform
	}
	return t
}

// OfColumn is the text in the metadata of a column, "" if there is none.
func OfColumn(s *arrow.Schema, column string) string {
	for _, i := range s.FieldIndices(column) {
		if text, there := s.Field(i).Metadata.GetValue(arrowio.PreparationKey); there {
			return text
		}
	}
	return ""
}

// CheckAlike reports how rows were prepared otherwise than the model's. A text that is ""
// says nothing.
func CheckAlike(model, rows string) error {
	if model == rows || model == "" || rows == "" {
		return nil
	}
	m, err := Parse(model)
	if err != nil {
		return fmt.Errorf("the model: %w", err)
	}
	r, err := Parse(rows)
	if err != nil {
		return err
	}
	if err := sameColumns(m.Columns, r.Columns); err != nil {
		return err
	}
	for i := range max(len(m.Centres), len(r.Centres)) {
		if was, is := at(m.Centres, i), at(r.Centres, i); was != is {
			return fmt.Errorf("feature %s of the rows is how far it is from %v, and of the model from %v", nameOf(i, r.Columns), is, was)
		}
	}
	if m.Compensate != r.Compensate {
		return fmt.Errorf("the rows were %s, and the model's were %s", compensated(r.Compensate), compensated(m.Compensate))
	}
	if string(m.Target.Images) != string(r.Target.Images) {
		return fmt.Errorf("the images were prepared by %s, and the model's by %s", orNothing(r.Target.Images), orNothing(m.Target.Images))
	}
	if was, is := m.Target.transform(), r.Target.transform(); was != is {
		return fmt.Errorf("the rows were transformed by %s, and the model's by %s", is, was)
	}
	return sameScaling(m.Target.Scaling, r.Target.Scaling, r.Columns)
}

// at is value i, 0 where there is none.
func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return 0
}

// nameOf is the name of feature i, or its number.
func nameOf(i int, columns []string) string {
	if i < len(columns) {
		return strconv.Quote(columns[i])
	}
	return strconv.Itoa(i + 1)
}

func compensated(yes bool) string {
	if yes {
		return "compensated"
	}
	return "not"
}

func orNothing(text json.RawMessage) string {
	if len(text) == 0 {
		return "nothing"
	}
	return string(text)
}

// sameColumns reports the first column that differs.
func sameColumns(model, rows []string) error {
	for i := range max(len(model), len(rows)) {
		switch {
		case i >= len(rows):
			return fmt.Errorf("feature %d of the model is the column %q, which the rows do not have", i+1, model[i])
		case i >= len(model):
			return fmt.Errorf("feature %d of the rows is the column %q, which the model does not have", i+1, rows[i])
		case model[i] != rows[i]:
			return fmt.Errorf("feature %d of the model is the column %q, and of the rows %q", i+1, model[i], rows[i])
		}
	}
	return nil
}

// sameScaling reports the first column that was standardised otherwise.
func sameScaling(model, rows scale.Scaling, columns []string) error {
	switch {
	case model.None() && rows.None():
		return nil
	case model.None():
		return errors.New("the rows were standardised, and the model's were not")
	case rows.None():
		return errors.New("the rows were not standardised, and the model's were")
	case model.Quantiles == nil && rows.Quantiles != nil:
		return errors.New("the rows were standardised by their quantiles, and the model's were not")
	case model.Quantiles != nil && rows.Quantiles == nil:
		return errors.New("the rows were not standardised by quantiles, and the model's were")
	}
	for i := range min(model.Width(), rows.Width()) {
		name := nameOf(i, columns)
		if model.Quantiles != nil {
			if !slices.Equal(model.Quantiles.Values[i], rows.Quantiles.Values[i]) {
				return fmt.Errorf("feature %s was standardised by other quantiles than the model's", name)
			}
			continue
		}
		m, r := model.Standard, rows.Standard
		if m.Mean[i] != r.Mean[i] || m.Deviation[i] != r.Deviation[i] {
			return fmt.Errorf("feature %s was standardised by centre %.6g and width %.6g, and the model's by %.6g and %.6g", name, r.Mean[i], r.Deviation[i], m.Mean[i], m.Deviation[i])
		}
	}
	return nil
}
