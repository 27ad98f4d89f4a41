package featurize

import (
	"context"
	"fmt"
	"strconv"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize/toy"
)

// Toy writes the paper's toy problem.
func Toy(ctx context.Context, env stages.Env, o toy.Options, truth bool, out arrowio.Sink) error {
	o.Seed = env.Seed
	source, target, err := toy.Generate(ctx, o)
	if err != nil {
		return err
	}
	env.Logger().Info(fmt.Sprintf("toy: %d source and %d target rows of %d classes", source.X.Rows, target.X.Rows, toy.Classes))
	d := &dataset{shape: []int{toy.Dim}, truth: truth, sides: []side{
		{domain: arrowio.SourceDomain, x: source.X, labels: source.Labels, ids: rowNumbers(source.X.Rows)},
		{domain: arrowio.TargetDomain, x: target.X, labels: target.Labels, ids: rowNumbers(target.X.Rows)},
	}}
	for k := range toy.Classes {
		d.classes = append(d.classes, strconv.Itoa(k))
	}
	return d.write(ctx, env, out)
}
