package image

import "context"

// Resize scales every image to height×width by bilinear interpolation between
// pixel centres, without antialiasing. Values are those of PyTorch's
// interpolate(mode="bilinear", align_corners=False). It panics unless both are
// positive.
func (m Images) Resize(ctx context.Context, height, width int) (Images, error) {
	if height < 1 || width < 1 {
		panic("image: resizing to no pixels")
	}
	out, err := m.blank(m.C, height, width)
	if err != nil {
		return out, err
	}
	vertical, horizontal := taps(m.H, height), taps(m.W, width)
	return m.replaced(out, m.each(ctx, func(i int) {
		for c := range m.C {
			interpolate(out.plane(i, c), m.plane(i, c), m.W, vertical, horizontal)
		}
	}))
}

// A tap holds the two input pixels of a line that an output pixel lies between,
// and their weights.
type tap struct {
	at, next     int
	near, beyond float32 // weights of at and next; their sum is 1
}

// taps returns the taps of a line of in pixels that is scaled to out pixels. The
// centre of pixel i is at i + ½. Outside the first and the last centre, the value
// is that of the nearest centre.
func taps(in, out int) []tap {
	line := make([]tap, out)
	ratio := float32(in) / float32(out)
	for i := range line {
		centre := max((float32(i)+0.5)*ratio-0.5, 0)
		at := min(int(centre), in-1)
		beyond := min(max(centre-float32(at), 0), 1)
		line[i] = tap{at: at, next: min(at+1, in-1), near: 1 - beyond, beyond: beyond}
	}
	return line
}

// interpolate fills dst, len(vertical)×len(horizontal), from src, whose rows
// are width pixels wide.
func interpolate(dst, src []float32, width int, vertical, horizontal []tap) {
	k := 0
	for _, v := range vertical {
		upper, lower := src[v.at*width:], src[v.next*width:]
		for _, h := range horizontal {
			above := h.near*upper[h.at] + h.beyond*upper[h.next]
			below := h.near*lower[h.at] + h.beyond*lower[h.next]
			dst[k] = v.near*above + v.beyond*below
			k++
		}
	}
}
