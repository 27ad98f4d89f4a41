package toy

import (
	"cmp"
	"fmt"
	"math"

	"mars.dev/mars/stages/featurize/shift"
)

// filled returns o with its defaults set. It fails if an option is not valid.
func (o Options) filled() (Options, error) {
	o.Noise = cmp.Or(o.Noise, Mid)
	if _, ok := variances[o.Noise]; !ok {
		return o, fmt.Errorf("toy noise %q: there is none: choose low, mid or high", o.Noise)
	}
	if math.IsNaN(o.Shift) || math.IsInf(o.Shift, 0) {
		return o, fmt.Errorf("toy shift %v: it must be a finite number", o.Shift)
	}
	for _, side := range []struct {
		name        string
		rows        *int
		proportions *[]float64
	}{{"source", &o.SourceRows, &o.SourceProportions}, {"target", &o.TargetRows, &o.TargetProportions}} {
		if err := fill(side.rows, side.proportions); err != nil {
			return o, fmt.Errorf("toy %s: %w", side.name, err)
		}
	}
	return o, nil
}

func fill(rows *int, proportions *[]float64) error {
	*rows = cmp.Or(*rows, DefaultRows)
	if *rows < 0 {
		return fmt.Errorf("%d rows: ask for at least 1", *rows)
	}
	if *proportions == nil {
		*proportions = []float64{.33, .33, .34}
	}
	if len(*proportions) != Classes {
		return fmt.Errorf("%d proportions: give one for each of the %d classes", len(*proportions), Classes)
	}
	p, err := shift.CheckProportions(*proportions)
	*proportions = p
	return err
}

// deviations returns the standard deviations for each class and axis.
func (o Options) deviations() [Classes][Dim]float64 {
	d := variances[o.Noise]
	for c := range d {
		for a := range d[c] {
			d[c][a] = math.Sqrt(d[c][a])
		}
		if o.PublishedCodeVariances {
			d[c][1] = 0
		}
	}
	return d
}

func (o Options) targetCentres() [Classes][Dim]float64 {
	centres := sourceCentres
	for c := range centres {
		for a := range centres[c] {
			centres[c][a] += o.Shift * targetStep[c][a]
		}
	}
	return centres
}
