package ask

import (
	"fmt"

	"mars.dev/mars/stages"
)

// Until says how wide the intervals of the shares may be at most.
type Until struct {
	Width float64 // from 0 to 1
	Level float64 // of the intervals
}

// budget estimates how many rows that needs, and says so.
func (u *Until) budget(env stages.Env, r *rows, class int, uniform bool) int {
	n := r.doubts.Draws(u.Width, u.Level, class, uniform)
	env.Logger().Info(fmt.Sprintf("%d of %d rows are estimated to be needed for %g %% intervals of a width of %g, if the model's posteriors are right; label more if it is often wrong", n, len(r.sizes), 100*u.Level, u.Width))
	return n
}
