package format

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zip"
)

// readNPZ reads features and labels from a NumPy archive, a zip file of npy
// members.
func readNPZ(ctx context.Context, in *input, o Options) (*Table, error) {
	archive, err := openNPZ(ctx, in)
	if err != nil {
		return nil, err
	}
	xName := orDefault(o.X, "X")
	t, err := readMember(archive, xName, func(r io.Reader) (*Table, error) {
		a, err := readNPY(r)
		return readArrayTable(ctx, a, err)
	})
	if err != nil {
		return nil, err
	}
	yName := o.Y
	if yName == "" && o.X == "" && findMember(archive, "y") != nil {
		yName = "y"
	}
	if yName == "" || o.Labels != "" || o.NoLabels {
		return t, nil
	}
	if t.Labels, err = readMember(archive, yName, npyLabels); err != nil {
		return nil, err
	}
	return t, t.checkRows(t.Labels, "member "+yName)
}

// readNPZLabels reads only the labels of an archive. If the archive has one
// member, it needs no name.
func readNPZLabels(ctx context.Context, in *input, o Options) ([]string, error) {
	archive, err := openNPZ(ctx, in)
	if err != nil {
		return nil, err
	}
	name := orDefault(o.Y, "y")
	if o.Y == "" && len(archive.File) == 1 {
		name = strings.TrimSuffix(archive.File[0].Name, ".npy")
	}
	return readMember(archive, name, npyLabels)
}

func npyLabels(r io.Reader) ([]string, error) { return readArrayLabels(readNPY(r)) }

func openNPZ(ctx context.Context, in *input) (*zip.Reader, error) {
	r, size, err := in.whole(ctx)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("is not a valid zip archive (%w): it is truncated or damaged: copy or download it again", err)
	}
	return archive, nil
}

func findMember(archive *zip.Reader, name string) *zip.File {
	for _, f := range archive.File {
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
		return zero, fmt.Errorf("has no member %q (its members are %s): name one of them", name, memberNames(archive))
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
