package image

import (
	"context"
	"fmt"
	"math"
)

// A Fit says how images of any size become images of one size, in the order of its fields:
// grey, then resized, then cut.
type Fit struct {
	Grey          bool `json:"grey,omitempty"`    // one channel, the luma of red, green and blue
	Height, Width int  `json:",omitempty"`        // size to resize to; 0: none
	Shorter       int  `json:"shorter,omitempty"` // instead: length of the shorter side, the other in proportion; 0: none
	CropHeight    int  `json:"crop_height,omitempty"`
	CropWidth     int  `json:"crop_width,omitempty"` // size of the centre that is cut out; 0: none
}

// MaxSide is the greatest height or width that a Fit may ask for, in pixels.
const MaxSide = 1 << 14

// Check returns an error if a size is none that a command line can ask for.
func (f Fit) Check() error {
	for what, n := range map[string]int{"height": f.Height, "width": f.Width, "shorter side": f.Shorter, "cropped height": f.CropHeight, "cropped width": f.CropWidth} {
		if n < 0 || n > MaxSide {
			return fmt.Errorf("images have a %s of %d, want 0 to %d", what, n, MaxSide)
		}
	}
	if (f.Height == 0) != (f.Width == 0) || (f.CropHeight == 0) != (f.CropWidth == 0) || f.Shorter > 0 && (f.Height > 0 || f.CropHeight == 0) {
		return fmt.Errorf("images have sizes that contradict one another: %+v", f)
	}
	return nil
}

// Size is that of all images, 0 if they keep theirs.
func (f Fit) Size() (height, width int) {
	if f.CropHeight > 0 {
		return f.CropHeight, f.CropWidth
	}
	return f.Height, f.Width
}

// A cut is a part of a resized image.
type cut struct {
	height, width   int // of the resized image
	top, left, h, w int // the part that is kept
}

// whole reports whether an image of h×w pixels stays as it is.
func (c cut) whole(h, w int) bool { return c.h == h && c.w == w && c.height == h && c.width == w }

// cut of an image of h×w pixels. As in torchvision, a side in proportion is rounded down,
// and a margin that is no whole number to the even one.
func (f Fit) cut(h, w int) (cut, error) {
	c := cut{height: h, width: w}
	switch {
	case f.Height > 0:
		c.height, c.width = f.Height, f.Width
	case f.Shorter > 0 && h < w:
		c.height, c.width = f.Shorter, f.Shorter*w/h
	case f.Shorter > 0:
		c.height, c.width = f.Shorter*h/w, f.Shorter
	}
	c.h, c.w = c.height, c.width
	if f.CropHeight > 0 {
		c.h, c.w = f.CropHeight, f.CropWidth
		if c.h > c.height || c.w > c.width {
			return c, fmt.Errorf("is %d×%d pixels (height×width) where %d×%d are to be cut out: give a smaller --crop, or --resize %d too", c.height, c.width, c.h, c.w, max(c.h, c.w))
		}
		c.top = int(math.RoundToEven(float64(c.height-c.h) / 2))
		c.left = int(math.RoundToEven(float64(c.width-c.w) / 2))
	}
	return c, nil
}

// Fit brings images to a size. It fails if they are to be cut to more than they have, or
// made grey and have other channels than one or three.
func (m Images) Fit(ctx context.Context, f Fit) (Images, error) {
	if f.Grey && m.C != 1 {
		var err error
		if m, err = m.grey(ctx); err != nil {
			return m, err
		}
	}
	c, err := f.cut(m.H, m.W)
	if err != nil {
		return m, fmt.Errorf("an image %w", err)
	}
	if c.whole(m.H, m.W) {
		return m, nil
	}
	out, err := m.blank(m.C, c.h, c.w)
	if err != nil {
		return out, err
	}
	g := newGrid(m.H, m.W, 1, c)
	scratch := 4 * int64(g.scratch())
	if err := m.mem.Take(scratch); err != nil {
		return out, err
	}
	defer m.mem.Give(scratch)
	rows := make([]float32, g.scratch())
	return m.replaced(out, m.each(ctx, func(i int) {
		for channel := range m.C {
			resample(g, out.plane(i, channel), m.plane(i, channel), rows, func(v float64) float32 { return float32(v) })
		}
	}))
}

// The weights of red, green and blue in luma (ITU-R 601-2), in lumaUnit.
const (
	lumaRed, lumaGreen, lumaBlue = 19595, 38470, 7471
	lumaUnit                     = 1 << 16
)

// grey makes one channel of three.
func (m Images) grey(ctx context.Context) (Images, error) {
	if m.C != 3 {
		return m, fmt.Errorf("grey: images have %d channels: only colour (3) can be made grey (1)", m.C)
	}
	out, err := m.blank(1, m.H, m.W)
	if err != nil {
		return out, err
	}
	return m.replaced(out, m.each(ctx, func(i int) {
		red, green, blue := m.plane(i, 0), m.plane(i, 1), m.plane(i, 2)
		for k := range red {
			out.row(i)[k] = float32((lumaRed*float64(red[k]) + lumaGreen*float64(green[k]) + lumaBlue*float64(blue[k])) / lumaUnit)
		}
	}))
}
