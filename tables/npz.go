package tables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zip"

	"mars.dev/mars/arrowio"
)

var npzFormat = &format{
	name: "a NumPy archive (npz)", short: "npz", looksLike: "a zip archive (npz and xlsx are zip archives too)", instead: "unpack it, or read npz with mars-featurize",
	extensions: []string{".npz"}, begins: prefixes("PK\x03\x04", "PK\x05\x06"), // the latter without a member
	read: readNPZ, labels: readNPZLabels,
}

// readNPZ reads features and labels from a NumPy archive, a zip file of npy
// members.
func readNPZ(ctx context.Context, in *input, o Options) ([]*Table, error) {
	archive, err := openNPZ(ctx, in)
	if err != nil {
		return nil, err
	}
	xName := cmp.Or(o.X, "X")
	t, err := readMember(archive, xName, func(r io.Reader) (*Table, error) {
		a, err := readNPY(r, in.mem)
		return readArrayTable(ctx, o, a, err)
	})
	if err != nil {
		return nil, err
	}
	yName := o.Y
	if yName == "" && o.X == "" && findMember(archive, "y") != nil {
		yName = "y"
	}
	if yName != "" && o.Labels == "" && !o.noLabels() {
		if t.Labels, err = readMember(archive, yName, npyLabels(in.mem)); err != nil {
			return nil, err
		}
		if err := t.checkRows(t.Labels, "member "+yName); err != nil {
			return nil, err
		}
	}
	if o.Domain == "" {
		return []*Table{t}, nil
	}
	domains, err := readMember(archive, o.Domain, npyLabels(in.mem))
	if err != nil {
		return nil, err
	}
	if len(domains) != t.Features.Rows {
		return nil, fmt.Errorf("%d rows but %d domains (member %s): give one for each row", t.Features.Rows, len(domains), o.Domain)
	}
	return t.split(ctx, domains, o)
}

// readNPZLabels reads only the labels of an archive. If the archive has one
// member, it needs no name.
func readNPZLabels(ctx context.Context, in *input, o Options) ([]string, error) {
	archive, err := openNPZ(ctx, in)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(o.Y, "y")
	if o.Y == "" && len(archive.File) == 1 {
		name = strings.TrimSuffix(archive.File[0].Name, ".npy")
	}
	return readMember(archive, name, npyLabels(in.mem))
}

func npyLabels(mem *arrowio.Budget) func(io.Reader) ([]string, error) {
	return func(r io.Reader) ([]string, error) { return readArrayLabels(readNPY(r, mem)) }
}

// directoryCost is the memory of an archive's directory for each of its bytes.
const directoryCost = 10

func openNPZ(ctx context.Context, in *input) (*zip.Reader, error) {
	r, size, err := in.whole(ctx)
	if err != nil {
		return nil, err
	}
	directory := &meteredReaderAt{r, in.reading, directoryCost}
	archive, err := zip.NewReader(directory, size)
	directory.mem = nil // only the directory stays in memory
	if limit := (*arrowio.LimitError)(nil); errors.As(err, &limit) {
		return nil, fmt.Errorf("the archive's directory %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("is not a valid zip archive (%w): it is truncated or damaged: copy or download it again", err)
	}
	return archive, foreignZip(archive)
}

// foreignZip returns an error for a zip archive that is not NumPy's.
func foreignZip(archive *zip.Reader) error {
	for _, f := range archive.File {
		switch {
		case strings.HasSuffix(f.Name, ".npy"):
			return nil
		case f.Name == "[Content_Types].xml" || f.Name == "content.xml" || strings.HasPrefix(f.Name, "xl/"):
			return errors.New("holds a spreadsheet (xlsx, ods), which cannot be read: save the sheet as CSV")
		}
	}
	for _, f := range archive.File {
		if strings.Contains(f.Name, ".") {
			return fmt.Errorf("holds a zip archive without NumPy arrays (its members are %s), which cannot be read: unpack it", memberNames(archive))
		}
	}
	return nil
}

// A meteredReaderAt takes cost from mem for each byte that is read.
type meteredReaderAt struct {
	io.ReaderAt
	mem  *arrowio.Budget
	cost int64
}

func (m *meteredReaderAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := m.ReaderAt.ReadAt(p, at)
	if err := m.mem.Take(int64(n) * m.cost); err != nil {
		return 0, err
	}
	return n, err
}

// findMember returns the last member of this name, as NumPy does.
func findMember(archive *zip.Reader, name string) *zip.File {
	for _, f := range slices.Backward(archive.File) {
		if f.Name == name || f.Name == name+".npy" {
			return f
		}
	}
	return nil
}

// readMember reads one member of the archive.
func readMember[T any](archive *zip.Reader, name string, read func(io.Reader) (T, error)) (T, error) {
	var zero T
	f := findMember(archive, name)
	if f == nil {
		return zero, fmt.Errorf("has no member %q (its members are %s): name those with features and labels, as in x.npz:X,y", name, memberNames(archive))
	}
	r, err := f.Open()
	if err != nil {
		return zero, fmt.Errorf("member %s: cannot be opened (%w): write it again with numpy.savez", name, err)
	}
	defer r.Close()
	value, err := read(r)
	if errors.Is(err, zip.ErrChecksum) {
		err = errors.New("is damaged (its checksum is wrong): copy or download it again")
	}
	if err != nil {
		return zero, fmt.Errorf("member %s: %w", name, err)
	}
	return value, nil
}

func memberNames(archive *zip.Reader) string {
	names := make([]string, len(archive.File))
	for i, f := range archive.File {
		names[i] = strings.TrimSuffix(f.Name, ".npy")
	}
	return list(names)
}
