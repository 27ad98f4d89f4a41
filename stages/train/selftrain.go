package train

import (
	"context"
	"fmt"

	"mars/stages/algorithms/selftrain"
	"mars/stages/internal/diagnostics"
	"mars/stages/internal/stream"
)

// fitSelfTrained is the job of self-training.
func fitSelfTrained(ctx context.Context, r *stream.Rows, o Options) (*job, error) {
	p, _, err := gather(ctx, r, o, true)
	if err != nil {
		return nil, err
	}
	c, err := selftrain.Config(o.Arch, p.Shape)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	c.Seed, c.Jobs = r.Seed, r.Jobs
	return &job{problem: *p, config: c, train: selftrain.Train, diagnostics: &diagnostics.Diagnostics{Estimator: selftrain.Method}}, nil
}
