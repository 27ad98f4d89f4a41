package kernel

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"
)

// jobs is the number of threads in use, or 0 for the default.
var jobs atomic.Int64

// SetJobs sets the number of threads that Parallel uses. With n <= 0 it is the
// default, GOMAXPROCS.
func SetJobs(n int) { jobs.Store(int64(max(n, 0))) }

// Jobs returns the number of threads that Parallel uses.
func Jobs() int {
	if n := int(jobs.Load()); n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Parallel splits [0, n) into at most Jobs() contiguous parts of at least
// grain elements and calls f once for each, at the same time, returning when
// all are done. The split depends on n, grain and Jobs() alone, so whatever f
// writes per part comes out the same in every run with the same number of
// jobs. The caller works on the last part itself; the goroutines that wait are
// parked and do not spin. f may call Parallel.
//
// A panic in f reaches the caller when all parts have ended: unchanged if it
// was in the caller's own part, and otherwise as a *Panic.
func Parallel(n, grain int, f func(lo, hi int)) {
	if n <= 0 {
		return
	}
	parts := min(Jobs(), n/max(grain, 1))
	if parts <= 1 {
		f(0, n)
		return
	}
	var others group
	for p := range parts - 1 {
		others.Go(func() {
			defer others.panics.Catch()
			f(p*n/parts, (p+1)*n/parts)
		})
	}
	go displace()
	defer others.join()
	f((parts-1)*n/parts, n)
}

// Each calls f for 0 to n−1, as many at a time as there are threads, and returns the error
// of the first of them that fails, after which no more are begun. f may call Parallel and
// Each.
func Each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	Parallel(n, 1, func(_, _ int) {
		for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
			if errs[i] = f(i); errs[i] != nil {
				failed.Store(true)
			}
		}
	})
	return cmp.Or(errs...)
}

// group is the goroutines of one call of Parallel.
type group struct {
	sync.WaitGroup
	panics Panics
}

// join waits for the goroutines and passes on a panic of theirs.
func (g *group) join() {
	g.Wait()
	g.panics.Rethrow()
}

// displace does nothing. Go's scheduler keeps the goroutine started last for the
// thread that started it, and lets others steal it only after tens of
// microseconds. Started last, this one takes that place, and the parts start at once.
func displace() {}
