package image

import (
	"errors"
	"fmt"
	stdimage "image"
	"image/draw"
	_ "image/jpeg" // the formats that pictures may have
	_ "image/png"
	"io"
	"io/fs"
	"os"

	"mars.dev/mars/arrowio"
)

const (
	// maxPhotographPixels is the greatest size of a photograph.
	maxPhotographPixels = 64 << 20
	// decodeCost is the memory of a pixel while it is decoded, in bytes: the coefficients
	// of a progressive JPEG file in four colours, and what is made of them.
	decodeCost = 20
)

// A Picture is an image of 8 bits: Pix has H·W pixels of C values, grey or red, green, blue.
type Picture struct {
	Pix     []uint8
	C, H, W int
}

// ReadPicture decodes a JPEG or PNG file, turns it as its Exif data say, and fits it. A
// picture of which all pixels are grey has one channel. What it takes of mem is that of its
// pixels; while it is decoded it needs more.
func ReadPicture(path string, f Fit, mem *arrowio.Budget) (Picture, error) {
	var p Picture
	err := decode(path, mem, func(whole Picture) (err error) {
		if p, err = whole.fit(f, mem); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	return p, err
}

// ReadPhotograph decodes a JPEG or PNG file, and turns it as its Exif data say. What it takes
// of mem is that of its pixels; while it is decoded it needs more.
func ReadPhotograph(path string, mem *arrowio.Budget) (p Picture, err error) {
	err = decode(path, mem, func(whole Picture) error {
		p = whole
		return mem.Take(int64(len(p.Pix)))
	})
	return p, err
}

// decode gives a picture to use, in memory that it takes from mem, as the file's header says,
// and gives back.
func decode(path string, mem *arrowio.Budget, use func(Picture) error) error {
	f, err := openPicture(path)
	if err != nil {
		return err
	}
	defer f.Close()
	header, _, err := stdimage.DecodeConfig(f)
	if err != nil {
		return unreadable(path, err)
	}
	pixels := int64(header.Width) * int64(header.Height)
	if pixels > maxPhotographPixels {
		return fmt.Errorf("%s: is %d×%d pixels: make it smaller than %d million pixels", path, header.Width, header.Height, maxPhotographPixels>>20)
	}
	if err := mem.Take((decodeCost + 3) * pixels); err != nil {
		return fmt.Errorf("%s: is %d×%d pixels: %w", path, header.Width, header.Height, err)
	}
	defer mem.Give((decodeCost + 3) * pixels)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	picture, _, err := stdimage.Decode(f)
	if err != nil {
		return unreadable(path, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return use(newPhotograph(picture).turned(orientation(f)))
}

// openPicture opens a file. Of a pipe there might be no end, nor a beginning.
func openPicture(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is no file: give a JPEG or PNG file", path)
	}
	return os.Open(path)
}

// unreadable explains what cannot be decoded.
func unreadable(path string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = errors.New("is cut short")
	}
	if errors.Is(err, stdimage.ErrFormat) {
		return fmt.Errorf("%s: %w: replace or remove it (JPEG and PNG can be read)", path, err)
	}
	return fmt.Errorf("%s: %w: replace or remove it", path, err)
}

// newPhotograph takes the pixels of a picture. Transparent ones are black.
func newPhotograph(picture stdimage.Image) Picture {
	b := picture.Bounds()
	p := Picture{C: 3, Pix: make([]uint8, 0, 3*b.Dx()*b.Dy()), H: b.Dy(), W: b.Dx()}
	line := stdimage.NewRGBA(stdimage.Rect(0, 0, b.Dx(), 1)) // which draw knows short ways to
	for y := b.Min.Y; y < b.Max.Y; y++ {
		draw.Draw(line, line.Rect, picture, stdimage.Pt(b.Min.X, y), draw.Src)
		for k := 0; k < len(line.Pix); k += 4 {
			p.Pix = append(p.Pix, line.Pix[k], line.Pix[k+1], line.Pix[k+2])
		}
	}
	return p
}

// fit makes of a picture of three channels one of the size, whose pixels it takes from mem.
func (p Picture) fit(f Fit, mem *arrowio.Budget) (Picture, error) {
	whole := p
	if f.Grey || p.isGrey() {
		whole.C, whole.Pix = 1, p.luma()
	}
	part, err := f.cut(p.H, p.W)
	if err != nil {
		return whole, err
	}
	out := Picture{C: whole.C, H: part.h, W: part.w}
	size := int64(out.C * out.H * out.W)
	if err := mem.Take(size); err != nil {
		return out, out.needs(err)
	}
	if part.whole(p.H, p.W) {
		return whole, nil
	}
	g := newGrid(p.H, p.W, out.C, part)
	g.quantise()
	scratch := int64(g.scratch())
	if err := mem.Take(scratch); err != nil {
		mem.Give(size)
		return out, out.needs(err)
	}
	defer mem.Give(scratch)
	out.Pix = make([]uint8, size)
	resample(g, out.Pix, whole.Pix, make([]uint8, scratch), level)
	return out, nil
}

// needs explains that there is no memory for the picture.
func (p Picture) needs(err error) error {
	return fmt.Errorf("as an image of %d×%d×%d: %w", p.C, p.H, p.W, err)
}

func (p Picture) isGrey() bool {
	for k := 0; k < len(p.Pix); k += 3 {
		if p.Pix[k] != p.Pix[k+1] || p.Pix[k] != p.Pix[k+2] {
			return false
		}
	}
	return true
}

// luma are the pixels in one channel. Those of grey are as they were.
func (p Picture) luma() []uint8 {
	grey := make([]uint8, len(p.Pix)/3)
	for k := range grey {
		grey[k] = uint8((lumaRed*uint32(p.Pix[3*k]) + lumaGreen*uint32(p.Pix[3*k+1]) + lumaBlue*uint32(p.Pix[3*k+2]) + lumaUnit/2) / lumaUnit)
	}
	return grey
}

// Fill writes the picture to planes of H·W numbers, as many as there are; grey is the same
// in each.
func (p Picture) Fill(planes []float32) {
	size := p.H * p.W
	for k := range planes {
		planes[k] = float32(p.Pix[k%size*p.C+min(k/size, p.C-1)])
	}
}
