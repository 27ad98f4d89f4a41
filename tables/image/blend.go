package image

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"mars.dev/mars/arrowio"
)

// ReadPhotographs decodes every JPEG and PNG file in folder, in the order of
// their names, and skips other files. It fails if there is none or a picture
// cannot be decoded, or if they need more than mem has, and returns ctx.Err() if ctx ends.
func ReadPhotographs(ctx context.Context, folder string, mem *arrowio.Budget) ([]Picture, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("photographs: %w", err)
	}
	var all []Picture
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !IsPicture(e.Name()) {
			continue
		}
		p, err := ReadPhotograph(filepath.Join(folder, e.Name()), mem)
		if err != nil {
			return nil, fmt.Errorf("photographs: %w", err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("photographs: %s: has no .jpg, .jpeg or .png file: name a folder of photographs", folder)
	}
	return all, nil
}

// IsPicture reports whether a file's name says that it is a JPEG or PNG file.
func IsPicture(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jpg", ".jpeg", ".png":
		return true
	}
	return false
}

// Blend blends every image with a patch of a photograph, as Ganin & Lempitsky
// (2015, section 4.1) do to make MNIST-M from MNIST: |patch − image| in each
// channel, with photograph and position drawn at random. Images are grey or
// colour with values in [0, 1]. The result is colour (3×H×W), also in [0, 1].
//
// The patch of image i depends only on seed and i. Blend fails if images are
// neither grey nor colour, if there is no photograph, or if one is smaller than
// the images. It returns ctx.Err() if ctx ends.
func (m Images) Blend(ctx context.Context, photographs []Picture, seed uint64) (Images, error) {
	if len(photographs) == 0 {
		return Images{}, errors.New("blend: no photographs: give at least one")
	}
	for k, p := range photographs {
		if p.H < m.H || p.W < m.W {
			return Images{}, fmt.Errorf("blend: photograph %d is %d×%d pixels (height×width), smaller than the images' %d×%d: remove it",
				k, p.H, p.W, m.H, m.W)
		}
	}
	if m.C != 1 && m.C != 3 {
		return Images{}, fmt.Errorf("blend: images have %d channels: they must have 1 (grey) or 3 (colour)", m.C)
	}
	out, err := m.blank(3, m.H, m.W)
	if err != nil {
		return out, err
	}
	return m.replaced(out, m.each(ctx, func(i int) {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		p := photographs[rng.IntN(len(photographs))]
		top, left := rng.IntN(p.H-m.H+1), rng.IntN(p.W-m.W+1)
		for c := range 3 {
			blendPlane(out.plane(i, c), m.plane(i, min(c, m.C-1)), m.W, p, top, left, c)
		}
	}))
}

// blendPlane fills dst with |patch − src| in channel c. The patch of p has its
// corner at (top, left).
func blendPlane(dst, src []float32, width int, p Picture, top, left, c int) {
	for k, v := range src {
		y, x := top+k/width, left+k%width
		dst[k] = float32(math.Abs(float64(float32(p.Pix[3*(y*p.W+x)+c])/255 - v)))
	}
}
