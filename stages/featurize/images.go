package featurize

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/image"
)

// ImageOptions are the steps that bring the images of a domain to a shape and
// range, in the order of the fields.
type ImageOptions struct {
	Shape []int `json:"shape,omitempty"` // C, H, W of a flat row
	Raw   bool  `json:"raw,omitempty"`   // do not divide integers by their largest value
	image.Fit
	Pad         int    `json:"pad,omitempty"`         // pixels of 0 on each side
	Binarise    bool   `json:"binarise,omitempty"`    // every pixel above 0 becomes 1
	Photographs string `json:"photographs,omitempty"` // folder to blend with, as for MNIST-M
	Colour      bool   `json:"colour,omitempty"`      // repeat the channel of grey images
}

// check returns an error if a step is none that a command line can ask for.
func (o ImageOptions) check() error {
	if o.Pad < 0 || o.Pad > image.MaxSide {
		return fmt.Errorf("images have a pad of %d, want 0 to %d", o.Pad, image.MaxSide)
	}
	return o.Fit.Check()
}

// sized reports whether the images get another size.
func (o ImageOptions) sized() bool {
	height, _ := o.Size()
	return height > 0 || o.Shorter > 0 || o.Pad > 0
}

// resizeTarget brings a target's pictures to the size of the source's, if nothing was said
// of theirs and they have others: networks take images of one size. It reports whether they
// have to be decoded again. err is that of reading them.
func (st *recipe) resizeTarget(env stages.Env, source *tables.Table, read []*tables.Table, err error, o Options) bool {
	several := errors.As(err, new(*tables.SizesError))
	if err != nil && !several || source == nil || len(source.Shape) != 3 || st.Target.sized() || o.Load != "" || o.Prepared != "" || tables.IsPiped(o.Target.Path) || o.Target.piped != nil {
		return false
	}
	height, width := st.Source.Size()
	if height == 0 {
		height, width = source.Shape[1], source.Shape[2]
	}
	height, width = height+2*st.Source.Pad, width+2*st.Source.Pad
	was := "several sizes"
	if !several {
		t := read[0]
		if !t.Pictures || t.Shape[1] == height && t.Shape[2] == width {
			return false
		}
		was = fmt.Sprintf("%d×%d pixels", t.Shape[1], t.Shape[2])
	}
	st.Target.Height, st.Target.Width = height, width
	env.Logger().Info(fmt.Sprintf("%s: images of %s are resized to %d×%d, as those of %s are; --target-resize says otherwise", o.Target.Path, was, height, width, source.Name))
	return true
}

// apply changes the table in place and returns the shape of its rows.
func (o ImageOptions) apply(ctx context.Context, t *tables.Table, seed uint64, mem *arrowio.Budget) ([]int, error) {
	if o.Shape != nil {
		if err := t.Reshape(o.Shape); err != nil {
			return nil, err
		}
	}
	if len(t.Shape) != 3 {
		if o.Fit != (image.Fit{}) || o.Pad > 0 || o.Binarise || o.Photographs != "" || o.Colour {
			return nil, fmt.Errorf("rows of %d numbers are no images: say which shape they have with --shape CxHxW", t.Features.Cols)
		}
		return t.Shape, nil
	}
	if t.Largest > 0 && !o.Raw {
		if err := image.Unit(ctx, t.Features, t.Largest); err != nil {
			return nil, err
		}
	}
	x := t.Features
	t.Features = blas32.General{} // free once a step has made others of them
	if t.Pictures {
		o.Fit = image.Fit{} // as they were decoded
	}
	images, err := o.transform(ctx, x, t.Shape, seed, mem)
	if err != nil {
		return nil, err
	}
	t.Features, t.Shape = images.Pixels, images.Shape()
	return t.Shape, nil
}

func (o ImageOptions) transform(ctx context.Context, x blas32.General, shape []int, seed uint64, mem *arrowio.Budget) (image.Images, error) {
	images, err := image.New(x, shape, mem)
	if err != nil {
		return images, err
	}
	if images, err = images.Fit(ctx, o.Fit); err != nil {
		return images, err
	}
	if o.Pad > 0 {
		if images, err = images.Pad(ctx, o.Pad, 0); err != nil {
			return images, err
		}
	}
	if o.Binarise {
		if err := images.Binarise(ctx); err != nil {
			return images, err
		}
	}
	if o.Photographs != "" {
		photographs, err := image.ReadPhotographs(ctx, o.Photographs, mem)
		if err != nil {
			return images, err
		}
		if images, err = images.Blend(ctx, photographs, seed); err != nil {
			return images, err
		}
		for _, p := range photographs {
			mem.Give(int64(len(p.Pix)))
		}
	}
	if o.Colour {
		return images.Colour(ctx)
	}
	return images, nil
}
