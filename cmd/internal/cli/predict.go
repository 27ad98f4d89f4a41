package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/predict"
	"mars.dev/mars/tables"
)

// Predict is the command of the stage that applies a trained model.
func Predict() *cobra.Command {
	p := &predictor{}
	cmd := &cobra.Command{
		Use:   "mars-predict [flags] [FILE]",
		Short: "Label rows with a trained model",
		Long: `FILE is rows as mars label reads them (CSV, Parquet, npz, folders of images and others) or a stream of
mars-featurize; without FILE the stream is read from standard input. --target FILE is rows as
mars label reads them for certain: a pipe too, or - for standard input.

A model knows the columns that it was trained on, their order and how they were prepared.
Rows of a file are prepared alike: columns are found by their names, in whatever order. The
rows of a stream have to be prepared alike, or are refused.

A stream gets the columns prediction, predicted_class and probability (typicality too, if the
model can tell), batch by batch in constant memory, so that copies of the command may run side
by side on parts of the data. Written as a table (CSV, JSON, Parquet), or read from one, the result is
what mars label writes: id, predicted_class, confidence, typicality, probability.`,
		Example: `  mars predict --model model.safetensors new.csv -o labels.csv
  mars-predict --model model.safetensors more.arrow -o labelled.arrow
  mars-featurize --target new.csv --load prepared.arrow | mars-predict --model model.safetensors | mars inspect`,
		Args: cobra.MaximumNArgs(1),
	}
	p.common = newCommon(cmd, "mars-predict", "features", "embedding", "prediction", "predicted_class", "probability", "typicality")
	cmd.RunE = p.run
	f := cmd.Flags()
	f.StringVar(&p.options.Model, "model", "", "file that mars-train, mars-label or mars-embed saved (required)")
	f.Var(oneOf{&p.options.Decision, decisions}, "decision", "what predictions are made ready for: the most right rows, the best mean recall of the classes, or neither (default: as the model was trained)")
	f.Var((*fileList)(&p.files.target.Path), "target", "file with the rows to label, instead of FILE (-: standard input), or several: again, or a pattern such as 'day-*.csv'")
	p.files.registerImageColumn(f)
	p.files.registerFileColumn(f)
	p.files.registerID(f)
	f.StringVar(&p.files.Domain, "domain-column", "", "column of a table that says which domain a row is of")
	f.StringSliceVar(&p.files.target.Domains, "target-domain", nil, "values of --domain-column in the rows to label (default \"target\")")
	p.files.registerText(f)
	f.StringVar(&p.keep, "keep", keepID, keepHelp)
	f.Var(oneOf{&p.format, label.Formats}, "format", "what to write (default: by the name of the output, arrow where it does not say)")
	p.common.outputFlags(f)
	writesTables(f, "write to this file instead of standard output")
	p.common.runFlags(f)
	return newCommand(cmd)
}

type predictor struct {
	common  *common
	options predict.Options
	files   featurizeFlags
	format  string
	keep    string
}

func (p *predictor) run(cmd *cobra.Command, args []string) error {
	c := p.common
	c.input = append(args, "")[0]
	if err := c.check(); err != nil {
		return err
	}
	if p.options.Model == "" {
		return usagef("say which model: --model FILE")
	}
	format, err := outputFormat(p.format, c.output)
	if err != nil {
		return err
	}
	named := p.files.target.Path != ""
	raw := named
	switch {
	case named && c.input != "":
		return usagef("the rows are in FILE or in --target: give one of them")
	case named:
		c.input = p.files.target.Path
	default:
		raw = isTable(c.input, c.columns)
	}
	switch {
	case raw && !named && c.cached != "":
		return usagef("--cached is for rows of mars-featurize and for --target: give %s with --target", c.input)
	case named || !raw:
		if handled, err := c.hosted(cmd); handled {
			return err
		}
	}
	if !raw && format.Name == label.Arrow {
		if err := refuse(cmd, "FILE is a stream, whose rows have their identities", []string{"id", "domain-column", "target-domain", "separator", "decimal", "thousands", "comment", "skip-lines", "no-header", "encoding", "keep", "file-column", "image-column", "compensate", "panel"}); err != nil {
			return err
		}
		return c.filter(cmd, predict.Apply(p.options))
	}
	return p.label(cmd, raw, format)
}

// isTable reports whether a file is to be featurized: it is no Arrow data, or has no
// column of features. A folder of images is too. A pipe is not looked at: what is read of it
// is gone.
func isTable(path string, columns arrowio.Columns) bool {
	if isPipe(path) {
		return false
	}
	if paths, err := tables.Expand(path); err == nil {
		path = paths[0]
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return true
	}
	if isArrow, err := arrowio.IsArrowFile(path); err != nil || !isArrow {
		return err == nil
	}
	in, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return false // the stage will say what is wrong
	}
	defer in.Close()
	return !arrowio.HasColumn(in.Schema(), columns.Features) && !arrowio.HasColumn(in.Schema(), columns.Embedding)
}

// isPipe reports whether a path is standard input or another input that can be read but
// once, such as <(command).
func isPipe(path string) bool {
	if path == "" || path == "-" {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// label writes labels, as mars label does.
func (p *predictor) label(cmd *cobra.Command, raw bool, format label.Format) error {
	c := p.common
	env, done := c.env(cmd)
	defer done()
	var in arrowio.Stream
	var filters []pipeline.Filter
	if raw {
		p.files.target.Path = c.input
		options, err := p.files.prepared(cmd.Context(), p.options.Model)
		if err != nil {
			return err
		}
		if p.keep != keepID || p.files.FileColumn != "" {
			if c.kept, err = newKeep(cmd.Context(), p.keep, options); err != nil {
				return err
			}
		}
		keepInputs(cmd.Context(), &env, options)
		filters = append(filters, filter(featurized(options), noted(env)))
	} else {
		stream, closeInput, err := c.open(cmd, c.input)
		if err != nil {
			return err
		}
		defer closeInput()
		in = stream
	}
	filters = append(filters, filter(predict.Apply(p.options), env))
	return c.labelled(cmd, env, in, filters, format, label.Options{})
}

// prepared says how to read the target as the rows of a model were read.
func (o *featurizeFlags) prepared(ctx context.Context, model string) (featurize.Options, error) {
	text, classes, err := predict.Preparation(ctx, model)
	if err != nil {
		return featurize.Options{}, err
	}
	if err := o.completeSides(); err != nil {
		return featurize.Options{}, err
	}
	how, err := o.written()
	how.Compensated, how.FileColumn = featurize.Compensated(text), o.FileColumn
	target := featurize.SideOptions{Path: o.target.Path, Format: how, Domains: o.target.Domains}
	return featurize.Options{Target: target, Classes: classes, Prepared: text, Domain: o.Domain, FileColumn: o.FileColumn, Image: o.Image}, err
}
