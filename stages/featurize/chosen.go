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
// shares are not those of the batch: what came of it would be no sign of the next one.
func dropChosen(ctx context.Context, env stages.Env, t *tables.Table, so *SideOptions) (*tables.Table, error) {
	files, err := tables.Expand(so.Path)
	if err != nil {
		return nil, err
	}
	if labels := so.Format.Labels; labels != "" {
		return t, refuseChosen(ctx, labels)
	}
	chosen := map[string]map[int]bool{} // by file
	for _, file := range files {
		rows, err := asked.Chosen(ctx, file)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			chosen[file] = rows
		}
	}
	if len(chosen) == 0 {
		return t, nil
	}
	var kept []int
	left := map[string]int{}
	for i := range t.Features.Rows {
		file := t.File(i)
		if chosen[file][t.InFile(i)] {
			left[file]++
			continue
		}
		kept = append(kept, i)
	}
	for _, file := range files {
		if n := left[file]; n > 0 {
			env.Logger().Warn(fmt.Sprintf("%s: %s that mars ask chose by the model's doubt are left out, as they are no sample of their batch: mars ask --uniform draws none", file, spelling.Count(n, "row", "rows")))
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s: mars ask chose all its rows by the model's doubt, and they are no sample of their batch: draw rows with mars ask --uniform", t.Name)
	}
	return t.Gather(ctx, kept)
}

// refuseChosen fails if labels in files of their own are of rows that mars ask chose: which rows of a batch these are, only the
// labels' identities tell.
func refuseChosen(ctx context.Context, labels string) error {
	files, err := tables.Expand(labels)
	if err != nil {
		return err
	}
	for _, file := range files {
		rows, err := asked.Chosen(ctx, file)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return fmt.Errorf("%s: %s of it mars ask chose by the model's doubt, and they are no sample of their batch: drop the rows whose part is chosen, or draw with mars ask --uniform", file, spelling.Count(len(rows), "row", "rows"))
		}
	}
	return nil
}
