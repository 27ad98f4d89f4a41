// Command measured makes the figures of README and docs. It runs the studies that they
// rest on with the program as it ships, keeps what came of each run in docs/measured/runs,
// and writes the tables of the pages from that, between markers. With -check it runs a
// small part of each study again, and fails where a figure has moved.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// runsFolder holds what came of the studies.
const runsFolder = "docs/measured/runs"

type options struct {
	only   string  // names of tables or studies, apart by commas
	set    setFlag // the part of a study that is to be run
	folder string  // for the program, caches and data that are made
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "measure these tables or studies, apart by commas (default: the cheap studies)")
	flag.Var(&o.set, "set", "run this part of a study that grows, as in matrix.seed=0,1; several flags, or apart by spaces")
	flag.StringVar(&o.folder, "folder", ".measured", "keep the program, its cache and data that are made here")
	check := flag.Bool("check", false, "run a sample of each study again, and fail where a figure moved")
	write := flag.Bool("write", false, "measure nothing: write the tables of the runs that are there")
	list := flag.Bool("list", false, "list the studies and tables")
	data := flag.String("blobs", "", "write the tasks of diagnostics-blobs.toml into this folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *data != "":
		err = blobs(*data)
	case *list:
		listAll(os.Stdout)
	case *check:
		err = checkAll(ctx, o, os.Stdout)
	case *write:
		err = writePages(os.Stdout, runsFolder)
	default:
		err = measure(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure runs the studies that are asked for and writes all pages. A study whose runs
// are of this very program is not run again.
func measure(ctx context.Context, o options, out io.Writer) error {
	chosen, err := o.studies()
	if err != nil {
		return err
	}
	for _, s := range chosen {
		if err := s.checkPart(o.set); err != nil {
			return err
		}
	}
	p, err := build(ctx, o.folder)
	if err != nil {
		return err
	}
	var failed []error
	for _, s := range chosen {
		if reason := s.missing(); reason != "" {
			fmt.Fprintf(out, "%-20s skipped: %s\n", s.name, reason)
			continue
		}
		path := filepath.Join(runsFolder, s.name+".jsonl")
		if s.init != "" {
			if err := p.grow(ctx, s, o.set, path, out); err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			}
			continue
		}
		if old, err := readRecord(path); err == nil && old.Program == p.hash && old.Command == s.shown() && old.Content == s.content() {
			fmt.Fprintf(out, "%-20s is of this program already\n", s.name)
			continue
		}
		fmt.Fprintf(out, "%-20s runs, about %d s: %s\n", s.name, s.seconds, s.shown())
		r, err := p.measure(ctx, s)
		if err == nil {
			err = r.write(path)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return errors.Join(append(failed, writePages(out, runsFolder))...)
}

// cheapSeconds is the longest time of a study that is measured when none is named.
const cheapSeconds = 120

// studies are those that the flags name, or the cheap ones.
func (o options) studies() ([]study, error) {
	if o.only == "" {
		return slices.DeleteFunc(slices.Clone(studies), func(s study) bool { return s.seconds > cheapSeconds }), nil
	}
	var chosen []study
	for _, name := range strings.Split(o.only, ",") {
		found := false
		for _, s := range studies {
			if s.name == name || slices.ContainsFunc(tables, func(t table) bool { return t.name == name && slices.Contains(t.of, s.name) }) {
				found = true
				chosen = append(chosen, s)
			}
		}
		if !found {
			return nil, fmt.Errorf("no table or study is named %q: -list lists them", name)
		}
	}
	return chosen, nil
}

func listAll(out io.Writer) {
	for _, s := range studies {
		fmt.Fprintf(out, "study %-20s %5d s  %s\n", s.name, s.seconds, s.shown())
	}
	for _, t := range tables {
		fmt.Fprintf(out, "table %-20s %s, of %s\n", t.name, t.page, strings.Join(t.of, ", "))
	}
}
