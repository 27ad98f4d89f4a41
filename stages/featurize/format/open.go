package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"mars/arrowio"
)

// Options say what of an input to read. The zero value reads the input's
// features and its labels under their usual names.
type Options struct {
	// Labels is a file with the labels, where they are not beside the
	// features: IDX, npy, npz or CSV, one label a row. For IDX images called
	// …images-idx3… the file …labels-idx1… next to it is used if it is there.
	Labels string

	// NoLabels reads no labels at all, as for target rows whose truth is not
	// asked for. The label column is not a feature even so.
	NoLabels bool

	// X and Y are the members of an npz archive with features and labels. If
	// X is empty they are "X" and, where it is there, "y"; if only X is named
	// no labels are read, for y might be those of other rows. A path may name
	// them too: data.npz:X_test,y_test, or labels.npz:y_test for Labels.
	X, Y string

	// Columns are the feature columns of a table, in order; numbers, or, in
	// Parquet and Arrow, lists of numbers of one length. If empty: the one
	// column of lists that there is, or all columns of numbers but label, id,
	// truth and nameless ones, which are row numbers.
	Columns []string

	// Label and ID are the label and identity columns of a table. If empty
	// they are "label" and "id", where there are such.
	Label, ID string

	// Separator separates the fields of a text table; 0 is the tab for .tsv
	// and otherwise whichever of comma, semicolon and tab the header has most.
	Separator rune
}

// Open reads the table in a file, or in standard input where path is "-". The
// path may go on with a colon and the member names of an npz archive, the
// features' or features',labels'.
func Open(path string, o Options) (*Table, error) {
	if path == "-" {
		return Read(os.Stdin, "standard input", o)
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
		return nil, fmt.Errorf("%w: check the path", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder: name a file in it", path)
	}
	if o.Labels == "" && !o.NoLabels {
		o.Labels = neighbour(path)
	}
	return Read(f, path, o)
}

// Read reads the table in r, an input of any kind; name is for messages and
// its extension, if it has one of a kind that is known, must be true. Archives
// and Parquet need seeking, and are held in memory where r cannot.
func Read(r io.Reader, name string, o Options) (*Table, error) {
	in, err := newInput(r, name)
	if err != nil {
		return nil, named(name, err)
	}
	t, err := readTable(in, o)
	if err != nil {
		return nil, named(name, err)
	}
	t.Name = name
	if o.Labels != "" && !o.NoLabels {
		if t.Labels, err = openLabels(o.Labels, o); err != nil {
			return nil, err
		}
		if err := t.checkRows(t.Labels, o.Labels); err != nil {
			return nil, named(name, err)
		}
	}
	return t, nil
}

func readTable(in *input, o Options) (*Table, error) {
	switch in.kind {
	case kindIDX:
		return readIDXTable(in)
	case kindNPY:
		return readArrayTable(readNPY(in))
	case kindNPZ:
		return readNPZ(in, o)
	case kindParquet:
		return readParquet(in, o)
	case kindArrow:
		return readArrow(in, o)
	}
	return readText(in, o)
}

// openLabels reads a file of labels alone.
func openLabels(path string, o Options) ([]string, error) {
	path, inner, err := splitPath(path)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	if inner != "" {
		o.Y = inner
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("labels: %w: check the path", err)
	}
	defer f.Close()
	in, err := newInput(f, path)
	if err != nil {
		return nil, named(path, err)
	}
	labels, err := readLabels(in, o)
	if err != nil {
		return nil, named(path, err)
	}
	return labels, nil
}

func readLabels(in *input, o Options) ([]string, error) {
	switch in.kind {
	case kindIDX:
		return readArrayLabels(readIDX(in))
	case kindNPY:
		return readArrayLabels(readNPY(in))
	case kindNPZ:
		return readNPZLabels(in, o)
	case kindText:
		return readTextLabels(in, o)
	}
	return nil, fmt.Errorf("labels: cannot be read from %s: give IDX, npy, npz or CSV", in.kind)
}

// splitPath takes what follows a colon off a path to an npz archive.
func splitPath(path string) (file, inner string, err error) {
	if _, err := os.Stat(path); err == nil || !strings.Contains(path, ":") {
		return path, "", nil
	}
	cut := strings.LastIndexByte(path, ':')
	if file, inner = path[:cut], path[cut+1:]; filepath.Ext(file) != ".npz" {
		return "", "", fmt.Errorf("%s: there is no such file, and only .npz archives have members to name after a colon: check the path", path)
	}
	return file, inner, nil
}

// neighbour is the file of labels that belongs to a file of IDX images by the
// names that MNIST's files have, "" if there is none.
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

// An input is an opened file whose kind has been told.
type input struct {
	*bufio.Reader
	name string // without .gz
	kind kind
	file *os.File // the file itself where it can be sought and is not compressed
}

func newInput(r io.Reader, name string) (*input, error) {
	in := &input{Reader: bufio.NewReaderSize(r, 1<<16), name: name}
	in.file = seekable(r)
	if head, err := in.Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		unzipped, err := gzip.NewReader(in.Reader)
		if err != nil {
			return nil, fmt.Errorf("is not valid gzip (%w): copy or download it again", err)
		}
		in.Reader = bufio.NewReaderSize(unzipped, 1<<16)
		in.name = strings.TrimSuffix(name, ".gz")
		in.file = nil
	}
	head, err := in.Peek(arrowio.SniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readError(err)
	}
	in.kind, err = tell(head, in.name)
	return in, err
}

// seekable is r as a file that can be read at any place, nil if it cannot.
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

// readError explains what went wrong while the bytes of an input were read.
func readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("is truncated: copy or download it again")
	}
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return fmt.Errorf("is damaged (%w): copy or download it again", err)
	}
	return fmt.Errorf("cannot be read (%w)", err)
}

// whole gives random access to the input and its size.
func (in *input) whole() (io.ReaderAt, int64, error) {
	if in.file != nil {
		info, err := in.file.Stat()
		if err != nil {
			return nil, 0, err
		}
		return in.file, info.Size(), nil
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, 0, readError(err)
	}
	return bytes.NewReader(data), int64(len(data)), nil
}
