package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/show/figures"
)

const plotRowsHelp = `Source rows are rings and target rows triangles. Colours are classes: of source rows their
labels, of target rows the column truth or else prediction (--colour). Each stream, and each
column of vectors in it, has a panel of its own: of one stream features and embedding, if it
has both; of several, such as one before and one after training, name the --column. Of more rows than
--rows a fair sample is drawn, by the seed, and the figure says so.`

// plotRowsCommand draws rows in the plane.
func plotRowsCommand(tsne bool) *cobra.Command {
	var r plotRows
	r.layout.TSNE = tsne
	cmd := &cobra.Command{
		Use:   "pca [flags] STREAM...",
		Short: "Draw rows along their first two principal components",
		Long:  "Draws the rows of streams along their first two principal components. " + plotRowsHelp,
		Example: `  mars plot pca labelled.arrow -o pca.svg
  mars featurize toy --shift 8 --truth | mars plot pca - -o toy.png`,
		Args: cobra.MinimumNArgs(1),
		RunE: r.run,
	}
	if tsne {
		cmd.Use, cmd.Short = "tsne [flags] STREAM...", "Draw rows by t-SNE, which keeps near rows near"
		cmd.Long = "Lays the rows of streams out by t-SNE (van der Maaten 2014), which keeps near rows near, and draws them. " + plotRowsHelp
		cmd.Example = `  mars plot tsne labelled.arrow -o tsne.svg
  mars plot tsne before.arrow after.arrow --column embedding --rows-of target -o tsne.pdf`
	}
	r.common = newCommon(cmd, "mars-plot", "domain", "label", "truth", "prediction")
	f := cmd.Flags()
	plotOutput(f, &r.output)
	f.StringSliceVar(&r.vectors, "column", nil, "columns of vectors to draw (default: features and embedding)")
	r.rows.Domain = "both"
	f.Var(oneOf{&r.rows.Domain, []string{"both", "source", "target"}}, "rows-of", "which rows to draw")
	r.rows.Colours = "auto"
	f.Var(oneOf{&r.rows.Colours, []string{"auto", "truth", "prediction", "none"}}, "colour", "what gives target rows their colour")
	countVar(f, &r.rows.Limit, "rows", 5000, 10, "rows of a stream to draw at most")
	if tsne {
		amountVar(f, &r.layout.Perplexity, "perplexity", 1000, "about how many neighbours each row keeps near (default 30, or fewer for few rows)")
	}
	f.Uint64Var(&r.rows.Seed, "seed", 0, "seed of the sample and of what starts the layout")
	r.common.limitFlag(f)
	return newCommand(cmd)
}

type plotRows struct {
	common  *common
	output  string
	vectors []string
	rows    figures.RowOptions
	layout  figures.ScatterOptions
}

func plotOutput(f *pflag.FlagSet, output *string) {
	f.StringVarP(output, "output", "o", "", "write the figure to this file: "+strings.Join(figures.Formats, ", "))
}

// figureFormat is the format by the name of an output.
func figureFormat(output string) (string, error) {
	if output == "" {
		return "", usagef("say with -o where the figure goes: a file named %s", strings.Join(figures.Formats, ", "))
	}
	format, err := figures.FormatOf(output)
	if err != nil {
		return "", usagef("--output %w", err)
	}
	return format, arrowio.CheckOutput(output, arrowio.WriteOptions{})
}

func (r *plotRows) run(cmd *cobra.Command, args []string) error {
	format, err := figureFormat(r.output)
	if err != nil {
		return err
	}
	r.rows.Columns, r.rows.Vectors, r.layout.Seed = r.common.columns, r.vectors, r.rows.Seed
	if r.vectors == nil {
		r.rows.Vectors = []string{r.common.columns.Features, r.common.columns.Embedding}
	}
	var streams []*figures.Rows
	for _, path := range args {
		rows, err := r.read(cmd.Context(), path)
		if err != nil {
			return err
		}
		streams = append(streams, rows)
	}
	figure, err := figures.Scatter(cmd.Context(), streams, r.layout)
	if err != nil {
		return err
	}
	return writeFigure(r.output, figure, format)
}

func (r *plotRows) read(ctx context.Context, path string) (*figures.Rows, error) {
	in, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return figures.Read(ctx, in, r.rows)
}

func writeFigure(output string, f *figures.Figure, format string) error {
	return atomicfile.Write(output, func(w io.Writer) error { return f.Write(w, format) })
}

// plotStudyCommand draws the results of a study.
func plotStudyCommand() *cobra.Command {
	var o figures.StudyOptions
	var output string
	cmd := &cobra.Command{
		Use:   "study [flags] RESULTS...",
		Short: "Draw what a study found: accuracy, or another number, by method",
		Long: `Reads the tables that mars run leaves (or others that mars compare reads) and draws the means
over seeds, a line for each method with a band of a standard deviation, against a column of numbers
such as the shift. Against a column of names, such as tasks, it draws points with bars. Each setting of the
other columns has a panel. Methods that lack a number or a setting are named in the figure.`,
		Example: `  mars plot study paper-toy.csv -o accuracy.svg
  mars plot study paper-visda.csv --number proportions_l1 --methods marsg,marsc,iw-wd -o proportions.pdf`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			format, err := figureFormat(output)
			if err != nil {
				return err
			}
			figure, err := figures.Study(args, o)
			if err != nil {
				return err
			}
			return writeFigure(output, figure, format)
		},
	}
	f := cmd.Flags()
	plotOutput(f, &output)
	f.StringVar(&o.Number, "number", "", "what to draw, such as proportions_l1 (default: balanced_accuracy, or accuracy)")
	f.StringVar(&o.X, "x", "", "column to draw it against (default: the last one of numbers, or else of names)")
	f.StringSliceVar(&o.Settings, "settings", nil, "columns that make a setting (default: all that hold no results)")
	f.StringSliceVar(&o.Methods, "methods", nil, "methods to draw, in this order (default: all that have the number)")
	f.BoolVar(&o.Mixed, "mixed", false, "take results of different versions of the program, which are an error otherwise")
	return newCommand(cmd)
}
