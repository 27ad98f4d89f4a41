package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/featurize/shift"
	"mars.dev/mars/stages/featurize/toy"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/image"
)

// Featurize is the command of the stage that reads raw data.
func Featurize() *cobra.Command {
	var o featurizeFlags
	cmd := &cobra.Command{
		Use:   "mars-featurize",
		Short: "Turn raw data of two domains into an Arrow stream",
		Long: `Reads labelled rows (--source) and rows to label (--target) from files of
` + tables.Formats("and") + `,
compressed or not, in any mix, and from folders of JPEG and PNG files, and writes one stream with the columns id,
domain, label and features. A target's labels are written only with --truth, as the column truth. No stage learns from it: mars-eval compares with it, and so do
mars-reweight --estimator oracle and mars proportions --truth.

One table may hold both domains: --domain-column names the column that says which domain a
row is of. Rows of other values are left out.

Several files are one table: --target day-1.csv --target day-2.parquet, or --target 'day-*.csv',
whose files are read in the order of their names. Columns are matched by name, and ids have to
be unique in all of them. --file-column file says in a column which file a row is from.

In npz archives and MATLAB files the members X and y are read; other names are given in the
path, as in data.npz:images,labels. IDX labels are found beside their images, or given with
--source-labels. In a folder of images the label of an image is the folder that it is in,
such as 7 for digits/7/a.png, and its id is its path within the folder. A table may name images
too: --image-column path says which column has their paths, from the table's folder. Images of
several sizes need --resize; a target's get the size of the source's.`,
		Example: `  mars-featurize toy --setting mid --shift 8 --target-proportions 0.66,0.17,0.17 --truth -o toy.arrow
  mars-featurize --source patients.csv --target new.csv --label celltype --standardize source -o cells.arrow
  mars-featurize --source both.csv --domain-column batch --source-domain old --target-domain new --label celltype -o cells.arrow
  mars-featurize --source images.csv --image-column path --label class --target scans/ --resize 64 --crop 64 -o images.arrow
  mars-featurize --source usps.npz --source-resize 20 --source-pad 4 --target t10k-images-idx3-ubyte.gz -o digits.arrow`,
		Args: cobra.NoArgs,
	}
	c := newCommon(cmd, "mars-featurize")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		options, err := o.options()
		if err != nil {
			return err
		}
		if err := c.check(); err != nil {
			return err
		}
		return c.write(cmd, func(ctx context.Context, env stages.Env, out arrowio.Sink) error {
			keepInputs(ctx, &env, options)
			return featurize.Files(ctx, env, options, out)
		})
	}
	o.register(cmd.Flags())
	c.outputFlags(cmd.Flags())
	c.runFlags(cmd.Flags())
	cmd.AddCommand(toyCommand())
	return newCommand(cmd)
}

// sideFlags are those of one domain, as far as they are not of both.
type sideFlags struct {
	featurize.SideOptions
	resize string
}

// featurizeFlags are the options, and what is still to be parsed and to be put into them.
type featurizeFlags struct {
	featurize.Options
	source, target sideFlags
	how            tables.Options         // of both domains' files
	images         featurize.ImageOptions // of both domains

	separator, decimal, thousands     string
	missing, missingLabels, badImages string
	resize, crop, shape               string
	explain                           bool
}

func (o *featurizeFlags) register(f *pflag.FlagSet) {
	o.registerFiles(f)
	f.StringVar(&o.Save, "save", "", "keep what was learnt and done (moments, image steps, classes) in this file")
	f.StringVar(&o.Preview.Path, "augment-preview", "", "show in this PNG file what random changes do to images of both domains: each as it is, then changed")
	f.StringVar(&o.Preview.Augment, "augment", "auto", "random changes that --augment-preview shows; the rows stay as they are (see mars-train --augment)")
	f.StringVar(&o.Load, "load", "", "do to these files what was done in the run that saved this file")
}

// registerFiles registers what says what to read and what to make of it.
func (o *featurizeFlags) registerFiles(f *pflag.FlagSet) {
	f.Var((*fileList)(&o.source.Path), "source", "file with the labelled rows, or several (again, or a pattern such as 'day-*.csv'), or folder of images in a folder for each class")
	f.Var((*fileList)(&o.target.Path), "target", "file with the rows to label, or several, or folder of images")
	f.Var((*fileList)(&o.source.Format.Labels), "source-labels", "file with the labels of --source, where they are apart; one for each of several")
	f.Var((*fileList)(&o.target.Format.Labels), "target-labels", "file with the labels of --target (for --truth and --target-proportions)")
	o.registerFileColumn(f)
	f.StringVar(&o.how.Label, "label", "", "label column of a table (default \"label\")")
	f.StringSliceVar(&o.Levels, "levels", nil, "label columns of several levels of classes, the coarsest first, such as kind,type: the last is what is learnt, and the others follow from it")
	f.StringVar(&o.Tree, "tree", "", "table that says the same where the source has the finest labels alone: a column a level, the coarsest first, and a row for each class")
	o.missingLabels = "error"
	f.Var(oneOf{&o.missingLabels, []string{"error", "drop"}}, "missing-labels", "what to do about source rows without a label: refuse them, or leave them out")
	f.BoolVar(&o.how.LabelFromFile, "label-from-file", false, "each file has the rows of one class, which its name is, without folder and endings: cat for features/cat.npy")
	f.StringVar(&o.source.Format.Batch, "batch-column", "", "column of the source's tables that says which labelled batch a row is of (patient, day, laboratory): classifiers are then judged on batches that they have not seen")
	f.BoolVar(&o.BatchFiles, "batch-files", false, "the same, where each file of --source is a batch")
	o.registerID(f)
	f.StringSliceVar(&o.how.Columns, "columns", nil, "feature columns of a table, in order, or patterns such as 'm*' (default: all that say something, or the one column of vectors)")
	f.StringSliceVar(&o.how.Exclude, "exclude", nil, "columns that are no features, or patterns such as 'x*'")
	o.registerMixed(f)
	f.StringVar(&o.Domain, "domain-column", "", "column of one table that says which domain a row is of; --target may then be left out")
	f.StringSliceVar(&o.source.Domains, "source-domain", nil, "values of --domain-column in source rows (default \"source\")")
	f.StringSliceVar(&o.target.Domains, "target-domain", nil, "values of --domain-column in target rows (default \"target\")")
	o.registerText(f)
	f.StringSliceVar(&o.Classes, "classes", nil, "keep only rows of these classes, numbered in this order")
	f.BoolVar(&o.Truth, "truth", false, "write the target's labels as truth, to compare with")

	f.StringVar(&o.source.Proportions, "source-proportions", "", "draw source rows so that the classes have these shares: 0.5,0.3,0.2 or a=0.7,b=0.3; random: drawn by the seed, all alike probable")
	f.StringVar(&o.target.Proportions, "target-proportions", "", "the same for target rows, by labels that are not written")
	f.StringVar(&o.source.Fractions, "source-fractions", "", "keep these fractions of the rows of each class, before any are drawn: 0.3,0.8,1 or a=0.3 (all of the others)")
	f.StringVar(&o.target.Fractions, "target-fractions", "", "the same for target rows, by labels that are not written")
	countVar(f, &o.source.Rows, "source-rows", 0, 0, "number of source rows to draw (0: all, or the most the proportions allow)")
	countVar(f, &o.target.Rows, "target-rows", 0, 0, "number of target rows to draw")
	countVar(f, &o.source.MaxRows, "max-source-rows", 0, 0, "draw so many source rows, or all that there are (0: no limit)")
	countVar(f, &o.target.MaxRows, "max-target-rows", 0, 0, "the same for target rows")

	f.BoolVar(&o.Disjoint, "disjoint", false, "draw target rows that the source has not drawn, where both are from one file")

	f.StringVar(&o.shape, "shape", "", "shape of flat images, CxHxW")
	f.BoolVar(&o.images.Raw, "raw", false, "keep integer pixels as they are (default: divide by their largest value)")
	o.registerImageColumn(f)
	f.BoolVar(&o.images.Grey, "grey", false, "make images of both domains grey")
	f.StringVar(&o.resize, "resize", "", "then resize images of both domains to HxW, bilinear with antialiasing; one number is a square, or with --crop the shorter side")
	f.StringVar(&o.source.resize, "source-resize", "", "resize images of the source alone")
	f.StringVar(&o.target.resize, "target-resize", "", "resize images of the target alone (default: pictures of other sizes than the source's get that)")
	f.StringVar(&o.crop, "crop", "", "then cut HxW out of the centre of images of both domains")
	countVar(f, &o.images.Pad, "pad", 0, 0, "then surround images of both domains with so many pixels of 0")
	countVar(f, &o.source.Images.Pad, "source-pad", 0, 0, "pad images of the source alone")
	countVar(f, &o.target.Images.Pad, "target-pad", 0, 0, "pad images of the target alone")
	f.BoolVar(&o.source.Images.Binarise, "source-binarise", false, "then make every pixel of source images above 0 a 1")
	f.BoolVar(&o.target.Images.Binarise, "target-binarise", false, "the same for target images")
	f.StringVar(&o.source.Images.Photographs, "source-photographs", "", "blend source images with patches of the photographs in this folder")
	f.StringVar(&o.target.Images.Photographs, "target-photographs", "", "the same for target images: with --target-binarise makes MNIST-M of MNIST")
	f.BoolVar(&o.images.Colour, "colour", false, "repeat the channel of grey images three times")

	o.registerScaling(f)
}

// registerScaling registers what is done to numbers.
func (o *featurizeFlags) registerScaling(f *pflag.FlagSet) {
	f.BoolVar(&o.Transform.Log1p, "log1p", false, "replace numbers x by log(1 + x), as counts and concentrations need it")
	f.Var(amount{&o.Transform.Cofactor, math.MaxFloat32, true}, "arcsinh", "replace numbers x by asinh(x / this cofactor), as in cytometry: 5 for mass, 150 for fluorescence")
	f.Var(oneOf{&o.Standardize, []string{"none", "source", "domain"}}, "standardize", "bring features to mean 0 and deviation 1, by the source's moments or each domain's own (default none; source if --scale is given)")
	o.Scale = scale.Moments
	f.Var(oneOf{(*string)(&o.Scale), scales()}, "scale", "how --standardize scales: by mean and deviation, by median and interquartile range (robust), or to normal scores (quantile)")
}

// scales are the values of --scale.
func scales() (names []string) {
	for _, m := range scale.Methods {
		names = append(names, string(m))
	}
	return names
}

// checkScaling checks what is done to numbers.
func (o *featurizeFlags) checkScaling() error {
	if o.Transform.Log1p && o.Transform.Cofactor > 0 {
		return usagef("--log1p and --arcsinh: give one of them")
	}
	if o.Standardize == "none" && o.Scale != scale.Moments {
		return usagef("--scale %s says how --standardize scales: leave --standardize none out", o.Scale)
	}
	return nil
}

// changesNumbers reports whether numbers are to be changed.
func (o *featurizeFlags) changesNumbers() bool {
	return !o.Transform.None() || o.Scale != scale.Moments || o.Standardize != "" && o.Standardize != "none"
}

// registerMixed registers what becomes of columns that are no complete numbers.
func (o *featurizeFlags) registerMixed(f *pflag.FlagSet) {
	f.StringSliceVar(&o.how.Categorical, "categorical", nil, "columns of numbers that are categories, or patterns")
	countVar(f, &o.Mixed.MaxCategories, "max-categories", featurize.DefaultMaxCategories, 2, "make a feature of each value of a category, up to so many; more values share so many features, by a hash")
	o.missing = "impute"
	f.Var(oneOf{&o.missing, []string{"impute", "error"}}, "missing", "what to do about missing values: fill in the source's median or most frequent value, or refuse them")
	o.Mixed.Indicator = 0.05
	amountVar(f, &o.Mixed.Indicator, "missing-indicator", 1, "add a feature that says which values were missing if more than this share of the source's are")
	countVar(f, &o.how.Hash, "hash-features", 0, 0, fmt.Sprintf("hash the features of svmlight files to so many (default: as they are up to %d, else %d)", tables.MaxHash, tables.DefaultHash))
	f.BoolVar(&o.explain, "explain", false, "print on standard error what became of each column of a table")
}

func (o *featurizeFlags) registerImageColumn(f *pflag.FlagSet) {
	f.StringVar(&o.Image, "image-column", "", "column of a table with the paths of images, as they are from where the table is: the rows are these images")
	o.badImages = "error"
	f.Var(oneOf{&o.badImages, []string{"error", "skip"}}, "bad-images", "what to do about images of files that cannot be read: refuse them, or leave them out and count them")
}

func (o *featurizeFlags) registerID(f *pflag.FlagSet) {
	f.StringVar(&o.how.ID, "id", "", "identity column of a table (default \"id\", else row numbers)")
}

func (o *featurizeFlags) registerFileColumn(f *pflag.FlagSet) {
	f.StringVar(&o.FileColumn, "file-column", "", "add a column of this name with the file that each row is from")
}

// registerText registers what says how tables and FCS files are written.
func (o *featurizeFlags) registerText(f *pflag.FlagSet) {
	o.registerTables(f)
	f.BoolVar(&o.how.Compensate, "compensate", false, "take the spillover between channels out of FCS files, by the matrix that each has")
}

// registerTables registers what says how tables are written.
func (o *featurizeFlags) registerTables(f *pflag.FlagSet) {
	f.StringVar(&o.separator, "separator", "", "field separator of text tables, such as ' ' (default: by each file's name and header)")
	f.Var(oneOf{&o.decimal, []string{".", ","}}, "decimal", "decimal mark of the numbers in text tables (default: as each file's first rows are written)")
	o.how.Encoding = tables.Encodings[0]
	f.StringVar(&o.thousands, "thousands", "", "character between thousands in the numbers of text tables, such as , or ' '")
	f.StringVar(&o.how.Comment, "comment", "", "lines of text tables that begin with this are left out, such as '#'")
	countVar(f, &o.how.SkipLines, "skip-lines", 0, 0, "lines of text tables before the header to leave out")
	f.BoolVar(&o.how.NoHeader, "no-header", false, "text tables have no header: their columns are c1, c2, …")
	f.Var(encodingName{oneOf{&o.how.Encoding, tables.Encodings}}, "encoding", "character encoding of text tables: utf-8, latin1, windows-1252, utf-16, or another such as koi8-r, shift_jis or gb18030 (docs/formats.md)")
}

// encodingName is one of so many names that help does not list them.
type encodingName struct{ oneOf }

func (encodingName) Type() string { return "string" }

// text is what the flags say of tables.
func (o *featurizeFlags) text() (tables.Options, error) {
	f := o.how
	f.SkipPictures = o.badImages == "skip"
	if o.decimal != "" {
		f.Decimal = o.decimal[0]
	}
	if o.thousands != "" {
		mark := []rune(o.thousands)
		if len(mark) != 1 || strings.ContainsAny(o.thousands, "0123456789+-eE\"\r\n") || o.thousands == cmp.Or(o.decimal, ".") {
			return f, usagef("--thousands %q: want one character that is no digit, no sign and not the decimal mark", o.thousands)
		}
		f.Thousands = mark[0]
	}
	var err error
	f.Separator, err = o.parseSeparator()
	return f, err
}

// written is how tables are written, without what they hold, which a model knows.
func (o *featurizeFlags) written() (tables.Options, error) {
	f, err := o.text()
	f.Columns, f.Exclude, f.Categorical, f.Hash, f.Label, f.LabelFromFile = nil, nil, nil, 0, "", false
	return f, err
}

// completeSides says that one file holds both domains, if one is given and a column tells
// them apart.
func (o *featurizeFlags) completeSides() error {
	if o.Domain == "" {
		if o.source.Domains != nil || o.target.Domains != nil && o.target.Column == "" {
			return usagef("--source-domain and --target-domain are values of a column: name it with --domain-column")
		}
		return nil
	}
	if o.target.Path == "" && o.source.Path != "" {
		o.target.Path, o.target.Stream = o.source.Path, o.source.Stream
	}
	for _, value := range o.source.Domains {
		if o.source.Path == o.target.Path && slices.Contains(o.target.Domains, value) {
			return usagef("--source-domain and --target-domain both name %q: a row is of one domain", value)
		}
	}
	return nil
}

// checkLevels makes the last level the label.
func (o *featurizeFlags) checkLevels() error {
	switch n := len(o.Levels); {
	case n == 0:
		return nil
	case o.Tree != "":
		return usagef("--levels and --tree say the same: give one of them")
	case n == 1:
		return usagef("--levels %s is one level, which --label says: give two or more, the coarsest first", o.Levels[0])
	case o.how.LabelFromFile || o.source.Format.Labels != "":
		return usagef("--levels are columns of the source, whose labels are elsewhere: say with --tree which class is part of which")
	case o.how.Label != "" && o.how.Label != o.Levels[n-1]:
		return usagef("--label %s: with --levels the last level, %s, is what is learnt: leave --label out, or put %s last", o.how.Label, o.Levels[n-1], o.how.Label)
	}
	o.how.Label = o.Levels[len(o.Levels)-1]
	return nil
}

func (o *featurizeFlags) options() (featurize.Options, error) {
	options := o.Options
	options.DropUnlabelled = o.missingLabels == "drop"
	options.Mixed.RefuseMissing = o.missing == "error"
	if o.explain {
		options.Mixed.Explain = os.Stderr
	}
	if err := errors.Join(o.completeSides(), o.checkScaling()); err != nil {
		return options, err
	}
	if o.Preview.Path == "" && o.Preview.Augment != "auto" && o.Preview.Augment != "" {
		return options, usagef("--augment is what --augment-preview shows: name its file, or give --augment to mars-train")
	}
	if o.source.Path == "" && o.target.Path == "" {
		return options, usagef("there is nothing to read: give --source FILE, --target FILE or both, or use 'toy'")
	}
	if o.Image != "" && (o.how.Columns != nil || o.how.Exclude != nil || o.how.Categorical != nil) {
		return options, usagef("--image-column: the pixels of the images are the features: leave --columns, --exclude and --categorical out")
	}
	if o.Load != "" && (o.shape+o.resize+o.source.resize+o.target.resize+o.crop != "" || o.images.Grey || o.images.Pad+o.source.Images.Pad+o.target.Images.Pad > 0 ||
		o.source.Images.Binarise || o.target.Images.Binarise || o.images.Colour || o.images.Raw || o.how.Hash > 0 || o.changesNumbers() || o.Save != "" || o.Classes != nil) {
		return options, usagef("--load brings shape, image steps, classes, transformation and standardisation with it: leave their flags and --save out")
	}
	if err := o.checkLevels(); err != nil {
		return options, err
	}
	if o.BatchFiles && o.source.Format.Batch != "" {
		return options, usagef("--batch-column and --batch-files: give one of them")
	}
	var err error
	if options.Source, err = o.side("source", o.source); err != nil {
		return options, err
	}
	options.Target, err = o.side("target", o.target)
	return options, err
}

func (o *featurizeFlags) side(name string, s sideFlags) (featurize.SideOptions, error) {
	side := s.SideOptions
	var err error
	if side.Format, err = o.text(); err != nil {
		return side, err
	}
	side.Format.Labels, side.Format.FileColumn, side.Format.Batch = s.Format.Labels, o.FileColumn, s.Format.Batch
	side.Images = o.images
	side.Images.Binarise, side.Images.Photographs = s.Images.Binarise, s.Images.Photographs
	if s.Images.Pad > 0 {
		side.Images.Pad = s.Images.Pad
	}
	if hash := o.how.Hash; hash == 1 || hash > tables.MaxHash {
		return side, usagef("--hash-features %d: want a number from 2 to %d", hash, tables.MaxHash)
	}
	if o.how.LabelFromFile && (o.how.Label != "" || s.Format.Labels != "") {
		return side, usagef("--label-from-file says where labels are: leave --label and --%s-labels out", name)
	}
	if side.Rows > 0 && side.MaxRows > 0 {
		return side, usagef("--%s-rows and --max-%s-rows: give one of them", name, name)
	}
	if o.shape != "" {
		shape, err := stages.ParseShape(o.shape)
		if err != nil {
			return side, usagef("--shape: %w", err)
		}
		side.Images.Shape = shape
	}
	size := o.resize
	if s.resize != "" {
		size = s.resize
	}
	side.Images.Fit, err = parseFit(size, o.crop)
	side.Images.Grey = o.images.Grey
	return side, err
}

// parseFit reads the sizes of --resize and --crop. As for torchvision one number to resize
// to is the shorter side, where the rest is cut off.
func parseFit(resize, crop string) (f image.Fit, err error) {
	if f.CropHeight, f.CropWidth, err = parseSize(crop); err != nil {
		return f, err
	}
	f.Height, f.Width, err = parseSize(resize)
	if crop != "" && !strings.Contains(resize, "x") {
		f.Shorter, f.Height, f.Width = f.Height, 0, 0
	}
	return f, err
}

// parseSeparator returns the separator of text tables, 0 if none is given.
func (o *featurizeFlags) parseSeparator() (rune, error) {
	if o.separator == "" {
		return 0, nil
	}
	separator := []rune(strings.ReplaceAll(o.separator, `\t`, "\t"))
	if len(separator) != 1 || strings.ContainsRune("\"\r\n\ufffd", separator[0]) || separator[0] == 0 {
		return 0, usagef("--separator %q: want one character, but no quote and no end of line", o.separator)
	}
	return separator[0], nil
}

// parseSize reads 28x20, or 28 for a square.
func parseSize(text string) (height, width int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	h, w, both := strings.Cut(text, "x")
	if !both {
		w = h
	}
	height, errH := strconv.Atoi(h)
	width, errW := strconv.Atoi(w)
	if errH != nil || errW != nil || height < 1 || width < 1 || height > image.MaxSide || width > image.MaxSide {
		return 0, 0, usagef("%q is no size: write height and width as in 28x28, or one number for a square", text)
	}
	return height, width, nil
}

func toyCommand() *cobra.Command {
	var t toyFlags
	cmd := &cobra.Command{
		Use:   "toy",
		Short: "Make the paper's toy problem: three Gaussian classes in the plane",
		Long: `The source's classes are balanced. The target's centres are moved by --shift and its
balance is --target-proportions. The settings low, mid and high say how wide the classes
are; 0 to 6 are the paper's experiments, which fix the balance (0, 1, 2 and 5 vary --shift)
or the shift (3, 4 and 6 vary --imbalance).`,
		Example: `  mars-featurize toy --setting mid --shift 8 --target-proportions 0.66,0.17,0.17 --truth -o toy.arrow
  mars-featurize toy --setting 4 --imbalance 5 --truth --seed 1 -o toy4.arrow`,
		Args: cobra.NoArgs,
	}
	t.common = newCommon(cmd, "mars-featurize")
	cmd.RunE = t.run
	f := cmd.Flags()
	f.StringVar(&t.setting, "setting", "mid", "width of the classes (low, mid, high) or number of the paper's experiment (0 to 6)")
	f.Float64Var(&t.shift, "shift", 0, "how far the target's centres move, in the paper 0 to 11")
	f.Float64Var(&t.imbalance, "imbalance", 0, "how far experiments 3, 4 and 6 favour the first class, 0 to 10")
	f.StringVar(&t.source, "source-proportions", "", "class balance of the source, or random (default 0.33,0.33,0.34)")
	f.StringVar(&t.target, "target-proportions", "", "class balance of the target, or random (default 0.33,0.33,0.34)")
	countVar(f, &t.options.SourceRows, "source-rows", toy.DefaultRows, 0, "number of source rows")
	countVar(f, &t.options.TargetRows, "target-rows", toy.DefaultRows, 0, "number of target rows")
	f.BoolVar(&t.truth, "truth", false, "write the target's classes as truth, to compare with")
	f.BoolVar(&t.options.PublishedCodeVariances, "published-code-variances", false, "let the second axis have variance 0, as the authors' program does")
	t.common.outputFlags(f)
	t.common.runFlags(f)
	return newCommand(cmd)
}

// toyFlags say how to make the toy problem.
type toyFlags struct {
	common           *common
	setting          string
	shift, imbalance float64
	source, target   string // class balance
	truth            bool
	options          toy.Options
}

func (t *toyFlags) run(cmd *cobra.Command, _ []string) error {
	if err := t.common.check(); err != nil {
		return err
	}
	if err := t.checkOptions(cmd); err != nil {
		return err
	}
	return t.common.write(cmd, func(ctx context.Context, env stages.Env, out arrowio.Sink) error {
		o := t.options
		err := errors.Join(drawToyProportions(env, arrowio.SourceDomain, t.source, &o.SourceProportions),
			drawToyProportions(env, arrowio.TargetDomain, t.target, &o.TargetProportions))
		if err != nil {
			return err
		}
		return featurize.Toy(ctx, env, o, t.truth, out)
	})
}

// checkOptions checks the flags and sets the options by them.
func (t *toyFlags) checkOptions(cmd *cobra.Command) error {
	const (
		most      = 100_000_000 // they are kept
		mostShift = 1e6         // beyond it a float32 has no room for the classes' widths
	)
	o := &t.options
	if o.SourceRows > most || o.TargetRows > most {
		return usagef("--source-rows %d, --target-rows %d: want at most %d of each", o.SourceRows, o.TargetRows, most)
	}
	if !(math.Abs(t.shift) <= mostShift) {
		return usagef("--shift %g: want a number from -%g to %g", t.shift, mostShift, mostShift)
	}
	imbalanced := slices.Contains([]string{"3", "4", "6"}, t.setting)
	if cmd.Flags().Changed("imbalance") && !imbalanced {
		return usagef("--imbalance is for --setting 3, 4, 6: leave it out")
	}
	o.Noise, o.Shift = toy.Noise(t.setting), t.shift
	if n, err := strconv.Atoi(t.setting); err == nil {
		parameter := t.shift
		if imbalanced {
			parameter = t.imbalance
		}
		s, err := toy.Setting(n, parameter)
		if err != nil {
			return usageError{err}
		}
		o.Noise, o.Shift, o.SourceProportions, o.TargetProportions = s.Noise, s.Shift, s.SourceProportions, s.TargetProportions
	}
	if err := errors.Join(parseToyProportions(t.source, &o.SourceProportions), parseToyProportions(t.target, &o.TargetProportions)); err != nil {
		return usageError{err}
	}
	return nil
}

// toyClasses are the names of the toy's classes.
var toyClasses = []string{"0", "1", "2"}

func parseToyProportions(text string, p *[]float64) (err error) {
	if text != "" && text != shift.Random {
		*p, err = shift.ParseProportions(text, toyClasses)
	}
	return err
}

// drawToyProportions draws the proportions if they are to be random.
func drawToyProportions(env stages.Env, domain arrowio.Domain, text string, p *[]float64) error {
	if text != shift.Random {
		return nil
	}
	return parseToyProportions(featurize.DrawProportions(env, domain, toyClasses, nil), p)
}
