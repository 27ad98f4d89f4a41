package hedge

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/ensemble"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/prepare"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// Method is what the way to label is called, also in the metadata of a model's file.
const Method = "hedge"

// KeyModel is the key of all that the other keys of a model's file do not say, its Evidence among it.
const KeyModel = "mars.hedge"

// header is the value of KeyModel.
type header struct {
	Views    []View       `json:"views"`
	Prior    []float64    `json:"prior"`
	Source   []float64    `json:"source,omitempty"`
	Problem  gate.Problem `json:"signs"`
	Noise    *Noise       `json:"noise,omitempty"`
	Evidence Evidence     `json:"evidence"`
	Warnings []string     `json:"warnings,omitempty"`
	Sampling []float64    `json:"sampling,omitempty"`
	Groups   [][]int      `json:"groups,omitempty"`
	Summed   [][]float64  `json:"group_sampling,omitempty"`
	Rows     int          `json:"rows,omitempty"`
	Doubts   []string     `json:"doubts,omitempty"`
	Seed     uint64       `json:"seed"`
	Left     []Left       `json:"batches,omitempty"`
}

// Save writes the model as a safetensors file. The tensors of classifier i begin with
// "i.", those of its typicality with "i.typical.".
func (m *Model) Save(w io.Writer) error {
	f := safetensors.File{Metadata: map[string]string{adapt.KeyMethod: Method}}
	for key, value := range map[string]any{adapt.KeyClasses: m.Classes, adapt.KeyProportions: m.Proportions,
		KeyModel: header{m.Views, m.prior, m.SourceShares, m.Problem, m.Noise, m.Evidence, m.Warnings, m.Sampling, m.Groups, m.GroupSampling, m.Rows, m.Doubts, m.Seed, m.Left}} {
		if err := f.PutJSON(key, value); err != nil {
			return fmt.Errorf("hedge: %w", err)
		}
	}
	m.Use.Put(f.Metadata)
	if err := m.mapping.Put(&f, ""); err != nil {
		return fmt.Errorf("hedge: %w", err)
	}
	for i, c := range m.classifiers {
		if c != nil {
			if err := c.Put(&f, prefix(i)); err != nil {
				return fmt.Errorf("hedge: %w", err)
			}
		}
		if t := m.typicality[i]; t != nil {
			t.put(&f, prefix(i)+typicalPrefix)
		}
	}
	return safetensors.Write(w, f)
}

func prefix(classifier int) string { return strconv.Itoa(classifier) + "." }

const typicalPrefix = "typical."

func (t *typicality) put(f *safetensors.File, prefix string) {
	f.PutMatrix(prefix+"axes", t.axes.directions)
	f.Put(prefix+"offset", t.axes.offset, len(t.axes.offset))
	for k, c := range t.classes {
		f.PutMatrix(prefix+"rows."+strconv.Itoa(k), c.rows)
		f.Put(prefix+"scores."+strconv.Itoa(k), c.scores, len(c.scores))
	}
}

// Load reads what Save writes. name names the input in errors. All parts are checked
// against each other, and numbers for NaN and infinities.
func Load(r io.Reader, name string) (*Model, error) {
	f, err := safetensors.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m, err := parse(&f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: make the model again", name, err)
	}
	return m, nil
}

func parse(f *safetensors.File) (*Model, error) {
	m := &Model{}
	var h header
	for key, value := range map[string]any{adapt.KeyClasses: &m.Classes, adapt.KeyProportions: &m.Proportions, KeyModel: &h} {
		if err := f.GetJSON(key, value); err != nil {
			return nil, err
		}
	}
	m.Views, m.prior, m.Problem, m.Noise, m.Evidence, m.Warnings, m.Sampling, m.Groups, m.GroupSampling, m.Rows, m.Doubts, m.Seed, m.SourceShares, m.Left = h.Views, h.Prior, h.Problem, h.Noise, h.Evidence, h.Warnings, h.Sampling, h.Groups, h.Summed, h.Rows, h.Doubts, h.Seed, h.Source, h.Left
	if err := m.Use.Get(f.Metadata); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	var err error
	if m.mapping, err = prepare.Get(f, ""); err != nil {
		return nil, err
	}
	return m, m.getClassifiers(f)
}

// check checks the views and the proportions.
func (m *Model) check() error {
	if len(m.Classes) == 0 || len(m.Views) == 0 {
		return errors.New("there are no classes or no views")
	}
	if err := checkShares(adapt.KeyProportions, m.Proportions, len(m.Classes)); err != nil {
		return err
	}
	if err := checkShares(KeyModel+": prior", m.prior, len(m.Classes)); err != nil {
		return err
	}
	if m.SourceShares != nil {
		if err := checkShares(KeyModel+": source", m.SourceShares, len(m.Classes)); err != nil {
			return err
		}
	}
	if m.Sampling != nil && len(m.Sampling) != len(m.Classes) || m.Rows < 0 || slices.ContainsFunc(m.Sampling, func(v float64) bool { return !(v >= 0) }) {
		return fmt.Errorf("metadata %s: sampling %v of %d rows is no variance for each of %d classes", KeyModel, m.Sampling, m.Rows, len(m.Classes))
	}
	if err := m.checkGroups(); err != nil {
		return err
	}
	weights := make([]float64, len(m.Views))
	for i, v := range m.Views {
		weights[i] = v.Weight
		if !slices.Contains(Views, v.Name) {
			return fmt.Errorf("metadata %s: there is no view %q", KeyModel, v.Name)
		}
		if err := checkShares(KeyModel+": view "+v.Name, v.Proportions, len(m.Classes)); err != nil {
			return err
		}
		if v.Carried != nil {
			if err := checkShares(KeyModel+": carried by view "+v.Name, v.Carried, len(m.Classes)); err != nil {
				return err
			}
		}
		if v.FixedPoint != nil {
			if err := checkShares(KeyModel+": fixed point of view "+v.Name, v.FixedPoint, len(m.Classes)); err != nil {
				return err
			}
		}
		if v.Classifier < 0 || v.Classifier >= len(Views) {
			return fmt.Errorf("metadata %s: view %s has classifier %d", KeyModel, v.Name, v.Classifier)
		}
	}
	return checkShares(KeyModel+": weights", weights, len(weights))
}

// checkGroups checks the groups of classes.
func (m *Model) checkGroups() error {
	if len(m.Groups) != len(m.GroupSampling) {
		return fmt.Errorf("metadata %s: there are variances of %d levels of groups: want %d", KeyModel, len(m.GroupSampling), len(m.Groups))
	}
	for l, of := range m.Groups {
		if len(of) != len(m.Classes) || slices.Min(of) < 0 || slices.Max(of) >= len(m.Classes) || len(m.GroupSampling[l]) != slices.Max(of)+1 ||
			slices.ContainsFunc(m.GroupSampling[l], func(v float64) bool { return !(v >= 0) }) {
			return fmt.Errorf("metadata %s: level %d of groups is not one of each of %d classes, with a variance each", KeyModel, l+1, len(m.Classes))
		}
	}
	return nil
}

// sharesTolerance is what shares may differ from 1 by, in all.
const sharesTolerance = 1e-6

func checkShares(what string, p []float64, n int) error {
	if len(p) != n {
		return fmt.Errorf("metadata %s: there are %d numbers: want %d", what, len(p), n)
	}
	for _, v := range p {
		if !(v >= 0) {
			return fmt.Errorf("metadata %s: %v is not a share", what, v)
		}
	}
	if sum := dense.Sum(p); !(sum > 1-sharesTolerance && sum < 1+sharesTolerance) {
		return fmt.Errorf("metadata %s: the sum is %v: want 1", what, sum)
	}
	return nil
}

func (m *Model) getClassifiers(f *safetensors.File) (err error) {
	m.classifiers, m.typicality = make([]*ensemble.Model, len(Views)), make([]*typicality, len(Views))
	for i := range m.classifiers {
		if m.classifierWeight(i) >= minWeight || ensemble.In(f, prefix(i)) {
			if m.classifiers[i], err = ensemble.Get(f, prefix(i)); err != nil {
				return err
			}
			if c := m.classifiers[i]; c.Classes != len(m.Classes) || c.Width() != m.mapping.Width() {
				return fmt.Errorf("classifier %d is of %d classes and %d columns: want %d and %d", i, c.Classes, c.Width(), len(m.Classes), m.mapping.Width())
			}
		}
		if _, there := f.Get(prefix(i) + typicalPrefix + "axes"); there || m.typicalWeight(i) > 0 {
			if m.typicality[i], err = getTypicality(f, prefix(i)+typicalPrefix, m.mapping.Width(), len(m.Classes)); err != nil {
				return err
			}
		}
	}
	return nil
}

// getTypicality reads the typicality of rows of d prepared columns.
func getTypicality(f *safetensors.File, prefix string, d, classes int) (*typicality, error) {
	t := &typicality{axes: &axes{}, classes: make([]classRows, classes)}
	var err error
	if t.axes.directions, err = f.GetMatrix(prefix+"axes", d, safetensors.AnySize); err != nil {
		return nil, err
	}
	q := t.axes.directions.Cols
	if t.axes.offset, err = f.GetVector(prefix+"offset", q); err != nil {
		return nil, err
	}
	for k := range t.classes {
		c := &t.classes[k]
		if c.rows, err = f.GetMatrix(prefix+"rows."+strconv.Itoa(k), safetensors.AnySize, q); err != nil {
			return nil, err
		}
		if c.scores, err = f.GetVector(prefix+"scores."+strconv.Itoa(k), safetensors.AnySize); err != nil {
			return nil, err
		}
	}
	return t, nil
}
