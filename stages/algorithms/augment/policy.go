package augment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Part is one kind of random change. Strength 1 is what measured well on digits; 0
// changes nothing.
type Part struct {
	Name     string
	Strength float64
}

// A Policy is the parts that are applied to a row, in this order. The empty policy changes
// nothing.
type Policy []Part

// maxStrength bounds strengths: an image that is turned or enlarged further cannot be recognised.
const maxStrength = 4

// presets are policies by name.
var presets = map[string]string{
	"none":    "",
	"digits":  "affine,thickness,texture=1.5,filter",
	"photos":  "flip,crop,contrast,texture=0.5,filter",
	"columns": "noise",
}

// Presets returns the names of the policies that Parse knows, for help texts.
func Presets() []string { return []string{"none", "digits", "photos", "columns"} }

// Names returns the names of the parts, for help texts.
func Names() []string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return names
}

// Parse reads a policy for rows of the given shape (C, H, W of an image, or one number of
// columns): a preset's name, or parts joined by commas, each a name or NAME=STRENGTH, as in
// "affine,thickness=0.5". "auto" is digits for images and columns for plain columns.
func Parse(text string, shape []int) (Policy, error) {
	if text == "auto" {
		text = "columns"
		if len(shape) == 3 {
			text = "digits"
		}
	}
	if list, ok := presets[text]; ok {
		text = list
	}
	var p Policy
	for _, field := range strings.Split(text, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		part, err := parsePart(field, shape)
		if err != nil {
			return nil, fmt.Errorf("augment: %q: %w", field, err)
		}
		p = append(p, part)
	}
	return p, nil
}

func parsePart(field string, shape []int) (Part, error) {
	name, strength, given := strings.Cut(field, "=")
	p := Part{Name: name, Strength: 1}
	i := slices.IndexFunc(parts, func(k kind) bool { return k.name == name })
	if i < 0 {
		return p, fmt.Errorf("there is no such part: choose %s, or parts from %s", strings.Join(Presets(), ", "), strings.Join(Names(), ", "))
	}
	if given {
		var err error
		if p.Strength, err = strconv.ParseFloat(strength, 64); err != nil || !(p.Strength >= 0 && p.Strength <= maxStrength) {
			return p, fmt.Errorf("want a strength from 0 to %d", maxStrength)
		}
	}
	return p, parts[i].fits(shape)
}

// fits returns an error if rows of the shape cannot be changed so.
func (k kind) fits(shape []int) error {
	switch {
	case k.images && len(shape) != 3:
		return fmt.Errorf("it is for images (C, H, W), and rows have the shape %v: choose the policy columns or none", shape)
	case !k.images && len(shape) == 3:
		return fmt.Errorf("it is for plain columns, and rows are images: choose parts such as %s", presets["digits"])
	case k.images && min(shape[1], shape[2]) < minSide:
		return fmt.Errorf("images of %d×%d are too small: they need sides of at least %d", shape[1], shape[2], minSide)
	}
	return nil
}

// minSide is the least side of an image.
const minSide = 4

// String returns the policy as Parse reads it.
func (p Policy) String() string {
	if len(p) == 0 {
		return "none"
	}
	texts := make([]string, len(p))
	for i, part := range p {
		texts[i] = part.Name
		if part.Strength != 1 {
			texts[i] += "=" + strconv.FormatFloat(part.Strength, 'g', -1, 64)
		}
	}
	return strings.Join(texts, ",")
}
