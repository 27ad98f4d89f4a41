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

// scan goes through the bins, with some rows on the left already. Most splits gain less than one
// before them, which products tell sooner than the divisions of the gain itself. A bin without rows
// is as the one before it: to compare it is faster than to ask whether it has some.
func (p *splitter) scan(bins []sums, left, total sums, least float64) (best split) {
	parent := p.score(total)
	rows, mask, shift := p.rows(total), int64(1)<<p.rowBits-1, uint(p.rowBits)&63
	least = clearly * (least + parent)
	for b := nextWithRows(bins, 0); b < len(bins); b++ {
		left = left.more(bins[b])
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
			best = split{gain: gain, bin: b, left: left}
			least = max(least, clearly*(gain+parent))
		}
	}
	if best.gain > 0 {
		best.bin = middle(bins, best.bin)
	}
	return best
}

// middle is where a split after a bin is: in the middle of the bins without rows, or after all bins
// if no other has rows.
func middle(bins []sums, b int) int {
	next := nextWithRows(bins, b+1)
	if next == len(bins) {
		return len(bins) - 1
	}
	return (b + next - 1) / 2
}

// nextWithRows is the first bin with rows from b on, or the number of bins.
func nextWithRows(bins []sums, b int) int {
	for b < len(bins) && bins[b].hessian == 0 {
		b++
	}
	return b
}
