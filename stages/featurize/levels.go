package featurize

import (
	"context"
	"fmt"
	"strings"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/levels"
	"mars.dev/mars/tables"
)

// levels finds of which coarser classes the source's are parts.
func (o *Options) levels(ctx context.Context, env stages.Env, d *dataset, source *tables.Table) (err error) {
	var t *levels.Tree
	switch {
	case o.Tree != "":
		t, err = levels.Read(ctx, o.Tree, d.classes)
	case o.Levels == nil:
		return nil
	case source == nil:
		return fmt.Errorf("--levels are columns of the source, which is not there: give it with --source")
	case len(source.Levels) < len(o.Levels)-1:
		return fmt.Errorf("%s: its labels are not in a column beside those of --levels: say with --tree which class is part of which", source.Name)
	default:
		t, err = levels.New(o.Levels, append(source.Levels[:len(o.Levels)-1:len(o.Levels)-1], source.Labels), d.classes, source.Place)
		if err != nil {
			err = fmt.Errorf("%s: %w", source.Name, err)
		}
	}
	if err != nil {
		return err
	}
	var parts []string
	for _, l := range t.Levels {
		parts = append(parts, fmt.Sprintf("%s (%s)", l.Name, spelling.Count(len(l.Classes), "class", "classes")))
	}
	env.Logger().Info("levels: " + strings.Join(parts, ", "))
	d.levels = t.Text()
	return nil
}

// readLevels says which columns of the source are levels, before it is read.
func (o *Options) readLevels(ctx context.Context) error {
	f := &o.Source.Format
	switch {
	case o.Tree != "":
		names, err := levels.ReadNames(ctx, o.Tree)
		if err != nil {
			return err
		}
		f.Levels, f.OptionalLevels = without(names[:len(names)-1], []string{f.Label}), true
	case o.Levels != nil:
		f.Levels = o.Levels[:len(o.Levels)-1]
	}
	return nil
}
