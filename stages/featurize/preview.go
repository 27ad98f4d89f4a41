package featurize

import (
	"fmt"
	stdimage "image"
	"image/color"
	"image/png"
	"io"
	"slices"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/tables"
)

// Preview says what a picture of augmented rows is to show.
type Preview struct {
	Path    string // PNG file to write; "" for none
	Augment string // see augment.Parse
}

// The picture has previewRows images of each domain, one a line: the image as it is, then
// changed previewChanges times. A pixel becomes previewScale² ones.
const (
	previewRows    = 8
	previewChanges = 11
	previewScale   = 2
	previewGap     = 2
)

// write writes the picture of the first rows, at even distances, of both domains.
func (p Preview) write(d *dataset, seed uint64, mem *arrowio.Budget) error {
	if len(d.shape) != 3 || d.shape[0] != 1 && d.shape[0] != 3 {
		return fmt.Errorf("%s: rows of shape %v cannot be shown: give grey or colour images, such as --shape 1x28x28", p.Path, d.shape)
	}
	policy, err := augment.Parse(p.Augment, d.shape)
	if err != nil {
		return err
	}
	var rows [][]float32
	for _, s := range d.sides {
		n := min(previewRows, s.x.Rows)
		for k := range n {
			at := k * s.x.Rows / n * s.x.Stride
			rows = append(rows, s.x.Data[at:at+s.x.Cols])
		}
	}
	sheet, err := newSheet(d.shape, len(rows), mem)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Path, tables.Limited(err))
	}
	defer mem.Give(int64(len(sheet.picture.Pix)))
	a := policy.New(d.shape)
	for i, row := range rows {
		sheet.draw(row, i, 0)
		for k := range previewChanges {
			changed := slices.Clone(row)
			a.Apply(changed, seed, uint64(k), uint64(i))
			sheet.draw(changed, i, k+1)
		}
	}
	_, err = state.Save(p.Path, func(w io.Writer) error { return png.Encode(w, sheet.picture) })
	return err
}

// A sheet is a picture of many images.
type sheet struct {
	shape         []int
	height, width int // of an image on it, with the gap
	picture       *stdimage.RGBA
}

func newSheet(shape []int, lines int, mem *arrowio.Budget) (*sheet, error) {
	s := &sheet{shape: shape, height: shape[1]*previewScale + previewGap, width: shape[2]*previewScale + previewGap}
	width, height := s.width*(previewChanges+1)+previewGap, s.height*lines+previewGap
	if err := mem.Take(4 * int64(width) * int64(height)); err != nil {
		return nil, err
	}
	s.picture = stdimage.NewRGBA(stdimage.Rect(0, 0, width, height))
	for k := range s.picture.Pix {
		s.picture.Pix[k] = 255
	}
	return s, nil
}

// draw draws an image, its least value black and its greatest white.
func (s *sheet) draw(row []float32, line, column int) {
	low, high := slices.Min(row), slices.Max(row)
	factor := 255 / max(high-low, 1e-6)
	pixels := s.shape[1] * s.shape[2]
	for y := range s.shape[1] * previewScale {
		for x := range s.shape[2] * previewScale {
			k := y/previewScale*s.shape[2] + x/previewScale
			var rgb [3]uint8
			for c := range rgb {
				rgb[c] = uint8(factor*(row[min(c, s.shape[0]-1)*pixels+k]-low) + 0.5)
			}
			s.picture.SetRGBA(previewGap+column*s.width+x, previewGap+line*s.height+y, color.RGBA{rgb[0], rgb[1], rgb[2], 255})
		}
	}
}
