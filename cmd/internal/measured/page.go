package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A table is a part of a page that is written from the runs of studies. It stands between
// the comments "measured: NAME" and "end": on lines of their own a table and its caption,
// within a line a figure.
type table struct {
	name, page string
	of         []string // studies
	figure     bool
	published  bool // it rests on the paper alone
	text       func(book) string
}

// A book has the records by the names of their studies.
type book map[string]record

// readBook reads what is kept of studies.
func readBook(folder string) (book, error) {
	b := book{}
	for _, s := range studies {
		r, err := readRecord(filepath.Join(folder, s.name+".jsonl"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("runs of %s: %w", s.name, err)
		}
		if s.init != "" {
			r.runs = s.ordered(r.runs)
		}
		b[s.name] = r
	}
	return b, nil
}

// lacks names the studies that a table needs and that were not run.
func (b book) lacks(t table) []string {
	return slices.DeleteFunc(slices.Clone(t.of), func(name string) bool { _, ok := b[name]; return ok })
}

// writePages writes every table of which there are runs.
func writePages(out io.Writer, folder string) error {
	b, err := readBook(folder)
	if err != nil {
		return err
	}
	for _, page := range pages() {
		old, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		text, err := b.fill(page, string(old))
		if err != nil {
			return err
		}
		if text == string(old) {
			continue
		}
		if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
			return err
		}
		fmt.Fprintln(out, "wrote", page)
	}
	for _, t := range tables {
		if lacks := b.lacks(t); len(lacks) > 0 {
			fmt.Fprintf(out, "%s: the page has what it had, since there are no runs of %s\n", t.name, strings.Join(lacks, ", "))
		}
	}
	return nil
}

// pages are the pages with tables, each once.
func pages() (names []string) {
	for _, t := range tables {
		if !slices.Contains(names, t.page) {
			names = append(names, t.page)
		}
	}
	return names
}

// region is a marked part of a page: the opening comment, its name, what is between, and
// the closing one.
var region = regexp.MustCompile(`(?s)(<!-- measured: ([a-z0-9-]+) -->)(.*?)(<!-- end -->)`)

// fill returns a page with its tables written anew.
func (b book) fill(page, text string) (string, error) {
	var failed []error
	seen := map[string]bool{}
	text = region.ReplaceAllStringFunc(text, func(all string) string {
		m := region.FindStringSubmatch(all)
		i := slices.IndexFunc(tables, func(t table) bool { return t.name == m[2] && t.page == page })
		if i < 0 || seen[m[2]] && !tables[i].figure {
			failed = append(failed, fmt.Errorf("%s: no table is named %q there, or it is there twice", page, m[2]))
			return all
		}
		seen[m[2]] = true
		if t := tables[i]; len(b.lacks(t)) == 0 {
			return m[1] + b.written(t) + m[4]
		}
		return all
	})
	for _, t := range tables {
		if t.page == page && !seen[t.name] {
			failed = append(failed, fmt.Errorf("%s has no place for the table %s: <!-- measured: %s --> … <!-- end -->", page, t.name, t.name))
		}
	}
	text, err := b.fillMeans(page, text)
	return text, errors.Join(append(failed, err)...)
}

// written is what stands between the markers.
func (b book) written(t table) string {
	if t.figure {
		return t.text(b)
	}
	if t.published {
		return "\n\n" + strings.TrimSpace(t.text(b)) + "\n\n<sub>The paper's own, of 20 runs: `docs/experiments/paper.csv` and `paper-marks.csv`, by `make measured`.</sub>\n\n"
	}
	return "\n\n" + strings.TrimSpace(t.text(b)) + "\n\n" + b.caption(t) + "\n\n"
}

// caption says how a table was made, and how far its figures may move.
func (b book) caption(t table) string {
	var when, commits, machines, seeds, spreads []string
	part := "" // of a study that grows
	add := func(list *[]string, what string) {
		if !slices.Contains(*list, what) {
			*list = append(*list, what)
		}
	}
	for _, name := range t.of {
		r := b[name]
		for _, p := range r.parts {
			add(&when, p.Date)
			add(&commits, p.Commit+of(len(p.runs), len(r.parts)))
			add(&machines, fmt.Sprintf("%s, %d cores, kernels %s", p.Processor, p.Cores, p.Kernels))
		}
		for _, s := range studies {
			if s.name == name {
				add(&seeds, cmp.Or(s.seeds, r.seeds())+s.howMuch(r))
				add(&spreads, s.spreadText(r.runs))
				part = s.partOf(r.runs)
			}
		}
	}
	list := func(of []string) string { return strings.Join(of, "; ") }
	text := fmt.Sprintf("`make measured MEASURED=%s%s`: commit %s; %s; %s; %s.", t.name, part, list(commits), list(seeds), list(machines), list(when))
	if spread := strings.TrimSpace(list(slices.DeleteFunc(spreads, func(s string) bool { return s == "" }))); spread != "" {
		text += " With other kernels a single run may move: " + spread + "."
	}
	return "<sub>" + text + "</sub>"
}

// of says how many runs a part is, of a record that has several.
func of(runs, parts int) string {
	if parts < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d runs)", runs)
}

// thousands writes a number of runs: 17,820.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// howMuch says how much there is of a study that grows.
func (s study) howMuch(r record) string {
	if s.init == "" {
		return ""
	}
	_, all := s.cells()
	return fmt.Sprintf(" (%s of %s runs)", thousands(len(r.runs)), thousands(len(all)))
}

// spreadText lists how far the numbers of these runs may move.
func (s study) spreadText(runs []run) string {
	rules := map[string]float64{}
	for _, r := range runs {
		for number := range r {
			if rule := s.rule(r, number); rule != "" {
				rules[rule] = s.spread[rule]
			}
		}
	}
	var parts []string
	for name, by := range rules {
		name = strings.NewReplacer("estimators_l1.", "L1 of ", "proportions_l1", "L1 of p_T", "estimators_l1", "L1", "l1", "L1 of p_T", "_", " ").Replace(name)
		parts = append(parts, fmt.Sprintf("%s by %s", name, shortest(by)))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
