package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/show/figures"
	"mars.dev/mars/show/report"
	"mars.dev/mars/tables"
)

// plotCommand draws one figure.
func plotCommand() *cobra.Command {
	var kind, output string
	cmd := &cobra.Command{
		Use:   "plot [flags] FILE -o FIGURE",
		Short: "Draw a figure of what other commands wrote, as SVG, PNG or PDF",
		Long: `Reads a file that another command wrote and draws it. What there is to draw, by the file
and --kind, whose default is the first:

  mars proportions --json > p.json      shares: source and target with intervals, and what each
                                        assumption or estimator says
  mars eval --json > e.json             confusion: true by predicted class; recall by class;
                                        calibration: share of right labels by confidence;
                                        confidence: how many labels have which
  mars label -o labels.csv (or .arrow)  labels: rows by label; confidence; calibration, if the
                                        labels have the column truth
  mars train --metrics m.arrow          losses by epoch; proportions: p_T by epoch; critic: its
                                        distance by epoch
  mars train --select --metrics s.arrow scores: what each score says of each candidate
  mars match --save match.arrow         plan: the transport plan
  mars compare study.csv -o c.json      ranks: critical-difference diagram
  mars run study.toml (its table, .csv) study: accuracy by method against shift, balance or task;
                                        errors: L1 error of p_T; ranks
  streams of rows (.arrow)              pca: features and embedding in two dimensions; tsne

mars plot pca, mars plot tsne and mars plot study draw the last two with flags of their own: which
columns, rows, methods and numbers.

mars report puts all figures of several files into one page.`,
		Example: `  mars proportions --source a.csv --target b.csv --label y --json > p.json
  mars plot p.json -o shares.svg
  mars plot e.json --kind calibration -o calibration.pdf
  mars plot metrics.arrow --kind proportions -o proportions.png
  mars plot tsne labelled.arrow -o tsne.svg
  mars plot study paper-toy.csv -o accuracy.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := figureFormat(output)
			if err != nil {
				return err
			}
			part, err := report.Open(cmd.Context(), args[0], report.Options{TSNE: kind == "tsne"})
			if err != nil {
				return err
			}
			f, err := part.Figure(kind)
			if err != nil {
				return err
			}
			return writeFigure(output, f, format)
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "which figure: "+strings.Join(figures.Kinds, ", ")+" (default: the first that there is)")
	plotOutput(cmd.Flags(), &output)
	cmd.AddCommand(plotRowsCommand(false), plotRowsCommand(true), plotStudyCommand())
	return newCommand(cmd)
}

// reportCommand makes a page of several files.
func reportCommand() *cobra.Command {
	var title, output string
	var options report.Options
	cmd := &cobra.Command{
		Use:   "report [flags] FILE... -o PAGE.html",
		Short: "Make one page to look at of what other commands wrote",
		Long: `Reads files that other commands wrote and makes one HTML page of them: the answer in a
sentence, warnings, figures with their numbers as tables. The page is one file that needs no
network and no script, in light and dark, on paper and on a phone. It has a part for each file:
see mars plot --help for which files there are. mars proportions, mars label and mars eval make
a page of their own answer with --report, and mars run one of a study.`,
		Example: `  mars report p.json e.json metrics.arrow -o report.html
  mars report trained.arrow study.csv --tsne -o report.html
  mars label --source a.csv --target b.csv --label y -o labels.csv --report labels.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usagef("say with -o where the page goes: a file named .html")
			}
			if err := checkPage(output); err != nil {
				return err
			}
			page := newPage(cmd, title)
			page.Command = "mars report " + quoted(append(slices.Clone(args), "-o", output))
			if options.TSNE {
				page.Command += " --tsne"
			}
			for _, path := range args {
				part, err := report.Open(cmd.Context(), path, options)
				if err != nil {
					return err
				}
				page.Parts = append(page.Parts, part)
			}
			return writePage(output, page)
		},
	}
	cmd.Flags().StringVar(&title, "title", "Report", "title of the page")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the page to this file, .html")
	cmd.Flags().BoolVar(&options.TSNE, "tsne", false, "lay the rows of streams out by t-SNE too, which takes seconds")
	return newCommand(cmd)
}

// newPage is a page that says what made it.
func newPage(cmd *cobra.Command, title string) *report.Page {
	return &report.Page{Title: title, Made: fmt.Sprintf("Made on %s by mars %s.", now().UTC().Format("2 January 2006, 15:04 MST"), Version()), Command: commandLine(cmd)}
}

// now is the time, or what SOURCE_DATE_EPOCH says that it is: the same work is to give the same bytes.
func now() time.Time {
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(seconds, 0)
	}
	return time.Now()
}

// inputsOf are the files that a command has read; nil if there are none.
func inputsOf(cmd *cobra.Command) *figures.Table {
	t := &figures.Table{Head: []string{"file", "as", "bytes", "last changed"}}
	add := func(path, as string) {
		for _, file := range tables.Files(cmd.Context(), path) {
			if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode().IsRegular() {
				t.Rows = append(t.Rows, []string{file, as, strconv.FormatInt(info.Size(), 10), info.ModTime().UTC().Format("2006-01-02 15:04 MST")})
			}
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if roleOf(f.Name).Reads() {
			add(f.Value.String(), "--"+f.Name)
		}
	})
	for _, path := range cmd.Flags().Args() {
		add(path, "rows")
	}
	if t.Rows == nil {
		return nil
	}
	return t
}

// commandLine is the command with the flags that were given.
func commandLine(cmd *cobra.Command) string {
	var words []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		words = append(words, "--"+f.Name)
		if text := flagText(f); f.Value.Type() != "bool" || text != "true" {
			words[len(words)-1] += "=" + text
		}
	})
	return strings.TrimSpace("mars " + strings.TrimPrefix(cmd.Name(), "mars-") + " " + quoted(append(words, cmd.Flags().Args()...)))
}

// quoted joins words as a shell takes them apart.
func quoted(words []string) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = pipeline.Quote(word)
	}
	return strings.Join(out, " ")
}

// pageFlag is --report of a command.
func pageFlag(f *pflag.FlagSet, path *string) {
	f.StringVar(path, "report", "", "make a page to look at of the answer too, in this HTML file")
}

// checkPage reports before the work what is wrong with the file of a page; "" is none.
func checkPage(path string) error {
	switch ending := strings.ToLower(filepath.Ext(path)); {
	case path == "":
		return nil
	case ending != ".html" && ending != ".htm":
		return usagef("%s: a page is HTML: name it .html", path)
	}
	return arrowio.CheckOutput(path, arrowio.WriteOptions{})
}

// pageOf writes the page of answers; "" is none.
func pageOf(cmd *cobra.Command, path string, err error, parts ...*report.Part) error {
	if err != nil {
		return fmt.Errorf("--report %s: %w", path, err)
	}
	title := parts[0].Title
	lines, warnings := heardOf(cmd)
	if len(parts) == 1 {
		parts[0].Hear(warnings)
	} else {
		title = fmt.Sprintf("%d targets", len(parts))
	}
	page := newPage(cmd, title)
	page.Parts, page.Inputs = parts, inputsOf(cmd)
	page.Log = slices.DeleteFunc(lines, func(line string) bool { return line == parts[0].Lead })
	return writePage(path, page)
}

func writePage(path string, page *report.Page) error {
	return atomicfile.Write(path, page.Write)
}
