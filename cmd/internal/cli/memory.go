package cli

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/spf13/cobra"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/featurize"
)

// table is a stream held in memory: a sink for one producer, then a source.
type table struct {
	name    string
	schema  *arrow.Schema
	records []arrow.Record
	next    int
}

func (t *table) Begin(s *arrow.Schema) error { t.schema = s; return nil }
func (t *table) Close() error                { return nil }
func (t *table) Fail(error)                  {}
func (t *table) Name() string                { return t.name }
func (t *table) Schema() *arrow.Schema       { return t.schema }

func (t *table) Write(rec arrow.Record) error {
	rec.Retain()
	t.records = append(t.records, rec)
	return nil
}

// Next gives the next record and lets go of the one before.
func (t *table) Next() (arrow.Record, error) {
	if t.next > 0 {
		t.records[t.next-1].Release()
		t.records[t.next-1] = nil
	}
	if t.next == len(t.records) {
		t.records, t.next = nil, 0
		return nil, io.EOF
	}
	t.next++
	return t.records[t.next-1], nil
}

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
	t := &table{name: o.source.path + " and " + o.target.path}
	if err := featurize.Files(cmd.Context(), env, options, t); err != nil {
		return err
	}
	return use(cmd.Context(), env, t)
}

// each calls f with every record of in.
func each(in arrowio.Stream, f func(arrow.Record) error) error {
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(rec); err != nil {
			return err
		}
	}
}
