package cli

import (
	"context"

	"github.com/spf13/cobra"

	"mars/arrowio"
	"mars/pipeline"
	"mars/stages"
	"mars/stages/embed"
	"mars/stages/featurize"
)

// A question is asked of two files, those of --source and --target in any format
// that mars-featurize reads, or of a stream of it. The stages that answer it run
// side by side in this process.
type question struct {
	files  *featurizeFlags
	common *common
	embed  bool          // images get an embedding first
	stages []stages.Func // that the rows go through
	answer func(context.Context, stages.Env, arrowio.Stream) error
}

func (q *question) ask(cmd *cobra.Command, args []string) error {
	env, done := q.common.env(cmd)
	defer done()
	name, in, all, err := q.input(env, args)
	if err != nil {
		return err
	}
	if in != nil {
		defer in.Close()
		name = in.Name()
	}
	var filters []pipeline.Filter
	for _, stage := range append(all, q.stages...) {
		filters = append(filters, func(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error { return stage(ctx, env, in, out) })
	}
	var first arrowio.Stream
	if in != nil {
		first = in
	}
	return pipeline.Join(cmd.Context(), name, first, filters, func(ctx context.Context, in arrowio.Stream) error {
		return q.answer(ctx, env, in)
	})
}

// input gives the stream that the rows come from, or nil, and the stages that make
// them ready.
func (q *question) input(env stages.Env, args []string) (name string, in *arrowio.Reader, ready []stages.Func, err error) {
	source, target := q.files.source.path, q.files.target.path
	if source == "" && target == "" {
		if in, err = arrowio.Open(append(args, "")[0], arrowio.ReadOptions{Memory: int64(q.common.limit)}); err != nil {
			return "", nil, nil, err
		}
		if q.embed && embed.Wanted(env, in) { // else the stages read the file itself, and need not hold it
			ready = append(ready, embed.Images)
		}
		return in.Name(), in, ready, nil
	}
	if len(args) > 0 || source == "" || target == "" {
		return "", nil, nil, usagef("give --source FILE and --target FILE, or one stream of mars-featurize")
	}
	options, err := q.files.options()
	if err != nil {
		return "", nil, nil, err
	}
	ready = []stages.Func{func(ctx context.Context, env stages.Env, _ arrowio.Stream, out arrowio.Sink) error {
		return featurize.Files(ctx, env, options, out)
	}}
	if q.embed {
		ready = append(ready, embed.Images)
	}
	return source + " and " + target, nil, ready, nil
}
