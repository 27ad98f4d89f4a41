package tables

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables/image"
)

// Options say what to read from an input. The zero value reads features and
// labels under their usual names.
type Options struct {
	// Labels is a file with the labels, if they are not in the input: an array, a table of one
	// column, or of several of which Label is one, one label for each row. If the input is a file of IDX images
	// called …images-idx3… and there is a file …labels-idx1… next to it, that
	// is the default.
	Labels string

	// NoLabels reads no labels at all, as for target rows whose truth is not
	// needed. The label column is still not a feature.
	NoLabels bool

	// X and Y are the members of an npz archive with features and labels. If X
	// is empty, they are "X" and, if the archive has it, "y". If only X is
	// named, no labels are read, because y may belong to other rows. A path may
	// name them too: data.npz:X_test,y_test, or labels.npz:y_test for Labels.
	X, Y string

	// Columns are the feature columns of a table, in order. They hold numbers
	// or, in Parquet and Arrow, lists of numbers of one length. If empty, they
	// are the only column of lists, or else all columns of numbers except label,
	// id, truth, and columns without a name, which hold row numbers.
	Columns []string

	// Exclude are the names of columns that are no features, or patterns such as m*, as
	// Columns may be too.
	Exclude []string

	// Mixed reads columns of text and dates and cells without a value too, and Fields of
	// the Table says what its columns are. Without it columns of text are skipped, and a
	// missing value is an error.
	Mixed bool

	// Categorical are names or patterns of columns of numbers that are categories.
	Categorical []string

	// Fields are the columns to read, as a Table that was read before has them: they take
	// the place of Columns and Categorical. nil: they are found.
	Fields []Field
	// Centres are taken off the numbers of the columns before they become float32, as the
	// Fields of columns have them too: they are those of a Table that was read before. nil: they
	// are found by the first rows, unless Whole or Learnt says that there are none.
	Centres []float64
	// Whole reads numbers as they are: what is to be done with them is no matter of differences.
	Whole bool
	// Lacking is asked where columns of Columns or Fields are missing: it may change the
	// options and say true, so that others are read. It is asked before the first row, so
	// that inputs which can be read but once need not be opened again. nil: it is an error.
	Lacking func(*Options, *MissingColumns) bool
	// growing says that Fields are of a file before: values that their categories lack are
	// appended.
	growing bool

	// Label and ID are the label and identity columns of a table. If empty,
	// they are "label" and "id", if the table has these.
	Label, ID string

	// Times says that Label is a column of times, whose values are left as they are.
	Times bool

	// Learnt says that a model has settled the columns: no message says to choose others.
	Learnt bool

	// LabelFromFile labels each row by its file: the name without folder and endings.
	LabelFromFile bool

	// OptionalID reads no identities if a table lacks the column ID, and OptionalLabel no
	// labels if it lacks Label.
	OptionalID, OptionalLabel bool

	// Image is a column with the paths of pictures, from the folder of the table's file: rows
	// are these, and no column is a feature. Only tables have columns. "": none has.
	Image string

	// Batch is a column that says which batch a row is of: a patient, a day, a laboratory. It is no
	// feature. Only tables have columns. "": none does.
	Batch string

	// Levels are columns that say of which class a row is at each coarser level, the coarsest first.
	// They are no features. Only tables have columns. OptionalLevels leaves out those that a table lacks.
	Levels         []string
	OptionalLevels bool

	// Fit brings pictures of a folder or a column Image to one size; Part.Fit where Domain says
	// of which part a row is.
	Fit image.Fit

	// SkipPictures leaves out pictures that cannot be read, and says how many in Doubt.
	SkipPictures bool

	// Colour gives pictures three channels though all be grey.
	Colour bool

	// Domain is a column, or a member of an npz archive, that says which of Parts a row
	// is of; rows of none are left out. "": all rows are one part.
	Domain string
	Parts  []Part

	// Separator separates the fields of a text table. 0 means a tab for .tsv,
	// otherwise the most frequent of comma, semicolon, tab and | in the header.
	Separator rune

	// Decimal is the decimal mark of the numbers in text, '.' or ','.
	Decimal byte

	// Thousands is the character between the thousands of numbers in text, 0 for none. If it and
	// Decimal are 0, the first rows of delimited text say how its numbers are written.
	Thousands rune

	// Comment is what lines of text tables begin with that are no rows; "": there are none.
	Comment string

	// SkipLines is how many lines a text table has before its header.
	SkipLines int

	// NoHeader says that text tables have no header: their columns are c1, c2, ….
	NoHeader bool

	// Encoding is that of text, one of Encodings; "" is UTF-8.
	Encoding string

	// Compensate takes the spillover of channels, by the matrix in the file, out of FCS
	// files. Other formats have none.
	Compensate bool

	// Compensated says that what was learnt on was compensated, so that FCS files are; other
	// formats are taken to be.
	Compensated bool

	// Panel names the channels of FCS files, and those alone that it has are features, if none are
	// named. nil: they have their own names.
	Panel *Panel

	// Hash is how many features the indices of svmlight rows are hashed to. 0: DefaultHash if
	// there are too many, or as many as the names in Columns or Fields say.
	Hash int

	// Memory is what reading and the table may take; nil: as much as the process may have.
	Memory *arrowio.Budget

	// only says which columns Columns and EachBatch need of a format that can read some
	// alone; nil: all.
	only func(arrow.Field) bool
	// left are columns that are no features unless they are named, and why.
	left map[string]string
	hint string // see MissingColumns.Hint
	// lists says that columns of lists, and of whatever else is nested, are columns too.
	lists bool

	// FileColumn is the name of a column with the path of each row's file, which Columns
	// and EachBatch have beside those of the table; "" for none.
	FileColumn string

	// Each is given the rows block by block as they are read, without labels and
	// identities, and the table of all has no Features.Data; nil: it has. Only what HasBlocks can be read so, as one part.
	Each func(*Table) error

	// EachNames gives the blocks of Each the labels and identities of their rows. Whether
	// identities are unique, and labels there, is not checked.
	EachNames bool

	// OnlyIDs reads the identities alone, if there are any, and not a row if there are
	// none: only what HasBlocks. The columns are still checked.
	OnlyIDs bool
}

// blockValues is the approximate number of features of a block that Options.Each gets; a
// variable for tests.
var blockValues = 1 << 18

// HasBlocks reports whether the rows of a path can be read block by block, as often as
// one likes: those of formats with columns, in regular files.
// It is true too if ctx has ended: whoever reads on gets that error.
func HasBlocks(ctx context.Context, path string, o Options) bool {
	paths, err := Expand(path)
	return err == nil && !slices.ContainsFunc(paths, func(path string) bool { return !hasBlocksIn(ctx, path, o) })
}

func hasBlocksIn(ctx context.Context, path string, o Options) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	in, err := newInput(ctx, f, path, o)
	if err != nil {
		return ctx.Err() != nil
	}
	defer in.reading.Close()
	return in.format.hasColumns()
}

// noLabels reports whether no part is to have labels.
func (o Options) noLabels() bool {
	return !slices.ContainsFunc(o.parts(), func(p Part) bool { return !p.NoLabels })
}

// Open reads the table in a file, the JPEG and PNG files in a folder, or standard
// input if path is "-". Pictures in folders of the first level have their folder as
// label. After the path of an npz archive there may be a colon and the names of
// members: that of the features, or those of features and labels with a comma between.
// Errors are those of Read.
func Open(ctx context.Context, path string, o Options) (*Table, error) {
	return first(OpenParts(ctx, path, o))
}

func first(tables []*Table, err error) (*Table, error) {
	if err != nil {
		return nil, err
	}
	return tables[0], nil
}

// OpenParts reads a table for each of the options' Parts, in one pass. A path may name
// several files, see Expand: their rows follow one another.
func OpenParts(ctx context.Context, path string, o Options) ([]*Table, error) {
	paths, err := Expand(path)
	if err != nil {
		return nil, err
	}
	if len(paths) > 1 {
		return openSeveral(ctx, path, paths, o)
	}
	return openFile(ctx, paths[0], o)
}

// openFile reads one file, or standard input.
func openFile(ctx context.Context, path string, o Options) ([]*Table, error) {
	if o.LabelFromFile {
		return openClass(ctx, path, o)
	}
	if each := o.Each; each != nil {
		o.Each = func(t *Table) error {
			t.Name = path
			return each(t)
		}
	}
	if path == "-" {
		return readParts(ctx, arrowio.StandardInput(), StandardInput, o)
	}
	path, inner, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	if inner != "" {
		o.X, o.Y, _ = strings.Cut(inner, ",")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, absent(path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		t, err := readFolder(ctx, path, o)
		return []*Table{t}, err
	}
	if o.Labels == "" && !o.noLabels() {
		o.Labels = neighbour(path)
	}
	return readParts(ctx, f, path, o)
}

// StandardInput is the name of that input.
const StandardInput = "standard input"

// absent explains that there is no such file.
func absent(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && isURL(path) {
		return fmt.Errorf("%s: is a URL, and files are read from this machine: download it first", path)
	}
	return fmt.Errorf("%w: check the path", err)
}

func isURL(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	return found && len(scheme) > 1 && !strings.ContainsAny(scheme, "/.")
}

// Read reads the table in r, an input of any kind. name is the input's name in
// messages; if its extension is that of a known kind, it must be the right one.
// Archives and Parquet files need random access. If r does not allow it, they
// are held in memory. It returns ctx.Err() if ctx ends.
func Read(ctx context.Context, r io.Reader, name string, o Options) (*Table, error) {
	return first(readParts(ctx, r, name, o))
}

// readParts is Read for each of the options' Parts.
func readParts(ctx context.Context, r io.Reader, name string, o Options) ([]*Table, error) {
	t, err := readInput(ctx, r, name, o)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // rather than what the reader of a format makes of it
	}
	return t, err
}

// FromStream reads the tables of a stream of Arrow batches.
func FromStream(ctx context.Context, in arrowio.Stream, o Options) ([]*Table, error) {
	if o.Memory == nil {
		o.Memory = arrowio.NewBudget(0)
	}
	tables, err := readBatches(ctx, in.Schema(), in.Next, nil, o, o.Memory)
	if err == nil {
		err = readListed(ctx, tables, "", o)
	}
	if err != nil {
		return nil, named(in.Name(), err)
	}
	return tables, complete(ctx, tables, in.Name(), o)
}

func readInput(ctx context.Context, r io.Reader, name string, o Options) ([]*Table, error) {
	if o.Memory == nil {
		o.Memory = arrowio.NewBudget(0)
	}
	in, err := newInput(ctx, r, name, o)
	if err != nil {
		return nil, named(name, err)
	}
	return readOpened(ctx, in, name, o)
}

// readOpened is readInput of an input of which the kind is known.
func readOpened(ctx context.Context, in *input, name string, o Options) ([]*Table, error) {
	if o.Memory == nil {
		o.Memory = in.mem
	}
	defer in.reading.Close()
	if o.Batch != "" && !in.format.hasColumns() {
		return nil, fmt.Errorf("%s: is %s, which has no column %q: give a file for each batch, and --batch-files", name, in.format.name, o.Batch)
	}
	if o.Levels != nil && !o.OptionalLevels && !in.format.hasColumns() {
		return nil, fmt.Errorf("%s: is %s, which has no column %q: say in a table which class is part of which, with --tree", name, in.format.name, o.Levels[0])
	}
	tables, err := readTables(ctx, in, o)
	if err == nil && in.format.hasColumns() {
		err = readListed(ctx, tables, folderOf(name), o)
	}
	if err != nil {
		return nil, named(name, err)
	}
	for _, t := range tables {
		if o.Compensated && in.format != fcsFormat {
			t.Doubt = fmt.Sprintf("is %s, and what was learnt on was compensated (--compensate): its numbers are taken to be too", in.format.name)
		}
	}
	return tables, complete(ctx, tables, name, o)
}

// complete names the tables and gives them the labels that are in a file of their own.
func complete(ctx context.Context, tables []*Table, name string, o Options) error {
	for _, t := range tables {
		t.Name = name
	}
	if o.Labels == "" || o.noLabels() {
		return nil
	}
	labels, err := openLabels(ctx, o.Labels, o)
	if err != nil {
		return err
	}
	ids, header, err := labelIDs(ctx, o)
	if err != nil {
		return err
	}
	for k, part := range o.parts() {
		switch t := tables[k]; {
		case part.NoLabels:
		case ids != nil && t.named():
			if t.Labels, err = t.labelsByID(labels, ids, o.Labels); err != nil {
				return named(name, err)
			}
		case t.named() && len(header) > 1:
			return fmt.Errorf("%s: has no column %q, by which labels belong to the rows of %s (its columns are %s): give it one, or a file of the labels alone, in the order of the rows", o.Labels, cmp.Or(o.ID, "id"), name, list(header))
		case o.Domain == "":
			if err := t.checkRows(labels, o.Labels); err != nil {
				return named(name, err)
			}
			t.Labels = labels
		case t.In(t.Features.Rows-1) >= len(labels):
			return fmt.Errorf("%s: has %d labels, and %s more rows: give labels of the same rows", o.Labels, len(labels), name)
		default:
			t.Labels = Chosen(labels, t.at)
		}
		if len(header) > 1 && !tables[k].named() && tables[k].Doubt == "" {
			tables[k].Doubt = fmt.Sprintf("has no identities, so the labels of %s are taken in the order of the rows: if they are in another, give both files a column of identities, and its name with --id", o.Labels)
		}
	}
	return nil
}

func readTables(ctx context.Context, in *input, o Options) ([]*Table, error) {
	switch f := in.format; {
	case f.read != nil:
		return f.read(ctx, in, o)
	case f.open != nil:
		return readBatchFormat(ctx, in, o)
	case o.Domain != "":
		return nil, fmt.Errorf("is %s, which has no column %q: give source and target as two files", f.name, o.Domain)
	}
	t, err := in.format.array(ctx, in, o)
	return []*Table{t}, err
}

// splitPath separates the path of an npz archive from what follows its colon.
func splitPath(path string) (file, inner string, err error) {
	if _, err := os.Stat(path); err == nil || !strings.Contains(path, ":") || isURL(path) {
		return path, "", nil
	}
	cut := strings.LastIndexByte(path, ':')
	if file, inner = path[:cut], path[cut+1:]; !hasMembers(file) {
		return "", "", fmt.Errorf("%s: there is no such file, and only .npz and .mat files have members to name after a colon: check the path", path)
	}
	return file, inner, nil
}

// neighbour returns the file of labels next to a file of IDX images, by the names
// of MNIST's files, or "" if there is none.
func neighbour(path string) string {
	base := filepath.Base(path)
	name := strings.Replace(base, "images-idx3", "labels-idx1", 1)
	if name == base {
		return ""
	}
	candidate := filepath.Join(filepath.Dir(path), name)
	if _, err := os.Stat(candidate); err != nil {
		return ""
	}
	return candidate
}

// An input is an open file of a known kind. Reading it fails once its context has
// ended.
type input struct {
	*bufio.Reader
	name   string // without the extension of a compression
	format *format
	file   *os.File        // the file itself if it is not compressed and allows random access
	held   int             // bytes of an input that is in memory, not compressed
	comma  rune            // between the fields of text, once its header has been read
	mem    *arrowio.Budget // of what is made of it
	// reading is the part of mem that is held only while it is read.
	reading *arrowio.Budget
}

func newInput(ctx context.Context, r io.Reader, name string, o Options) (*input, error) {
	in := &input{Reader: bufio.NewReaderSize(arrowio.WithContext(ctx, r), 1<<16), name: bareName(name), mem: o.Memory, reading: o.Memory.Part()}
	in.file = seekable(r)
	if text, ok := r.(interface{ Len() int }); ok {
		in.held = text.Len()
	}
	plain, compressed, err := decompressed(ctx, in.Reader, in.reading)
	if err != nil {
		return nil, readError(err)
	}
	if in.Reader = plain; compressed {
		in.file, in.held = nil, 0
	}
	head, err := in.Peek(arrowio.SniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readError(err)
	}
	if in.format, err = tell(head, in.name, o.Encoding); err != nil {
		return in, err
	}
	for _, f := range readable {
		if f == in.format || f.own == nil {
			continue
		}
		if option := f.own(o); option != "" {
			return in, fmt.Errorf("is %s, and %s: leave it out", in.format.name, option)
		}
	}
	return in, nil
}

// seekable returns r as a file with random access, nil if r is not one.
func seekable(r io.Reader) *os.File {
	f, ok := r.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 0 {
		return nil
	}
	return f
}

// readError explains an error of reading the bytes of an input.
func readError(err error) error {
	if limit := (*arrowio.LimitError)(nil); errors.As(err, &limit) {
		return err
	}
	if damaged := (*damage)(nil); errors.As(err, &damaged) {
		return damaged
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("is truncated: copy or download it again")
	}
	return fmt.Errorf("cannot be read (%w)", err)
}

// size is how many bytes the input has, 0 if that is not known.
func (in *input) size() int64 {
	if in.file == nil {
		return int64(in.held)
	}
	info, err := in.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// whole returns the input with random access, and its size.
func (in *input) whole(ctx context.Context) (io.ReaderAt, int64, error) {
	if in.file != nil {
		info, err := in.file.Stat()
		if err != nil {
			return nil, 0, err
		}
		return contextReaderAt{ctx, in.file}, info.Size(), nil
	}
	all, err := readPieces(in, in.reading)
	if err != nil {
		return nil, 0, readError(err)
	}
	return contextReaderAt{ctx, all}, all.size, nil
}
