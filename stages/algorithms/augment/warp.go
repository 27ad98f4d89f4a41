package augment

import (
	"math"
	"slices"
)

// The greatest changes of affine at strength 1.
const (
	maxRotation = 15 * math.Pi / 180
	maxScale    = 1.2
	maxShear    = 0.1
	maxShift    = 1.0 / 14 // of the side: 2 pixels of 28
)

// maxCrop is the greatest part of the side that crop cuts away at strength 1.
const maxCrop = 0.25

// affine rotates, scales, shears and shifts an image about its centre.
func (a *Augmenter) affine(strength float64) {
	angle := a.uniform(maxRotation * strength)
	scale := math.Exp(a.uniform(strength * math.Log(maxScale)))
	shear := a.uniform(maxShear * strength)
	sine, cosine := math.Sin(angle)/scale, math.Cos(angle)/scale
	a.warp(mapping{
		xx: cosine, xy: shear - sine, yx: sine, yy: cosine,
		dx: a.uniform(maxShift * strength * float64(a.width)), dy: a.uniform(maxShift * strength * float64(a.height)),
	})
}

// crop cuts a window out of an image and enlarges it to the image's size.
func (a *Augmenter) crop(strength float64) {
	cut := min(0.9, maxCrop*strength) * a.rng.Float64()
	a.warp(mapping{xx: 1 - cut, yy: 1 - cut, dx: a.uniform(cut / 2 * float64(a.width)), dy: a.uniform(cut / 2 * float64(a.height))})
}

// flip exchanges left and right with a probability of half the strength.
func (a *Augmenter) flip(strength float64) {
	if a.rng.Float64() >= strength/2 {
		return
	}
	for at := 0; at < len(a.x); at += a.width {
		slices.Reverse(a.x[at : at+a.width])
	}
}

// A mapping gives, for each pixel (x, y) of the new image, the place in the old one whose
// value it takes, both counted from the centre: (xx·x + xy·y + dx, yx·x + yy·y + dy).
type mapping struct{ xx, xy, yx, yy, dx, dy float64 }

// warp changes the image by a mapping, with bilinear interpolation. Beyond its border an
// image goes on as at the border.
func (a *Augmenter) warp(m mapping) {
	right, bottom := float64(a.width-1), float64(a.height-1)
	for r := range a.height {
		y := float64(r) - bottom/2
		fromX := m.xy*y + m.dx + right/2 - m.xx*right/2
		fromY := m.yy*y + m.dy + bottom/2 - m.yx*right/2
		a.warpLine(r*a.width, float32(fromX), float32(fromY), float32(m.xx), float32(m.yx))
	}
	a.swap()
}

// warpLine writes the line of the new image that begins at index at: the old image at
// (x, y) and then in steps of (stepX, stepY).
func (a *Augmenter) warpLine(at int, x, y, stepX, stepY float32) {
	plane, width := a.height*a.width, a.width
	right, bottom := float32(width-1), float32(a.height-1)
	for c := range width {
		column, across := between(x+stepX*float32(c), right)
		line, down := between(y+stepY*float32(c), bottom)
		from := line*width + column
		for k := 0; k < len(a.x); k += plane {
			four := a.x[k+from : k+from+width+2]
			upper := four[0] + across*(four[1]-four[0])
			lower := four[width] + across*(four[width+1]-four[width])
			a.y[k+at+c] = upper + down*(lower-upper)
		}
	}
}

// between returns the pixel before v, and the part of the distance to the next pixel that
// v has covered; v is clipped to [0, last].
func between(v, last float32) (pixel int, way float32) {
	if !(v > 0) {
		return 0, 0
	}
	if v >= last {
		return int(last) - 1, 1
	}
	pixel = int(v)
	return pixel, v - float32(pixel)
}
