package tables

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// openClass reads a file with the rows of one class, which its name is.
func openClass(ctx context.Context, path string, o Options) ([]*Table, error) {
	file, _, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	class, _, _ := strings.Cut(filepath.Base(file), ".")
	if info, err := os.Stat(file); path == "-" || class == "" || err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: its name is no class: give a file for each class, called by it", path)
	}
	parts := slices.Clone(o.parts())
	o.LabelFromFile, o.NoLabels = false, true
	if o.Domain != "" {
		o.Parts = slices.Clone(parts)
		for k := range o.Parts {
			o.Parts[k].NoLabels = true
		}
	}
	tables, err := openFile(ctx, path, o)
	for k, t := range tables {
		if !parts[k].NoLabels && o.Each == nil && !o.OnlyIDs {
			t.Labels = slices.Repeat([]string{class}, t.Features.Rows)
		}
	}
	return tables, err
}
