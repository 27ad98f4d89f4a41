package boosting

// A split parts a leaf's rows by a column: the bins up to bin go left.
type split struct {
	gain        float64 // 0: there is none
	column, bin int
	missingLeft bool
	left        sums
}

// splitter finds the best split of a leaf.
type splitter struct {
	fixed
	minRows int
	l2      float64 // in units of whole numbers
}

// score is the loss that a leaf of these sums takes away, but for a factor that all leaves share.
func (p *splitter) score(s sums) float64 {
	g := float64(s.gradient)
	return g * g / (float64(s.hessian>>p.rowBits) + p.l2)
}

// step is Newton's for the logit of a leaf of these sums.
func (p *splitter) step(s sums) float64 {
	return -float64(s.gradient) / (float64(s.hessian>>p.rowBits) + p.l2) * (p.hessian / p.gradient)
}

// best returns the best split of a leaf by a column with these bins, of which the last is that of
// missing values. Of splits that gain no more than least it need not be the best.
func (p *splitter) best(column int, bins []sums, total sums, least float64) split {
	values, missing := bins[:len(bins)-1], bins[len(bins)-1]
	best := p.scan(values, sums{}, total, least)
	best.column = column
	if p.rows(missing) == 0 {
		best.missingLeft = 2*p.rows(best.left) > p.rows(total)
		return best
	}
	if left := p.scan(values, missing, total, least); left.gain > best.gain {
		left.column, left.missingLeft = column, true
		return left
	}
	return best
}

// clearly is below 1 by more than what rounding may do to a comparison of gains.
const clearly = 1 - 1e-12

// scan goes through the bins, with some rows on the left already. A split lies in the middle of
// bins without rows. Most splits gain less than one before them, which products tell sooner than the
// divisions of the gain itself.
func (p *splitter) scan(bins []sums, left, total sums, least float64) (best split) {
	parent := p.score(total)
	rows, mask, shift := p.rows(total), int64(1)<<p.rowBits-1, uint(p.rowBits)&63
	least = clearly * (least + parent)
	last := -1 // the bin of the last improvement while the bins after it have no rows
	for b, s := range bins {
		if s.hessian == 0 {
			continue
		}
		if last >= 0 {
			best.bin, last = (last+b-1)/2, -1
		}
		left = left.more(s)
		n := int(left.hessian & mask)
		if n < p.minRows {
			continue
		}
		if rows-n < p.minRows {
			break
		}
		g, h := float64(left.gradient), float64(left.hessian>>shift)+p.l2
		gRight, hRight := float64(total.gradient-left.gradient), float64((total.hessian-left.hessian)>>shift)+p.l2
		g, gRight = g*g, gRight*gRight
		if g*hRight+gRight*h < least*(h*hRight) {
			continue
		}
		if gain := g/h + gRight/hRight - parent; gain > best.gain {
			best, last = split{gain: gain, bin: b, left: left}, b
			least = max(least, clearly*(gain+parent))
		}
	}
	if last >= 0 { // all values are on the left
		best.bin = len(bins) - 1
	}
	return best
}
