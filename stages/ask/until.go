package ask

import (
	"fmt"
	"math"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/diagnostics"
)

// Until says how wide the intervals of the shares may be at most.
type Until struct {
	Width float64 // from 0 to 1
	Level float64 // of the intervals
}

// budget estimates how many rows that needs, and says so.
func (u *Until) budget(env stages.Env, r *rows, class int, uniform bool, said *diagnostics.Diagnostics) int {
	f := ppi.Forecast{Posteriors: r.all, Sizes: r.sizes, Accuracy: math.NaN(), Level: u.Level, Class: class, Uniform: uniform}
	if said.Hedge != nil {
		f.Accuracy = said.Hedge.ExpectedAccuracy
	}
	n := f.Draws(u.Width)
	env.Logger().Info(fmt.Sprintf("%d of %d rows are estimated to be needed for %g %% intervals of a width of %g, if as many labels are right as are expected to be", n, len(r.sizes), 100*u.Level, u.Width))
	return n
}
