// Package responses holds what a pass of a model over a part of the target leaves: sums that
// add up over parts (hedge.Sums), in a file. Each part is kept apart, by its fingerprint, so
// that a merge is that of a union of parts: in any order, and with a part given twice.
package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mars.dev/mars/stages/algorithms/exact"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/internal/state"
)

// Kind is that of the files (package state).
const Kind = "respond"

const (
	headerKey = "mars.respond"
	version   = 1
)

// A Header is what the sums of parts have to have in common.
type Header struct {
	Version int         `json:"version"`
	Model   string      `json:"model"` // SHA-256 of its file
	Classes []string    `json:"classes"`
	Pass    int         `json:"pass"` // 1 for the first
	Point   hedge.Point `json:"point"`
}

// A Part is what was left of one.
type Part struct {
	Name        string
	Fingerprint string // a hash of all else
	Sums        *hedge.Sums
}

// Responses of parts.
type Responses struct {
	Header
	Parts []*Part // ascending by fingerprint
}

// New returns the responses of one part.
func New(h Header, part string, sums *hedge.Sums) *Responses {
	h.Version = version
	p := &Part{Name: part, Sums: sums}
	p.seal()
	return &Responses{h, []*Part{p}}
}

// texts is how sums are written: first and second moments by classifier, the last of which is
// Sums.Posteriors.
type texts struct {
	Rows int64        `json:"rows"`
	EM   [][][]string `json:"em"` // classifier × {first, second}; nil where there are none
}

func (p *Part) text() string {
	t := texts{Rows: p.Sums.Rows()}
	for _, em := range append(slices.Clone(p.Sums.EM), p.Sums.Posteriors) {
		if em == nil {
			t.EM = append(t.EM, nil)
			continue
		}
		t.EM = append(t.EM, [][]string{sumTexts(em.First), sumTexts(em.Second)})
	}
	text, err := json.Marshal(&t)
	if err != nil { // text never fails
		panic(err)
	}
	return string(text)
}

func sumTexts(sums []exact.Sum) []string {
	texts := make([]string, len(sums))
	for i := range sums {
		texts[i] = sums[i].String()
	}
	return texts
}

func (p *Part) seal() {
	sum := sha256.Sum256([]byte(p.Name + "\x00" + p.text()))
	p.Fingerprint = hex.EncodeToString(sum[:16])
}

// parsePart reads what text writes, for a model with the point's classifiers.
func parsePart(name, text string, h *Header) (*Part, error) {
	var t texts
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return nil, err
	}
	if len(t.EM) != len(h.Point)+1 || t.Rows < 1 {
		return nil, fmt.Errorf("part %q has sums of %d rows and %d classifiers", name, t.Rows, len(t.EM)-1)
	}
	all := make([]*labelshift.EMSums, len(t.EM))
	for c, pair := range t.EM {
		switch wanted := c < len(h.Point) && h.Point[c] != nil || c == len(h.Point) && h.Point[0] != nil; {
		case (pair != nil) != wanted:
			return nil, fmt.Errorf("part %q has sums of other classifiers than its point", name)
		case pair == nil:
			continue
		case len(pair) != 2:
			return nil, fmt.Errorf("part %q: the sums are not whole", name)
		}
		em := labelshift.NewEMSums(len(h.Classes))
		em.Rows = t.Rows
		if err := errors.Join(parseSums(em.First, pair[0]), parseSums(em.Second, pair[1])); err != nil {
			return nil, fmt.Errorf("part %q: %w", name, err)
		}
		all[c] = em
	}
	p := &Part{Name: name, Sums: &hedge.Sums{EM: all[:len(h.Point)], Posteriors: all[len(h.Point)]}}
	p.seal()
	return p, nil
}

func parseSums(into []exact.Sum, texts []string) error {
	if len(texts) != len(into) {
		return fmt.Errorf("there are %d sums: want %d", len(texts), len(into))
	}
	for i, text := range texts {
		s, err := exact.Parse(text)
		if err == nil {
			err = s.Check()
		}
		if err != nil {
			return err
		}
		into[i] = *s
	}
	return nil
}

// Total adds up the sums of all parts.
func (r *Responses) Total(m *hedge.Model) *hedge.Sums {
	total := m.NewSums()
	for _, p := range r.Parts {
		total.AddSums(p.Sums)
	}
	return total
}

// Rows is the number of rows of all parts.
func (r *Responses) Rows() (n int64) {
	for _, p := range r.Parts {
		n += p.Sums.Rows()
	}
	return n
}

// Check returns an error unless the sums are of the model, whose file has that hash.
func (r *Responses) Check(m *hedge.Model, sum string) error {
	if r.Model != sum || !slices.Equal(r.Classes, m.Classes) {
		return errors.New("its sums are of another model than --model: give that model, or run mars respond with this one")
	}
	return m.CheckPoint(r.Point)
}

// Merge returns the responses of the union of the parts. names are the inputs', for errors.
func Merge(all []*Responses, names []string) (*Responses, error) {
	if len(all) == 0 {
		return nil, errors.New("there are no sums to merge")
	}
	out := &Responses{Header: all[0].Header}
	parts := map[string]*Part{}
	for i, r := range all {
		switch {
		case r.Model != out.Model || !slices.Equal(r.Classes, out.Classes):
			return nil, fmt.Errorf("%s: its sums are of another model than those of %s: run mars respond with one model", names[i], names[0])
		case r.Pass != out.Pass || !samePoint(r.Point, out.Point):
			return nil, fmt.Errorf("%s: its sums are of another pass than those of %s (%d and %d): run mars respond with the same --after for all parts", names[i], names[0], r.Pass, out.Pass)
		}
		for _, p := range r.Parts {
			parts[p.Fingerprint] = p
		}
	}
	out.Parts = slices.SortedFunc(maps.Values(parts), func(a, b *Part) int { return strings.Compare(a.Fingerprint, b.Fingerprint) })
	return out, nil
}

func samePoint(a, b hedge.Point) bool {
	return slices.EqualFunc(a, b, func(p, q []float64) bool { return slices.Equal(p, q) })
}

// Save writes the responses to a file, whole or not at all.
func (r *Responses) Save(path string) error {
	t := state.NewTable(Kind, len(r.Parts))
	header, err := json.Marshal(&r.Header)
	if err != nil {
		return err
	}
	t.SetMeta(headerKey, string(header))
	var names, sums []string
	for _, p := range r.Parts {
		names, sums = append(names, p.Name), append(sums, p.text())
	}
	t.AddStrings("part", names)
	t.AddStrings("sums", sums)
	_, err = t.Save(path)
	return err
}

// Load reads what Save writes. What it did not write is refused.
func Load(path string) (*Responses, error) {
	t, _, err := state.LoadTable(path, Kind)
	if err != nil {
		return nil, err
	}
	return parse(t, path)
}

// LoadOf is Load of the sums of a model, which has the SHA-256.
func LoadOf(m *hedge.Model, sha256, path string) (*Responses, error) {
	r, err := Load(path)
	if err != nil {
		return nil, err
	}
	if err := r.Check(m, sha256); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func parse(t *state.Table, name string) (*Responses, error) {
	fail := func(err error) (*Responses, error) {
		return nil, fmt.Errorf("%s: %w: it is damaged or was changed: run mars respond again", name, err)
	}
	r := &Responses{}
	if err := json.Unmarshal([]byte(t.Meta(headerKey)), &r.Header); err != nil {
		return fail(fmt.Errorf("metadata %s: %w", headerKey, err))
	}
	if r.Version != version {
		return nil, fmt.Errorf("%s: is of version %d, and this program reads %d: run mars respond of this version", name, r.Version, version)
	}
	if len(r.Point) == 0 || len(r.Classes) == 0 || r.Pass < 1 {
		return fail(errors.New("there is no point at which the sums were taken"))
	}
	for _, p := range r.Point {
		if p != nil && len(p) != len(r.Classes) {
			return fail(fmt.Errorf("a point has %d shares, and there are %d classes", len(p), len(r.Classes)))
		}
	}
	names, sums := t.Strings("part"), t.Strings("sums")
	if err := t.Err(); err != nil {
		return nil, err
	}
	for i, text := range sums {
		p, err := parsePart(names[i], text, &r.Header)
		if err != nil {
			return fail(err)
		}
		if i > 0 && r.Parts[i-1].Fingerprint >= p.Fingerprint {
			return fail(errors.New("its parts are in no order"))
		}
		r.Parts = append(r.Parts, p)
	}
	if len(r.Parts) == 0 {
		return fail(errors.New("it has no parts"))
	}
	return r, nil
}
