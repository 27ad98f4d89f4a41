package train

import (
	"context"
	"fmt"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
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
	j := &job{problem: *p, config: c, diagnostics: &diagnostics.Diagnostics{Estimator: selftrain.Method}}
	j.train = func(ctx context.Context, p adapt.Problem, c adapt.Config) (*adapt.Model, error) {
		m, report, err := selftrain.Train(ctx, p, c)
		if err == nil {
			j.diagnostics.SelfTraining = diagnostics.NewSelfTraining(report)
			diagnostics.LogPart(r.Env, j.diagnostics.SelfTraining)
		}
		return m, err
	}
	return j, nil
}
