package featurize

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/tables"
	fit "mars.dev/mars/tables/image"
)

// Digits are made black and white before they are blended, not after.
func TestBinariseBeforePhotographs(t *testing.T) {
	folder := t.TempDir()
	photograph := image.NewGray(image.Rect(0, 0, 3, 3))
	for i := range photograph.Pix {
		photograph.SetGray(i%3, i/3, color.Gray{Y: 51})
	}
	f, err := os.Create(filepath.Join(folder, "grey.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, photograph); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	digit := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{0, 0.5, 1, 0}}
	got, err := ImageOptions{Binarise: true, Photographs: folder}.transform(t.Context(), digit, []int{1, 2, 2}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Pixels.Data {
		if want := []float64{0.2, 0.8, 0.8, 0.2}[i%4]; math.Abs(float64(v)-want) > 1e-6 {
			t.Errorf("pixel %d is %g, want %g", i, v, want)
		}
	}
}

// Pictures of files were fitted as they were decoded: only arrays are fitted afterwards.
func TestPicturesAreFittedOnce(t *testing.T) {
	for _, pictures := range []bool{true, false} {
		table := &tables.Table{Features: blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{0, 51, 102, 255}}, Shape: []int{1, 2, 2}, Largest: 255, Pictures: pictures}
		o := ImageOptions{Fit: fit.Fit{Shorter: 4, CropHeight: 2, CropWidth: 2}}
		if _, err := o.apply(t.Context(), table, 0, nil); err != nil {
			t.Fatal(err)
		}
		if stays := slices.Equal(table.Features.Data, []float32{0, 0.2, 0.4, 1}); stays != pictures {
			t.Errorf("of files %v: %v", pictures, table.Features.Data)
		}
	}
}
