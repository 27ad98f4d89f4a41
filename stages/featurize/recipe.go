package featurize

import (
	"encoding/json"
	"fmt"
	"reflect"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/internal/prepared"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/encode"
)

// A recipe is the stage's state: what was done to the rows of each domain, so
// that it can be done to other rows too.
type recipe struct {
	Classes        []string `json:"classes"`
	Source, Target ImageOptions

	Pictures prepared.Pictures `json:",omitzero"` // of files

	Columns []string        `json:",omitempty"` // columns of tables that are read, in order
	Encoder *encode.Encoder `json:",omitempty"` // makes features of them; nil: they are

	// Centres are taken off the numbers of rows that no Encoder is for; nil: nothing is.
	Centres []float64 `json:",omitempty"`

	Compensate bool `json:",omitempty"` // take the spillover out of FCS files

	Transform *scale.Transform `json:",omitempty"` // of the features that are numbers; nil: none

	source, target scale.Scaling
	doubts         []string        // what speaks against the target's rows: see arrowio.DoubtsKey
	dropped        []encode.Column // columns of which nothing is left
	chosen         bool            // the columns are: by names, a state or a model
	learnt         bool            // all is, by a state or a model
}

func (p *recipe) images(d arrowio.Domain) ImageOptions {
	if d == arrowio.SourceDomain {
		return p.Source
	}
	return p.Target
}

// reads says how numbers become float32: as they are where a transform or the steps of images are
// to come, and without the centres of the rows before, if there are some.
func (p *recipe) reads(f *tables.Options, d arrowio.Domain, source *tables.Table) {
	f.Whole = p.Transform != nil || !reflect.DeepEqual(p.images(d), ImageOptions{})
	if p.learnt || source != nil {
		f.Centres = append([]float64{}, p.Centres...)
	}
}

// centresOf are those of fields that are numbers; nil: all are 0.
func centresOf(fields []tables.Field) []float64 {
	centres, some := make([]float64, len(fields)), false
	for j, f := range fields {
		centres[j], some = f.Centre, some || f.Centre != 0
	}
	if !some {
		return nil
	}
	return centres
}

func (p *recipe) scaling(d arrowio.Domain) *scale.Scaling {
	if d == arrowio.SourceDomain {
		return &p.source
	}
	return &p.target
}

// doubt warns of something that speaks against the target's rows, which the stream says too.
func (p *recipe) doubt(env stages.Env, text string) {
	env.Logger().Warn(text)
	p.doubts = append(p.doubts, text)
}

// text is what the stream says of how rows were prepared (arrowio.PreparationKey); "" if nothing
// is to be said.
func (p *recipe) text() (string, error) {
	note := prepared.Preparation{Columns: p.Columns, Centres: p.Centres, Pictures: p.Pictures, Compensate: p.Compensate}
	if p.Encoder != nil {
		note.Columns, note.Centres = p.Encoder.Names(), p.Encoder.Centres()
		var err error
		if note.Inputs, err = json.Marshal(p.Encoder); err != nil {
			return "", err
		}
	}
	for _, d := range domains {
		side := note.Of(d)
		side.Transform, side.Scaling = p.Transform, *p.scaling(d)
		if images := p.images(d); !reflect.DeepEqual(images, ImageOptions{}) {
			text, err := json.Marshal(images)
			if err != nil {
				return "", err
			}
			side.Images = text
		}
	}
	return note.Text()
}

// parseRecipe reads what text has written, for rows of a model's classes.
func parseRecipe(text string, classes []string) (*recipe, error) {
	note, err := prepared.Parse(text)
	if err != nil {
		return nil, err
	}
	p := &recipe{Classes: classes, Pictures: note.Pictures, Columns: note.Columns, Centres: note.Centres, Compensate: note.Compensate, Transform: note.Target.Transform}
	if len(note.Inputs) > 0 {
		p.Encoder = &encode.Encoder{}
		if err := json.Unmarshal(note.Inputs, p.Encoder); err != nil {
			return nil, fmt.Errorf("%s: inputs: %w", arrowio.PreparationKey, err)
		}
		p.Columns, p.Centres = p.Encoder.Inputs(), nil
	}
	for d, images := range map[arrowio.Domain]*ImageOptions{arrowio.SourceDomain: &p.Source, arrowio.TargetDomain: &p.Target} {
		*p.scaling(d) = note.Of(d).Scaling
		if raw := note.Of(d).Images; len(raw) > 0 {
			if err := json.Unmarshal(raw, images); err != nil {
				return nil, fmt.Errorf("%s: images: %w", arrowio.PreparationKey, err)
			}
			if err := images.check(); err != nil {
				return nil, fmt.Errorf("%s: %w", arrowio.PreparationKey, err)
			}
		}
	}
	return p, nil
}

// Compensated reports whether a preparation takes the spillover out of FCS files.
func Compensated(text string) bool {
	note, err := prepared.Parse(text)
	return err == nil && note.Compensate
}

const recipeKey = "mars.featurize"

// save writes one row for each of the width features, with its moments or quantiles in
// each domain.
func (p *recipe) save(path string, width int) (string, error) {
	t := state.NewTable("featurize", width)
	features := make([]int32, width)
	for i := range features {
		features[i] = int32(i)
	}
	t.AddInts("feature", features)
	options, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	t.SetMeta(recipeKey, string(options))
	for _, d := range domains {
		switch m := p.scaling(d); {
		case m.Standard != nil:
			t.AddFloats(d.String()+"_mean", m.Standard.Mean)
			t.AddFloats(d.String()+"_deviation", m.Standard.Deviation)
		case m.Quantiles != nil:
			t.AddVectors(d.String()+"_quantiles", m.Quantiles.Values)
		}
	}
	return t.Save(path)
}

func loadRecipe(path string) (*recipe, string, error) {
	t, sum, err := state.LoadTable(path, "featurize")
	if err != nil {
		return nil, "", err
	}
	p := &recipe{}
	if err := json.Unmarshal([]byte(t.Meta(recipeKey)), p); err != nil {
		return nil, "", fmt.Errorf("%s: its metadata key %s cannot be read: save it again", path, recipeKey)
	}
	if p.Encoder != nil {
		p.Columns = p.Encoder.Inputs()
	}
	if p.Transform != nil {
		if err := p.Transform.Check(); err != nil {
			return nil, "", fmt.Errorf("%s: %w: save it again", path, err)
		}
	}
	for _, d := range domains {
		m := p.scaling(d)
		loadScaling(t, d.String(), m)
		if err := t.Err(); err != nil {
			return nil, "", err
		}
		if err := m.Check(m.Width()); err != nil {
			return nil, "", fmt.Errorf("%s: %s %w", path, d, err)
		}
		if err := p.images(d).check(); err != nil {
			return nil, "", fmt.Errorf("%s: %w: save it again", path, err)
		}
	}
	return p, sum, nil
}

// loadScaling reads the scaling of a domain, if the state has one.
func loadScaling(t *state.Table, domain string, into *scale.Scaling) {
	switch {
	case t.Has(domain + "_mean"):
		into.Standard = &scale.Standard{Mean: t.Floats(domain + "_mean"), Deviation: t.Floats(domain + "_deviation")}
	case t.Has(domain + "_quantiles"):
		into.Quantiles = &scale.Quantiles{Values: t.Vectors(domain + "_quantiles")}
	}
}
