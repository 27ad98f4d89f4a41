package tables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/tables/image"
)

// readFolder reads the pictures of a folder and of the folders in it, in the order of their
// paths. A picture's identity is its path within the folder; its label is the folder of the
// first level that it is in, such as "7" for 7/a.png, and there are no labels if no picture
// is in one.
func readFolder(ctx context.Context, path string, o Options) (*Table, error) {
	if o.Batch != "" {
		return nil, fmt.Errorf("%s: is a folder, which has no column %q: give a folder for each batch, and --batch-files", path, o.Batch)
	}
	if o.Levels != nil && !o.OptionalLevels {
		return nil, fmt.Errorf("%s: is a folder, which has no column %q: say in a table which class is part of which, with --tree", path, o.Levels[0])
	}
	if o.Domain != "" {
		return nil, fmt.Errorf("%s: is a folder, which has no column %q: give source and target as two folders", path, o.Domain)
	}
	names, err := pictureNames(ctx, path)
	if err != nil {
		return nil, named(path, err)
	}
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = filepath.Join(path, filepath.FromSlash(name))
	}
	t := &Table{Features: blas32.General{Rows: len(names)}, mem: o.Memory}
	err = t.readPictures(ctx, paths, o.parts()[0].Fit, o, func(_ int, err error) error { return err })
	if err == nil {
		err = t.setIDs(ctx, identities{names: names})
	}
	if err != nil {
		return nil, named(path, err)
	}
	t.Name = path
	switch {
	case o.NoLabels:
	case o.Labels == "":
		t.Labels = folderLabels(names)
	default:
		if t.Labels, err = openLabels(ctx, o.Labels, o); err != nil {
			return nil, err
		}
		if err := t.checkRows(t.Labels, o.Labels); err != nil {
			return nil, err
		}
	}
	return t.withoutSkipped(ctx)
}

// pictureNames returns the paths of the JPEG and PNG files in a folder, with slashes.
func pictureNames(ctx context.Context, path string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || d.IsDir() || !image.IsPicture(p) {
			return err
		}
		name, err := filepath.Rel(path, p)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err == nil && len(names) == 0 {
		err = noPictures(path)
	}
	return names, err
}

// noPictures explains a folder without pictures.
func noPictures(path string) error {
	files, _ := os.ReadDir(path)
	for _, f := range files {
		if claimed(strings.ToLower(filepath.Ext(bareName(f.Name())))) != nil {
			return fmt.Errorf("is a folder of tables (%s is there), and files are read: name them with a pattern, as in '%s'", f.Name(), filepath.Join(path, "*"+strings.TrimPrefix(f.Name(), stem(f.Name()))))
		}
	}
	return errors.New("is a folder without .jpg, .jpeg or .png files: name a folder of images, or a file")
}

// stem is a name without its extensions.
func stem(name string) string {
	bare := bareName(name)
	return strings.TrimSuffix(bare, filepath.Ext(bare))
}

// folderLabels are the labels by the pictures' folders, nil if there are none.
func folderLabels(names []string) []string {
	labels, found := make([]string, len(names)), false
	for i, name := range names {
		if folder, _, within := strings.Cut(name, "/"); within {
			labels[i], found = folder, true
		}
	}
	if !found {
		return nil
	}
	return labels
}
