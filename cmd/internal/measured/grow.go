package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mars.dev/mars/pipeline"
)

// A study of the paper is thousands of runs, more than a session has time for. So its file,
// which mars run --init prints, is run in parts, at other times, on other machines and by
// later programs: what a part makes is added to what is kept, and a run that was kept before
// is replaced. The record says of each part what made it.

// A setFlag is values of a study's matrix, as mars run --set takes them.
type setFlag []string

func (f *setFlag) String() string { return strings.Join(*f, " ") }

func (f *setFlag) Set(text string) error {
	*f = append(*f, strings.Fields(text)...)
	return nil
}

// A cell is where a run stands in a study: a value for each axis of the file.
type cellOf []string

func (c cellOf) key() string { return strings.Join(c, "\x00") }

// cells are all of a study's file, in its order, with the names of its axes. It panics if the file, which is
// this repository's, cannot be expanded.
func (s study) cells() (axes []string, all []cellOf) {
	text, err := s.text()
	if err != nil {
		panic("measured: " + err.Error())
	}
	axes, runs, err := pipeline.Combinations(context.Background(), s.name, text)
	if err != nil {
		panic("measured: " + err.Error())
	}
	for _, values := range runs {
		all = append(all, values)
	}
	return axes, all
}

// place writes the file of a study where it is to run, beside the data, or says where it is.
func (s study) place(dir string) (string, error) {
	if s.init == "" {
		return filepath.Join("docs", "experiments", s.file), nil
	}
	text, err := s.text()
	if err != nil {
		return "", err
	}
	if s.data {
		data, err := filepath.Abs(os.Getenv("MARS_DATA"))
		if err != nil {
			return "", err
		}
		entries, err := os.ReadDir(data)
		if err != nil {
			return "", fmt.Errorf("MARS_DATA: %w", err)
		}
		for _, e := range entries {
			if err := os.Symlink(filepath.Join(data, e.Name()), filepath.Join(dir, e.Name())); err != nil {
				return "", err
			}
		}
	}
	path := filepath.Join(dir, s.init+".toml")
	return path, os.WriteFile(path, []byte(text), 0o666)
}

// checkPart refuses what is no part of a study: any but some values of its matrix would make
// other runs with the same place.
func (s study) checkPart(set []string) error {
	if len(set) == 0 {
		return nil
	}
	if s.init == "" {
		return fmt.Errorf("%s: is measured as a whole: leave -set out (MEASUREDSET)", s.name)
	}
	_, err := s.part(set)
	return err
}

// part are the cells that -set leaves of a study.
func (s study) part(set []string) ([]cellOf, error) {
	axes, all := s.cells()
	for _, text := range set {
		name, values, ok := strings.Cut(text, "=")
		name, isAxis := strings.CutPrefix(name, "matrix.")
		i := slices.Index(axes, name)
		if !ok || !isAxis || i < 0 {
			return nil, fmt.Errorf("%s: %q chooses no part: write matrix.AXIS=VALUE,…, with one of the axes %s", s.name, text, strings.Join(axes, ", "))
		}
		chosen := strings.Split(values, ",")
		for _, v := range chosen {
			if !slices.ContainsFunc(all, func(c cellOf) bool { return c[i] == v }) {
				return nil, fmt.Errorf("%s: %q: no run that is left has %s %q", s.name, text, name, v)
			}
		}
		all = slices.DeleteFunc(all, func(c cellOf) bool { return !slices.Contains(chosen, c[i]) })
	}
	return all, nil
}

// seedAxis is the axis by which a part is cut into chunks, each of which is kept when it is
// done.
const seedAxis = "seed"

// grow runs what a part lacks of this very program, seed by seed, and adds it to what is kept.
func (p program) grow(ctx context.Context, s study, set []string, path string, out io.Writer) error {
	part, err := s.part(set)
	if err != nil {
		return err
	}
	kept, err := readRecord(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(kept.parts) > 0 && kept.Content != s.content() {
		return fmt.Errorf("%s has runs of another version of the file that mars run --init %s prints: they are not comparable: remove it to begin anew", path, s.init)
	}
	axes, _ := s.cells()
	left := s.lacking(kept, p.hash, axes, part)
	if len(left) == 0 {
		fmt.Fprintf(out, "%-20s these %d runs are of this program already\n", s.name, len(part))
		return nil
	}
	seed := slices.Index(axes, seedAxis)
	var problems error
	for len(left) > 0 {
		is := left[0][seed]
		var chunk []cellOf
		for _, c := range left {
			if c[seed] == is {
				chunk = append(chunk, c)
			}
		}
		left = slices.DeleteFunc(left, func(c cellOf) bool { return c[seed] == is })
		sample := sets(axes, chunk)
		fmt.Fprintf(out, "%-20s runs %d of seed %s, %d are left: mars run --set %s\n", s.name, len(chunk), is, len(left), strings.Join(sample, " --set "))
		cache := filepath.Join(p.folder, "cache-"+p.hash+"-"+s.name+"-"+is)
		runs, failed := p.run(ctx, s, sample, cache)
		if ctx.Err() != nil { // what is done of the seed is in the cache
			return errors.Join(problems, failed, ctx.Err())
		}
		if len(runs) > 0 {
			if kept, err = s.add(kept, p.origin(s), runs); err != nil {
				return err
			}
			if err := errors.Join(kept.write(path), writePages(io.Discard, runsFolder)); err != nil {
				return err
			}
		}
		if problems = errors.Join(problems, failed); len(runs) == 0 {
			return problems
		}
		if failed != nil {
			continue // the cache has what did not fail
		}
		if err := os.RemoveAll(cache); err != nil { // the rows of all runs take gigabytes
			return err
		}
	}
	return problems
}

// lacking are the cells of a part of which no run of the program is kept.
func (s study) lacking(kept record, program string, axes []string, part []cellOf) []cellOf {
	done := map[string]bool{}
	for _, p := range kept.parts {
		for _, r := range p.runs {
			done[cellAt(r, axes).key()] = p.Program == program
		}
	}
	return slices.DeleteFunc(slices.Clone(part), func(c cellOf) bool { return done[c.key()] })
}

// lacksSample says why the sample of a study cannot be compared: runs of it are not kept yet.
func (s study) lacksSample(kept record) string {
	sample, err := s.part(s.sample)
	if err != nil {
		return err.Error()
	}
	axes, _ := s.cells()
	there := map[string]bool{}
	for _, r := range kept.runs {
		there[cellAt(r, axes).key()] = true
	}
	if slices.ContainsFunc(sample, func(c cellOf) bool { return !there[c.key()] }) {
		return fmt.Sprintf("its sample is not among the runs that are kept: make measured MEASURED=%s MEASUREDSET='%s'", s.name, strings.Join(s.sample, " "))
	}
	return ""
}

func cellAt(r run, axes []string) cellOf {
	var c cellOf
	for _, a := range axes {
		c = append(c, r.at(a))
	}
	return c
}

// sets choose the values that cells have of each axis.
func sets(axes []string, cells []cellOf) (set []string) {
	for i, a := range axes {
		var values []string
		for _, c := range cells {
			if !slices.Contains(values, c[i]) {
				values = append(values, c[i])
			}
		}
		set = append(set, "matrix."+a+"="+strings.Join(values, ","))
	}
	return set
}

// partOf is the part that has runs, as make measured takes it; "" for all of a study, or of one
// that does not grow.
func (s study) partOf(runs []run) string {
	if s.init == "" {
		return ""
	}
	axes, all := s.cells()
	there := map[string]bool{}
	for _, r := range runs {
		there[cellAt(r, axes).key()] = true
	}
	whole := sets(axes, all)
	part := sets(axes, slices.DeleteFunc(all, func(c cellOf) bool { return !there[c.key()] }))
	part = slices.DeleteFunc(part, func(set string) bool { return slices.Contains(whole, set) })
	if len(part) == 0 {
		return ""
	}
	return " MEASUREDSET='" + strings.Join(part, " ") + "'"
}

// add adds runs to a record in place of those that were at theirs. All are in the order of the
// study's file.
func (s study) add(kept record, made origin, runs []run) (record, error) {
	axes, all := s.cells()
	known, fresh := map[string]bool{}, map[string]bool{}
	for _, c := range all {
		known[c.key()] = true
	}
	for _, r := range runs {
		key := cellAt(r, axes).key()
		if !known[key] {
			return kept, fmt.Errorf("%s is not of the study", strings.ReplaceAll(key, "\x00", ", "))
		}
		fresh[key] = true
	}
	parts := []part{}
	for _, p := range kept.parts {
		p.runs = slices.DeleteFunc(slices.Clone(p.runs), func(r run) bool { return fresh[cellAt(r, axes).key()] })
		if p.origin == made {
			runs = append(runs, p.runs...)
		} else if len(p.runs) > 0 {
			parts = append(parts, p)
		}
	}
	return recordOf(append(parts, part{made, s.ordered(runs)})...), nil
}

// whatIsThere are the runs that did not fail, of a study that grows; nothing of another.
func (s study) whatIsThere(out string) []run {
	if s.init == "" {
		return nil
	}
	runs, err := readEither(out)
	if err != nil {
		return nil // it ended before there was a table
	}
	return slices.DeleteFunc(runs, func(r run) bool {
		return r.at("error") != "" || !slices.ContainsFunc(slices.Collect(maps.Keys(r)), s.isNumber)
	})
}

// isNumber reports whether a column is what came of a run, and not its place.
func (s study) isNumber(column string) bool { return !slices.Contains(s.axes, column) }

// ordered are the runs of a record in the order of the study's file.
func (s study) ordered(runs []run) []run {
	axes, all := s.cells()
	order := map[string]int{}
	for i, c := range all {
		order[c.key()] = i
	}
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b run) int {
		return cmp.Compare(order[cellAt(a, axes).key()], order[cellAt(b, axes).key()])
	})
	return runs
}
