package tables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/tables/image"
)

// readListed reads the pictures that tables name in the column Options.Image, if there is
// one, with paths from a folder.
func readListed(ctx context.Context, tables []*Table, folder string, o Options) error {
	if o.Image == "" || o.OnlyIDs || o.Each != nil {
		return nil
	}
	for k, t := range tables {
		if err := t.readColumn(ctx, folder, o.parts()[k].Fit, o); err != nil {
			return err
		}
		var err error
		if tables[k], err = t.withoutSkipped(ctx); err != nil {
			return err
		}
		o.Colour = o.Colour || t.Shape[0] == 3 // of the parts of one file
	}
	return nil
}

// folderOf is the folder from which paths in a table go.
func folderOf(name string) string {
	if name == StandardInput {
		return ""
	}
	return filepath.Dir(name)
}

// readColumn reads the pictures whose paths the table has. Where it has no identities they
// are the paths, if these are unique.
func (t *Table) readColumn(ctx context.Context, folder string, fit image.Fit, o Options) error {
	paths := make([]string, len(t.paths))
	for i, path := range t.paths {
		switch {
		case path == "":
			return fmt.Errorf("%s, column %q: has no path of an image: fill it or drop the row", t.Place(i), o.Image)
		case isURL(path):
			return fmt.Errorf("%s, column %q: %s is a URL, and images are read from this machine: download it first", t.Place(i), o.Image, path)
		}
		paths[i] = inFolder(path, folder)
	}
	place := func(i int, err error) error {
		err = fmt.Errorf("%s, column %q: %w", t.Place(i), o.Image, err)
		if !isFile(paths[i]) && !filepath.IsAbs(t.paths[i]) {
			err = fmt.Errorf("%w: write paths as they are from the table's folder, %s", err, cmp.Or(folder, "."))
		}
		return err
	}
	if err := t.readPictures(ctx, paths, fit, o, place); err != nil {
		return err
	}
	names := t.paths
	t.paths = nil
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if t.IDInts != nil || t.IDNames != nil || len(slices.Compact(sorted)) < len(names) {
		return nil
	}
	return t.setIDs(ctx, identities{names: names})
}

// readPictures makes the pictures of files the rows of the table: 1×H×W numbers from 0 to 255
// if all are grey, and 3×H×W otherwise or if the options say so. place says of an error in
// which row it is. Rows of pictures that are skipped are 0, for withoutSkipped to leave out.
func (t *Table) readPictures(ctx context.Context, paths []string, fit image.Fit, o Options, place func(i int, err error) error) error {
	p := &pictures{paths: paths, fit: fit, mem: t.mem, place: place, read: make([]image.Picture, len(paths)), first: -1, skip: o.SkipPictures}
	if err := p.decodeAll(ctx); err != nil {
		return err
	}
	if p.first < 0 {
		return fmt.Errorf("none of its %d images can be read; the first: %w", len(paths), p.bad)
	}
	first, channels := p.read[p.first], 1
	if o.Colour || slices.ContainsFunc(p.read, func(picture image.Picture) bool { return picture.C == 3 }) {
		channels = 3
	}
	n, shape := len(paths), []int{channels, first.H, first.W}
	size := channels * first.H * first.W
	if err := take[float32](t.mem, n*size); err != nil {
		return fmt.Errorf("%d images of %d×%d×%d: %w", n, channels, shape[1], shape[2], err)
	}
	data := make([]float32, n*size)
	for i, picture := range p.read {
		if err := ended(ctx, i); err != nil {
			return err
		}
		if picture.Pix == nil {
			t.bad = append(t.bad, i)
			continue
		}
		picture.Fill(data[i*size:][:size])
		t.mem.Give(int64(len(picture.Pix)))
		p.read[i] = image.Picture{}
	}
	made, err := newTable(ctx, data, n, size, shape, t.mem)
	if err != nil {
		return err
	}
	t.Features, t.Shape, t.Largest, t.Pictures = made.Features, shape, 255, true
	if len(t.bad) > 0 {
		t.Doubt = fmt.Sprintf("%d of %d images cannot be read, and are left out; the first: %v", len(t.bad), n, p.bad)
	}
	return nil
}

// withoutSkipped is the table without the rows of pictures that cannot be read.
func (t *Table) withoutSkipped(ctx context.Context) (*Table, error) {
	if len(t.bad) == 0 {
		return t, nil
	}
	rows := make([]int, 0, t.Features.Rows)
	for i := range t.Features.Rows {
		if _, bad := slices.BinarySearch(t.bad, i); !bad {
			rows = append(rows, i)
		}
	}
	t.bad = nil
	return t.Gather(ctx, rows)
}

// pictures are decoded by several threads, and kept in their order.
type pictures struct {
	paths []string
	fit   image.Fit
	mem   *arrowio.Budget
	place func(i int, err error) error
	read  []image.Picture
	first int   // the first that can be read; −1 for none
	skip  bool  // those that cannot be read
	bad   error // of the first of these
}

// decodeAll decodes the pictures, some at a time, so that an error is that of the first file
// that has one. That there is no memory for all is known before, or from the first.
func (p *pictures) decodeAll(ctx context.Context) error {
	const each = 16 // pictures a thread, so that none waits long for another
	height, width := p.fit.Size()
	if err := p.checkMemory(image.Picture{C: 1, H: height, W: width}); err != nil {
		return err
	}
	for lo, hi := 0, 1; lo < len(p.paths); lo, hi = hi, min(hi+each*algorithms.Jobs(), len(p.paths)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for k, err := range p.decode(lo, hi) {
			i := lo + k
			if limit := (*arrowio.LimitError)(nil); errors.As(err, &limit) { // perhaps alone
				p.read[i], err = image.ReadPicture(p.paths[i], p.fit, p.mem)
			}
			if limit := (*arrowio.LimitError)(nil); p.skip && err != nil && !errors.As(err, &limit) {
				p.read[i], p.bad = image.Picture{}, cmp.Or(p.bad, p.place(i, err))
				continue
			}
			if err == nil {
				err = p.check(i)
			}
			if err != nil {
				return p.place(i, err)
			}
		}
		if p.first < 0 {
			continue
		}
		if err := p.checkMemory(p.read[p.first]); err != nil {
			return err
		}
	}
	return nil
}

// decode decodes pictures lo to hi, and returns the error of each.
func (p *pictures) decode(lo, hi int) []error {
	errs := make([]error, hi-lo)
	var next atomic.Int64
	var threads sync.WaitGroup
	for range algorithms.Jobs() {
		threads.Go(func() {
			for i := lo + int(next.Add(1)) - 1; i < hi; i = lo + int(next.Add(1)) - 1 {
				p.read[i], errs[i-lo] = image.ReadPicture(p.paths[i], p.fit, p.mem)
			}
		})
	}
	threads.Wait()
	return errs
}

// check returns an error if a picture has another size than the first.
func (p *pictures) check(i int) error {
	if p.first < 0 {
		p.first = i
	}
	picture, first := p.read[i], p.read[p.first]
	if picture.H != first.H || picture.W != first.W {
		return &SizesError{fmt.Sprintf("%s is %d×%d pixels (height×width) and %s is %d×%d", p.paths[i], picture.H, picture.W, p.paths[p.first], first.H, first.W)}
	}
	return nil
}

// A SizesError is pictures of several sizes.
type SizesError struct{ text string }

// Error names two of them.
func (e *SizesError) Error() string {
	return e.text + ": give a size to bring all to, as in --resize 64, or --resize 64 --crop 64 to keep their proportions"
}

// checkMemory returns an error if there is too little for so many as this.
func (p *pictures) checkMemory(one image.Picture) error {
	if need := int64(len(p.paths)) * int64(one.C*one.H*one.W) * sizeOf[float32](); need > p.mem.Limit() {
		return fmt.Errorf("%d images of %d×%d×%d: %w", len(p.paths), one.C, one.H, one.W, &arrowio.LimitError{Need: need, Limit: p.mem.Limit()})
	}
	return nil
}

// listed are the pictures that a table names, whether they are to be read or not: those of
// columns whose first value is the name of one. Tables that cannot be read have none.
func listed(ctx context.Context, path string) []string {
	files, _ := abandonable(ctx, func() ([]string, error) { return listedIn(ctx, path), nil })
	return files
}

// listedIn is listed, which a million columns of text take seconds.
func listedIn(ctx context.Context, path string) (files []string) {
	o := Options{only: func(f arrow.Field) bool { return isText(f.Type) }}
	if !hasBlocksIn(ctx, path, o) {
		return nil
	}
	if !maybePictured(ctx, path) {
		return nil
	}
	seen := map[string]bool{}
	_ = openRows(ctx, path, o, func(schema *arrow.Schema, next records, _ int) error { // what cannot be read names none
		var names []string
		for _, f := range schema.Fields() {
			if o.only(f) {
				names = append(names, f.Name)
			}
		}
		for first := true; len(names) > 0; first = false {
			rec, err := next()
			if err != nil {
				return err
			}
			if first {
				names = slices.DeleteFunc(names, func(name string) bool {
					at := rec.Schema().FieldIndices(name)
					return len(at) != 1 || ctx.Err() != nil || rec.NumRows() == 0 || !image.IsPicture(pathAt(rec.Column(at[0]), 0))
				})
			}
			for _, name := range names {
				column := rec.Column(rec.Schema().FieldIndices(name)[0])
				for i := range column.Len() {
					file := inFolder(pathAt(column, i), filepath.Dir(path))
					if info, err := os.Stat(file); !seen[file] && err == nil && info.Mode().IsRegular() {
						seen[file], files = true, append(files, file)
					}
				}
			}
		}
		return nil
	})
	return files
}

// maybePictured reports whether the first row of a text has the name of a picture, so that the columns
// of most need not be made. It is true of other formats.
func maybePictured(ctx context.Context, path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	in, err := newInput(ctx, f, path, Options{Memory: arrowio.NewBudget(0)})
	if err != nil {
		return false
	}
	defer in.reading.Close()
	if in.format != textFormat {
		return true
	}
	r, err := beginText(in, Options{})
	if err != nil {
		return false
	}
	defer r.close()
	for range 2 { // the header, and the row
		if _, err := r.next(); err != nil {
			return false
		}
	}
	return slices.ContainsFunc(r.record.fields, func(field string) bool { return image.IsPicture(strings.TrimSpace(field)) })
}

// maxPath is longer than a path of any system.
const maxPath = 1 << 15

// pathAt is value i of a column of text, "" where it is no path: other texts, which may be long,
// are not copied.
func pathAt(column arrow.Array, i int) string {
	text := column.ValueStr(i)
	if column.IsNull(i) || len(text) > maxPath {
		return ""
	}
	return strings.Clone(strings.TrimSpace(text))
}

// inFolder is a path in a table as it is from here.
func inFolder(path, folder string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}
