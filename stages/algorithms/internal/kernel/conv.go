package kernel

import (
	"fmt"
	"unsafe"
)

// Conv is the geometry of a 2-D convolution of one image: Channels×Height×Width,
// row-major, with square kernels of Kernel×Kernel, moved by Stride (0 means 1)
// over the image with Pad zeros around it.
type Conv struct {
	Channels, Height, Width int
	Kernel, Stride, Pad     int
}

// OutHeight and OutWidth are the height and width of the convolved image.
func (c Conv) OutHeight() int { return (c.Height+2*c.Pad-c.Kernel)/c.stride() + 1 }

// OutWidth is the width of the convolved image.
func (c Conv) OutWidth() int { return (c.Width+2*c.Pad-c.Kernel)/c.stride() + 1 }

// PatchSize is Channels·Kernel·Kernel: the rows of the patch matrix of Im2Col
// and the inputs of one output pixel.
func (c Conv) PatchSize() int { return c.Channels * c.Kernel * c.Kernel }

// ImageSize is Channels·Height·Width, the length of one image.
func (c Conv) ImageSize() int { return c.Channels * c.Height * c.Width }

// Pixels is OutHeight·OutWidth: the columns of the patch matrix of Im2Col.
func (c Conv) Pixels() int { return c.OutHeight() * c.OutWidth() }

func (c Conv) stride() int { return max(c.Stride, 1) }

// Im2Col writes the patch matrix of one image, PatchSize×Pixels row-major: its
// column p holds what output pixel p sees. With weights W of outChannels ×
// PatchSize the convolved image, outChannels×OutHeight×OutWidth, is then the
// product W·cols, already in the layout of an image; the gradient of W is
// dy·colsᵀ and that of cols is Wᵀ·dy.
func Im2Col(cols, image []float32, c Conv) {
	c.check("Im2Col", cols, image)
	if c.Pad > 0 {
		clear(cols) // what lies outside the image stays 0
	}
	c.eachTap(func(t tap) {
		if c.stride() == 1 {
			active.copyLines(&cols[t.col], c.OutWidth(), &image[t.pixel], c.Width, t.width, t.height)
			return
		}
		for y := range t.height {
			for x := range t.width {
				cols[t.col+y*c.OutWidth()+x] = image[t.pixel+(y*c.Width+x)*c.stride()]
			}
		}
	})
}

// Col2Im adds the patch matrix cols (PatchSize×Pixels) to the image pixels it
// was taken from: the transpose of Im2Col, so the gradient of its input. The
// caller clears image first if sums are to start at 0.
func Col2Im(image, cols []float32, c Conv) {
	c.check("Col2Im", cols, image)
	c.eachTap(func(t tap) {
		if c.stride() == 1 {
			active.addLines(&image[t.pixel], c.Width, &cols[t.col], c.OutWidth(), t.width, t.height)
			return
		}
		for y := range t.height {
			for x := range t.width {
				image[t.pixel+(y*c.Width+x)*c.stride()] += cols[t.col+y*c.OutWidth()+x]
			}
		}
	})
}

// tap is one row of the patch matrix: one place of the kernel in one channel.
// For a rectangle of width×height output pixels that place lies inside the
// image; the rectangle begins at index col of the patch matrix and, in the
// image, at index pixel.
type tap struct{ col, pixel, width, height int }

// eachTap calls f for every row of the patch matrix that sees the image.
func (c Conv) eachTap(f func(tap)) {
	outWidth, pixels, kernel := c.OutWidth(), c.Pixels(), c.Kernel
	for ky := range kernel {
		top, bottom := inside(c.OutHeight(), c.Height, ky-c.Pad, c.stride())
		for kx := range kernel {
			left, right := inside(outWidth, c.Width, kx-c.Pad, c.stride())
			if top == bottom || left == right {
				continue
			}
			y, x := top*c.stride()+ky-c.Pad, left*c.stride()+kx-c.Pad
			t := tap{
				col:   (ky*kernel+kx)*pixels + top*outWidth + left,
				pixel: y*c.Width + x, width: right - left, height: bottom - top,
			}
			for range c.Channels {
				f(t)
				t.col += kernel * kernel * pixels
				t.pixel += c.Height * c.Width
			}
		}
	}
}

// inside returns the range [lo, hi) of j in [0, n) with 0 <= shift+j·stride < size.
func inside(n, size, shift, stride int) (lo, hi int) {
	lo = min(n, max(0, (stride-1-shift)/stride))
	hi = min(n, max(lo, (size-shift+stride-1)/stride))
	return lo, hi
}

// copyLinesGo sets dst[i*dstStep+j] = src[i*srcStep+j] for i < lines, j < cols.
func copyLinesGo(dst *float32, dstStep int, src *float32, srcStep, cols, lines int) {
	for i := range lines {
		copy(line(dst, i*dstStep, cols), line(src, i*srcStep, cols))
	}
}

// addLinesGo adds src[i*srcStep+j] to dst[i*dstStep+j] for i < lines, j < cols.
func addLinesGo(dst *float32, dstStep int, src *float32, srcStep, cols, lines int) {
	for i := range lines {
		axpyGo(1, line(src, i*srcStep, cols), line(dst, i*dstStep, cols))
	}
}

// line is the n elements that begin at elements after p.
func line(p *float32, at, n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(p), 4*at)), n)
}

func (c Conv) check(name string, cols, image []float32) {
	if c.Kernel < 1 || c.Pad < 0 || c.Kernel > min(c.Height, c.Width)+2*c.Pad {
		panic(fmt.Sprintf("kernel: %s: a kernel of %d does not fit an image of %d×%d with padding %d", name, c.Kernel, c.Height, c.Width, c.Pad))
	}
	samePart(name, ": image", len(image), c.ImageSize())
	samePart(name, ": cols", len(cols), c.PatchSize()*c.Pixels())
}
