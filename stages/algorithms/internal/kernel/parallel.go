package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// jobs is the number of threads in use, 0 as long as nobody has set it.
var jobs atomic.Int64

// SetJobs sets the number of threads that Parallel uses. n <= 0 gives the
// default back, GOMAXPROCS.
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
// jobs. The caller works on the last part itself; parked goroutines wait, none
// spins. f may call Parallel.
// A panic in f ends the program unless f recovers it.
func Parallel(n, grain int, f func(lo, hi int)) {
	if n <= 0 {
		return
	}
	parts := max(1, min(Jobs(), n/max(grain, 1)))
	var others sync.WaitGroup
	for p := range parts - 1 {
		others.Go(func() { f(p*n/parts, (p+1)*n/parts) })
	}
	if parts > 1 {
		go displace()
	}
	f((parts-1)*n/parts, n)
	others.Wait()
}

// displace does nothing. Go's scheduler reserves the place of the goroutine
// started last for the thread that started it, and lets others steal it only
// after tens of microseconds: this one takes that place, so that the parts
// start at once.
func displace() {}
