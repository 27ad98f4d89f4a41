package kernel

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
	outWidth, pixels := c.OutWidth(), c.Pixels()
	c.eachRun(func(row, y, plane, inY, shift int) {
		out := cols[row*pixels+y*outWidth:][:outWidth]
		if inY < 0 || inY >= c.Height {
			clear(out)
			return
		}
		gather(out, image[(plane*c.Height+inY)*c.Width:][:c.Width], shift, c.stride())
	})
}

// Col2Im adds the patch matrix cols (PatchSize×Pixels) to the image pixels it
// was taken from: the transpose of Im2Col, so the gradient of its input. The
// caller clears image first if sums are to start at 0.
func Col2Im(image, cols []float32, c Conv) {
	c.check("Col2Im", cols, image)
	outWidth, pixels := c.OutWidth(), c.Pixels()
	c.eachRun(func(row, y, plane, inY, shift int) {
		if inY < 0 || inY >= c.Height {
			return
		}
		in := cols[row*pixels+y*outWidth:][:outWidth]
		scatter(image[(plane*c.Height+inY)*c.Width:][:c.Width], in, shift, c.stride())
	})
}

// eachRun calls f for every row of the patch matrix and every output line y:
// that run of OutWidth patch elements comes from input line inY of the plane,
// starting at column shift and advancing by the stride.
func (c Conv) eachRun(f func(row, y, plane, inY, shift int)) {
	for row := range c.PatchSize() {
		plane, ky, kx := row/(c.Kernel*c.Kernel), row/c.Kernel%c.Kernel, row%c.Kernel
		for y := range c.OutHeight() {
			f(row, y, plane, y*c.stride()+ky-c.Pad, kx-c.Pad)
		}
	}
}

// gather sets out[j] = line[shift+j·stride], 0 outside the line.
func gather(out, line []float32, shift, stride int) {
	lo, hi := inside(len(out), len(line), shift, stride)
	clear(out[:lo])
	clear(out[hi:])
	if stride == 1 {
		copy(out[lo:hi], line[max(shift, 0):])
		return
	}
	for j := lo; j < hi; j++ {
		out[j] = line[shift+j*stride]
	}
}

// scatter adds in[j] to line[shift+j·stride], leaving out what falls outside.
func scatter(line, in []float32, shift, stride int) {
	lo, hi := inside(len(in), len(line), shift, stride)
	if lo >= hi {
		return
	}
	if stride == 1 {
		active.axpy(1, in[lo:hi], line[shift+lo:shift+hi])
		return
	}
	for j := lo; j < hi; j++ {
		line[shift+j*stride] += in[j]
	}
}

// inside returns the range [lo, hi) of j in [0, n) with 0 <= shift+j·stride < width.
func inside(n, width, shift, stride int) (lo, hi int) {
	lo = min(n, max(0, (stride-1-shift)/stride))
	hi = min(n, max(lo, (width-shift+stride-1)/stride))
	return lo, hi
}

func (c Conv) check(name string, cols, image []float32) {
	sameLength(name+": image", len(image), c.ImageSize())
	sameLength(name+": cols", len(cols), c.PatchSize()*c.Pixels())
}
