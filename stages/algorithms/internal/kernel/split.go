package kernel

// minThreadWork is the minimum number of multiplications for a thread. One thread
// finishes less before a second one has woken up.
const minThreadWork = 2 << 20

// parallel splits the job over threads by the rows of c, or by its columns if
// there are more columns than rows.
func (t *tiling[T]) parallel(p *product[T]) {
	if p.n > p.m {
		t.split(p.n, t.wide, p.m*p.k, func(lo, hi int) product[T] { return p.part(0, p.m, lo, hi) })
		return
	}
	t.split(p.m, panelRows, p.n*p.k, func(lo, hi int) product[T] { return p.part(lo, hi, 0, p.n) })
}

// split runs n rows or columns, of work multiplications each, in parts that are
// multiples of step.
func (t *tiling[T]) split(n, step, work int, part func(lo, hi int) product[T]) {
	grain := (minThreadWork + work*step - 1) / (work * step)
	Parallel((n+step-1)/step, grain, func(lo, hi int) {
		p := part(lo*step, min(hi*step, n))
		t.multiply(&p)
	})
}

// part is the job for the rows [i0, i1) and columns [j0, j1) of c.
func (p *product[T]) part(i0, i1, j0, j1 int) product[T] {
	q := *p
	q.m, q.n = i1-i0, j1-j0
	q.a, q.b, q.c = p.a.from(i0, 0), p.b.from(0, j0), p.c[i0*p.cStep+j0:]
	return q
}
