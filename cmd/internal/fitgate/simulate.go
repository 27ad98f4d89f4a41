package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"mars.dev/mars/arrowio/atomicfile"
)

// simulate writes simulated tasks into a folder: simulate FROM TO FOLDER.
func simulate(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("simulate: %d arguments instead of three\n%s", len(args), usage)
	}
	from, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return fmt.Errorf("simulate: FROM: %w: give a number from 0", err)
	}
	to, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil || to <= from {
		return fmt.Errorf("simulate: TO: %q: give a number above %d", args[1], from)
	}
	folder := args[2]
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	names := [][]string{{"name", "kind", "family"}}
	for seed := from; seed < to; seed++ {
		t := draw(seed)
		if err := atomicfile.Write(filepath.Join(folder, t.Name+".task"), t.write); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		names = append(names, []string{t.Name, t.Kind, t.Family})
	}
	return atomicfile.Write(filepath.Join(folder, "tasks.csv"), func(w io.Writer) error { return csv.NewWriter(w).WriteAll(names) })
}
