package hedge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// A column in another unit lies outside all that the source has of it, however the classes and
// their proportions have changed: nothing is known then of where the classes are in it.
const (
	unitRows    = 1_500 // of each side that are looked at, at most
	fewValues   = 12    // of a column, which have no unit
	unitColumns = 1_000 // of a table that are looked at, at most
	unitFactor  = 20    // by which the middle half of the values is wider or narrower at least
	unitRanges  = 3     // ranges of the source by which its middle half lies outside at least
	// unitDoubt is Evidence.Unknown of a target with such a column: other columns may yet tell.
	unitDoubt = 0.5
)

// compareUnits looks for columns of rows that are not prepared whose scale or offset alone has
// changed, warns of them, and finds how much is unknown for that. It also warns of a target
// whose rows are all equal. names may be nil.
func (f *fit) compareUnits(source, target blas32.General, names []string) {
	if target.Rows > 1 && len(varyingRows(target)) == 0 && len(varyingRows(source)) > 0 {
		f.warn("all target rows are equal, as where what wrote them has failed: nothing can be told from them")
		f.unknown = 1
		return
	}
	if source.Cols > unitColumns {
		return
	}
	s, t := dense.Rows(source, 0, min(source.Rows, unitRows)), dense.Rows(target, 0, min(target.Rows, unitRows))
	var found []string
	for j := range source.Cols {
		if dense.HasAtMost(fewValues, s, j) {
			continue
		}
		if how := f.otherUnit(s, t, j); how != "" {
			found = append(found, f.columnName(names, j)+" "+how)
		}
	}
	if found == nil {
		return
	}
	const shown = 5
	more := ""
	if n := len(found); n > shown {
		found, more = found[:shown], fmt.Sprintf(" and %s more", spelling.Count(n-shown, "column", "columns"))
	}
	f.warn("%s%s: bring both files to one unit, or leave the column out", strings.Join(found, "; "), more)
	f.unknown = unitDoubt
}

// varyingRows are the columns that have more than one value.
func varyingRows(x blas32.General) (columns []int) {
	for j := range x.Cols {
		if !dense.HasAtMost(1, x, j) {
			columns = append(columns, j)
		}
	}
	return columns
}

// columnName names column j in a warning.
func (f *fit) columnName(names []string, j int) string {
	if names == nil {
		return fmt.Sprintf("feature %d", j+1)
	}
	return "column " + names[f.columns[j]]
}

// otherUnit says how a column of the target differs from the source's as by another unit; "" if
// it does not.
func (f *fit) otherUnit(source, target blas32.General, j int) string {
	s, t := column(source, j), column(target, j)
	least, greatest := s[0], s[len(s)-1]
	wide, inside := middleHalf(t)/middleHalf(s), 0
	for _, v := range t {
		if v >= least && v <= greatest {
			inside++
		}
	}
	ranges := math.Max(least-quantile(t, 0.75), quantile(t, 0.25)-greatest) / (greatest - least)
	switch {
	case wide >= unitFactor && 2*inside < len(t):
		return fmt.Sprintf("seems to be in another unit in the target: its values vary about %s times as much as the source's", roundFactor(span(t)/span(s)))
	case wide > 0 && middleHalf(t)*unitFactor <= f.leastWithin(source, j):
		return fmt.Sprintf("seems to be in another unit in the target: its values vary about 1/%s as much as the source's", roundFactor(span(s)/span(t)))
	case ranges >= unitRanges:
		return fmt.Sprintf("lies elsewhere in the target, as with another zero: its median is %.4g, and the source has values from %.4g to %.4g", quantile(t, 0.5), least, greatest)
	}
	return ""
}

// leastWithin is how wide the middle half of the class is in which column j varies least, of
// those of enough rows.
func (f *fit) leastWithin(source blas32.General, j int) float64 {
	least := math.Inf(1)
	for _, k := range f.present() {
		rows := rowsOf(f.labels[:source.Rows], k)
		if len(rows) >= fewRowsOfClass {
			least = min(least, middleHalf(column(dense.Gather(source, rows), j)))
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// column returns the values of column j, rising.
func column(x blas32.General, j int) []float64 {
	values := make([]float64, x.Rows)
	for i := range values {
		values[i] = float64(x.Data[i*x.Stride+j])
	}
	slices.Sort(values)
	return values
}

// quantile is that of rising values.
func quantile(rising []float64, q float64) float64 {
	return rising[int(q*float64(len(rising)-1))]
}

// middleHalf is how far the middle half of rising values reaches.
func middleHalf(rising []float64) float64 { return quantile(rising, 0.75) - quantile(rising, 0.25) }

// span is how far nearly all of rising values reach, which new proportions change little.
func span(rising []float64) float64 { return quantile(rising, 0.98) - quantile(rising, 0.02) }

// roundFactor is a factor in words: a power of ten, which units differ by most, if it is near one.
func roundFactor(factor float64) string {
	power := math.Pow(10, math.Round(math.Log10(factor)))
	if ratio := factor / power; ratio > 0.6 && ratio < 1/0.6 {
		factor = power
	}
	return fmt.Sprintf("%.0f", factor)
}
