package format

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/stages/featurize/image"
)

// readFolder reads the pictures of a folder and of the folders in it, in the order of their
// paths. A picture's identity is its path within the folder; its label is the folder of the
// first level that it is in, such as "7" for 7/a.png, and there are no labels if no picture
// is in one. All pictures must have one size. They have one channel if all are grey, and
// three otherwise.
func readFolder(ctx context.Context, path string, o Options) (*Table, error) {
	if o.Domain != "" {
		return nil, fmt.Errorf("%s: is a folder, which has no column %q: give source and target as two folders", path, o.Domain)
	}
	names, err := pictureNames(ctx, path)
	if err != nil {
		return nil, named(path, err)
	}
	p := &pictures{mem: o.Memory, n: len(names)}
	if err := p.addAll(ctx, path, names); err != nil {
		return nil, err
	}
	t, err := p.table(ctx)
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
		return t, t.checkRows(t.Labels, o.Labels)
	}
	return t, nil
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
		if _, table := extensions[strings.ToLower(filepath.Ext(bareName(f.Name())))]; table {
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

// pictures are decoded by several threads, and kept in their order.
type pictures struct {
	n      int     // of them
	pix    []uint8 // of all: H·W pixels of red, green, blue
	h, w   int
	first  string
	colour bool
	mem    *arrowio.Budget
}

// addAll adds the pictures of a folder, some at a time.
func (p *pictures) addAll(ctx context.Context, folder string, names []string) error {
	const each = 4 // pictures a thread, so that none waits long for another
	for part := range slices.Chunk(names, each*algorithms.Jobs()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		decoded, errs := make([]image.Photograph, len(part)), make([]error, len(part))
		var next atomic.Int64
		var threads sync.WaitGroup
		for range algorithms.Jobs() {
			threads.Go(func() {
				for k := int(next.Add(1)) - 1; k < len(part); k = int(next.Add(1)) - 1 {
					decoded[k], errs[k] = image.ReadPhotograph(filepath.Join(folder, filepath.FromSlash(part[k])), p.mem)
				}
			})
		}
		threads.Wait()
		for k, name := range part {
			err := errs[k]
			if err == nil {
				err = p.add(filepath.Join(folder, filepath.FromSlash(name)), decoded[k])
			}
			if err != nil {
				return named(folder, err)
			}
		}
	}
	return nil
}

func (p *pictures) add(path string, picture image.Photograph) error {
	defer p.mem.Give(int64(len(picture.Pix)))
	if p.first == "" {
		p.first, p.h, p.w = path, picture.H, picture.W
		size := int64(p.n) * int64(len(picture.Pix))
		if err := p.mem.Take(size); err != nil {
			return err
		}
		p.pix = make([]uint8, 0, size)
	}
	if picture.H != p.h || picture.W != p.w {
		return fmt.Errorf("%s is %d×%d pixels (height×width) and %s is %d×%d: make all images of a folder one size", path, picture.H, picture.W, p.first, p.h, p.w)
	}
	for k := 0; k < len(picture.Pix) && !p.colour; k += 3 {
		p.colour = picture.Pix[k] != picture.Pix[k+1] || picture.Pix[k] != picture.Pix[k+2]
	}
	p.pix = append(p.pix, picture.Pix...)
	return nil
}

// table returns the pictures as rows of 1×H×W or 3×H×W numbers from 0 to 255.
func (p *pictures) table(ctx context.Context) (*Table, error) {
	n, channels, pixels := p.n, 1, p.h*p.w
	if p.colour {
		channels = 3
	}
	if err := p.mem.Take(4 * int64(n) * int64(channels*pixels)); err != nil {
		return nil, err
	}
	data := make([]float32, n*channels*pixels)
	for at := range n * channels {
		plane, picture := data[at*pixels:(at+1)*pixels], p.pix[at/channels*3*pixels:]
		for k := range plane {
			plane[k] = float32(picture[3*k+at%channels])
		}
	}
	p.mem.Give(int64(len(p.pix)))
	p.pix = nil
	t, err := newTable(ctx, data, n, channels*pixels, []int{channels, p.h, p.w}, p.mem)
	if err == nil {
		t.Largest = 255
	}
	return t, err
}
