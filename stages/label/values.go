package label

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/prepared"
)

const (
	mostShown   = 8       // columns whose values are shown
	mostSampled = 1000    // rows of a domain that are kept
	mostKept    = 1 << 20 // values of a domain that are kept: of wide tables fewer rows are
	fewSampled  = 50      // rows of a domain that are kept however wide they are
)

// Values are those of the columns of the rows that have passed: of target rows in the batch, and of a
// sample of each domain. A nil Values has none.
type Values struct {
	Names    []string // of the columns
	Prepared bool     // they are transformed or scaled, and not as the file has them

	columns arrowio.Columns
	centres []float64 // were taken off the values; nil: nothing was
	batch   arrowio.Vectors
	targets []int // rows of the batch
	samples map[arrowio.Domain]*sample
}

// A sample is rows of a domain, each as likely as any other to be among them.
type sample struct {
	rows    [][]float32
	classes []int32 // of the rows; -1 where it is not known
	seen    int
	rng     *rand.Rand
}

// Look keeps what a page shows of rows and of what they are expected to be. Images have no values to show.
func (t *Tally) Look() error {
	t.looked = true
	c, schema := t.in.Columns, t.in.Schema()
	if !t.in.Has(c.Features) || t.in.Images() {
		return nil
	}
	v := &Values{columns: c, samples: map[arrowio.Domain]*sample{}}
	if text := prepared.OfColumn(schema, c.Features); text != "" {
		p, err := prepared.Parse(text)
		if err != nil {
			return t.in.Fail(c.Features, err, "featurize the rows again")
		}
		v.Names, v.centres = p.Columns, p.Centres
		v.Prepared = p.Target.Transform != nil || p.Target.Width() > 0
	}
	for _, d := range []arrowio.Domain{arrowio.SourceDomain, arrowio.TargetDomain} {
		v.samples[d] = &sample{rng: rand.New(rand.NewPCG(0, uint64(d)))}
	}
	t.Labels.values = v
	return nil
}

// add looks at the rows of a batch, which is valid until the next.
func (v *Values) add(rec arrow.Record, domains []arrowio.Domain) (err error) {
	if v == nil {
		return nil
	}
	if v.batch, err = arrowio.VectorColumnWithGaps(rec, v.columns.Features); err != nil {
		return err
	}
	v.Names = v.Names[:min(len(v.Names), v.batch.Width)]
	for j := len(v.Names); j < v.batch.Width; j++ {
		v.Names = append(v.Names, fmt.Sprintf("feature %d", j+1))
	}
	classes := make([]int32, len(domains))
	for i := range classes {
		classes[i] = -1
	}
	for _, j := range rec.Schema().FieldIndices(v.columns.Label) {
		if labels, ok := rec.Column(j).(*array.Int32); ok {
			for i := range classes {
				if labels.IsValid(i) {
					classes[i] = labels.Value(i)
				}
			}
		}
	}
	v.targets = v.targets[:0]
	for i, d := range domains {
		if d == arrowio.TargetDomain {
			v.targets = append(v.targets, i)
		}
		if s := v.samples[d]; s != nil && !v.batch.Missing(i) {
			s.add(v.batch.Row(i), classes[i])
		}
	}
	return nil
}

// add takes a row into the sample, or not, by chance.
func (s *sample) add(row []float32, class int32) {
	s.seen++
	room := min(mostSampled, max(fewSampled, mostKept/max(1, len(row))))
	if len(s.rows) < room {
		s.rows, s.classes = append(s.rows, slices.Clone(row)), append(s.classes, class)
		return
	}
	if k := s.rng.IntN(s.seen); k < room {
		copy(s.rows[k], row)
		s.classes[k] = class
	}
}

// width is how many columns there are.
func (v *Values) width() int {
	if v == nil {
		return 0
	}
	return v.batch.Width
}

// row is a copy of the values of the i-th target row of the batch.
func (v *Values) row(i int) []float32 { return slices.Clone(v.peek(i)) }

// peek is the values of the i-th target row of the batch, which are valid until the next; nil where none are known.
func (v *Values) peek(i int) []float32 {
	if v == nil || v.batch.Missing(v.targets[i]) {
		return nil
	}
	return v.batch.Row(v.targets[i])
}

// Values are those of the rows that have passed; nil if none are kept.
func (t *Tally) Values() *Values { return t.Labels.values }

// Of is a value of a column as its file has it, but for what Prepared says.
func (v *Values) Of(row []float32, column int) float64 {
	x := float64(row[column])
	if column < len(v.centres) {
		x += v.centres[column]
	}
	return x
}

// Telling are at most eight columns, in their order: of more those in which the source's classes differ
// most, as the variance between classes over that within them says.
func (v *Values) Telling() []int {
	all := make([]int, len(v.Names))
	apart := make([]float64, len(all))
	for j := range all {
		all[j] = j
	}
	if len(all) <= mostShown {
		return all
	}
	for j := range all {
		apart[j] = v.samples[arrowio.SourceDomain].apart(j)
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(apart[b], apart[a]) })
	all = all[:mostShown]
	slices.Sort(all)
	return all
}

// apart says how far the classes differ in a column: 0 is not at all.
func (s *sample) apart(column int) float64 {
	rows, sums, total := map[int32]float64{}, map[int32]float64{}, 0.0
	for i, class := range s.classes {
		if class >= 0 {
			rows[class]++
			sums[class] += float64(s.rows[i][column])
			total++
		}
	}
	mean := 0.0
	for _, class := range slices.Sorted(maps.Keys(sums)) {
		mean += sums[class] / total
	}
	between, within := 0.0, 0.0
	for i, class := range s.classes {
		if class >= 0 {
			of := sums[class] / rows[class]
			between += (of - mean) * (of - mean)
			within += (float64(s.rows[i][column]) - of) * (float64(s.rows[i][column]) - of)
		}
	}
	if between == 0 {
		return 0
	}
	return between / within
}
