package kernel

// The functions below run over pixels of Lanes interleaved images (see Lanes). Slices
// hold whole pixels, and a *Pixel is a number for each image.

// A Pixel is a number for each of Lanes interleaved images.
type Pixel [Lanes]float32

// Fill sets all numbers of p to x.
func (p *Pixel) Fill(x float32) {
	for i := range p {
		p[i] = x
	}
}

// PixelSums adds the pixels of x to sum.
func PixelSums(x []float32, sum *Pixel) {
	checkPixels("PixelSums", x)
	active.pixelSums(x, &sum[0])
}

// PixelSquares adds to sum the squares of x − mean.
func PixelSquares(x []float32, mean, sum *Pixel) {
	checkPixels("PixelSquares", x)
	active.pixelSquares(x, &mean[0], &sum[0])
}

// Normalise sets y = max((x − mean)·scale + offset, floor): a normalisation with its
// scale and, with floor 0, the ReLU that follows; with floor -Inf none.
func Normalise(y, x []float32, mean, scale, offset *Pixel, floor float32) {
	checkPixels("Normalise", y)
	checkLength("Normalise: x", len(x), len(y))
	active.normalise(y, x, &mean[0], &scale[0], &offset[0], floor)
}

// NormaliseSums takes dy, the gradient with respect to the output y of Normalise, sets
// it to 0 where y <= floor, and adds to sum the gradient of offset, Σ dy, and to product
// that of scale, Σ dy·(x − mean).
func NormaliseSums(dy, y, x []float32, mean *Pixel, floor float32, sum, product *Pixel) {
	checkPixels("NormaliseSums", dy)
	checkLength("NormaliseSums: y", len(y), len(dy))
	checkLength("NormaliseSums: x", len(x), len(dy))
	active.normaliseSums(dy, y, x, &mean[0], floor, &sum[0], &product[0])
}

// NormaliseBackward sets dx = dy·scale + (x − mean)·slope + offset, the gradient with
// respect to the input of a normalisation whose mean and scale depend on it.
func NormaliseBackward(dx, dy, x []float32, mean, scale, slope, offset *Pixel) {
	checkPixels("NormaliseBackward", dx)
	checkLength("NormaliseBackward: dy", len(dy), len(dx))
	checkLength("NormaliseBackward: x", len(x), len(dx))
	active.normaliseBackward(dx, dy, x, &mean[0], &scale[0], &slope[0], &offset[0])
}

func checkPixels(name string, x []float32) {
	if len(x)%Lanes != 0 {
		panic("kernel: " + name + ": no whole pixels")
	}
}

func pixelSumsGo(x []float32, sum *float32) {
	for i, v := range x {
		*elementOf(sum, i%Lanes) += v
	}
}

func pixelSquaresGo(x []float32, mean, sum *float32) {
	for i, v := range x {
		d := v - *elementOf(mean, i%Lanes)
		*elementOf(sum, i%Lanes) += d * d
	}
}

func normaliseGo(y, x []float32, mean, scale, offset *float32, floor float32) {
	for i, v := range x {
		lane := i % Lanes
		v = (v-*elementOf(mean, lane))**elementOf(scale, lane) + *elementOf(offset, lane)
		if v <= floor {
			v = floor
		}
		y[i] = v
	}
}

func normaliseSumsGo(dy, y, x []float32, mean *float32, floor float32, sum, product *float32) {
	for i, v := range x {
		if y[i] <= floor {
			dy[i] = 0
		}
		lane := i % Lanes
		*elementOf(sum, lane) += dy[i]
		*elementOf(product, lane) += dy[i] * (v - *elementOf(mean, lane))
	}
}

func normaliseBackwardGo(dx, dy, x []float32, mean, scale, slope, offset *float32) {
	for i, v := range x {
		lane := i % Lanes
		dx[i] = dy[i]**elementOf(scale, lane) + (v-*elementOf(mean, lane))**elementOf(slope, lane) + *elementOf(offset, lane)
	}
}
