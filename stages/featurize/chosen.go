package featurize

import (
	"context"
	"fmt"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	asked "mars.dev/mars/stages/internal/sheet" // sheet is that of pictures here
	"mars.dev/mars/tables"
)

// dropChosen is the table without the rows that mars ask chose by a model's doubt, which people are told. A batch is answered
// from the others as if it had no labels. Of a batch of its hardest rows, answers are farther off than of the batch, and its
// shares are not those of the batch: what came of it would be no sign of the next one. Where labels are in files of their own,
// only these say which rows were chosen, and it fails.
func dropChosen(ctx context.Context, env stages.Env, t *tables.Table, so *SideOptions) (*tables.Table, error) {
	path := so.Path
	if so.Format.Labels != "" {
		path = so.Format.Labels
	}
	files, chosen, err := chosenRows(ctx, path)
	if err != nil || len(files) == 0 {
		return t, err
	}
	if so.Format.Labels != "" {
		return nil, fmt.Errorf("%s: %s of it mars ask chose by the model's doubt, and they are no sample of their batch: drop the rows whose part is chosen, or draw with mars ask --uniform",
			files[0], spelling.Count(len(chosen[files[0]]), "row", "rows"))
	}
	var kept []int
	left := map[string]int{}
	for i := range t.Features.Rows {
		file := t.File(i)
		if len(chosen) == 1 {
			file = files[0] // the name of its table may say more than its path
		}
		if chosen[file][t.InFile(i)] {
			left[file]++
			continue
		}
		kept = append(kept, i)
	}
	for _, file := range files {
		if n := left[file]; n > 0 { // others may have had no label
			env.Logger().Warn(fmt.Sprintf("%s: left out %s that mars ask chose by the model's doubt, as such are no sample of their batch: mars ask --uniform draws none", file, spelling.Count(n, "row", "rows")))
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s: mars ask chose all its rows by the model's doubt, and they are no sample of their batch: draw rows with mars ask --uniform", t.Name)
	}
	return t.Gather(ctx, kept)
}

// chosenRows are the rows that mars ask chose in files, and the names of those that have some.
func chosenRows(ctx context.Context, path string) (with []string, chosen map[string]map[int]bool, err error) {
	files, err := tables.Expand(path)
	if err != nil {
		return nil, nil, err
	}
	chosen = map[string]map[int]bool{}
	for _, file := range files {
		if chosen[file], err = asked.Chosen(ctx, file); err != nil {
			return nil, nil, err
		}
		if len(chosen[file]) > 0 {
			with = append(with, file)
		}
	}
	return with, chosen, nil
}
