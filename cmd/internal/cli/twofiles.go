package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/featurize"
)

// twoFiles is the input of the commands that answer a question on two files: those
// of --source and --target in any format that mars-featurize reads or, if neither
// is given, a stream.
func (o *featurizeFlags) twoFiles(cmd *cobra.Command, c *common, args []string, use func(context.Context, stages.Env, arrowio.Stream) error) error {
	env, done := c.env(cmd)
	defer done()
	if o.source.path == "" && o.target.path == "" {
		in, err := arrowio.Open(append(args, "")[0], arrowio.ReadOptions{Memory: int64(c.limit)})
		if err != nil {
			return err
		}
		defer in.Close()
		return use(cmd.Context(), env, in)
	}
	if len(args) > 0 || o.source.path == "" || o.target.path == "" {
		return usagef("give --source FILE and --target FILE, or one stream of mars-featurize")
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	t := arrowio.NewTable(o.source.path + " and " + o.target.path)
	if err := errors.Join(featurize.Files(cmd.Context(), env, options, t), t.Close()); err != nil {
		return err
	}
	return use(cmd.Context(), env, t)
}
