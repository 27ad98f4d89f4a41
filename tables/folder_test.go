package tables

import (
	stdimage "image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// writePicture writes a picture of the pixels in rows of w.
func writePicture(t *testing.T, path string, w int, pixels ...color.Color) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	m := stdimage.NewRGBA(stdimage.Rect(0, 0, w, len(pixels)/w))
	for k, p := range pixels {
		m.Set(k%w, k/w, p)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if filepath.Ext(path) == ".png" {
		err = png.Encode(f, m)
	} else {
		err = jpeg.Encode(f, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	grey := func(v uint8) color.Color { return color.Gray{v} }
	writePicture(t, filepath.Join(dir, "7", "b.png"), 3, grey(1), grey(2), grey(3), grey(4), grey(5), grey(6))
	writePicture(t, filepath.Join(dir, "7", "deep", "a.PNG.png"), 3, grey(9), grey(9), grey(9), grey(9), grey(9), grey(9))
	writePicture(t, filepath.Join(dir, "no", "c.png"), 3, grey(0), grey(0), grey(0), grey(0), grey(0), grey(255))
	if err := os.WriteFile(filepath.Join(dir, "7", "notes.txt"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.Shape, []int{1, 2, 3}) || table.Largest != 255 || !slices.Equal(table.Row(0), []float32{1, 2, 3, 4, 5, 6}) || table.Row(2)[5] != 255 {
		t.Errorf("grey pictures: %+v", table)
	}
	if !slices.Equal(table.IDNames, []string{"7/b.png", "7/deep/a.PNG.png", "no/c.png"}) || !slices.Equal(table.Labels, []string{"7", "7", "no"}) {
		t.Errorf("ids %q, labels %q", table.IDNames, table.Labels)
	}
	if bare, err := Open(t.Context(), filepath.Join(dir, "no"), Options{}); err != nil || bare.Labels != nil {
		t.Errorf("pictures in the folder itself: labels %q, error %v", bare.Labels, err)
	}
	if bare, err := Open(t.Context(), dir, Options{NoLabels: true}); err != nil || bare.Labels != nil {
		t.Errorf("labels that were not wanted: %q, error %v", bare.Labels, err)
	}

	writePicture(t, filepath.Join(dir, "no", "d.png"), 3, grey(0), grey(0), grey(0), grey(0), color.RGBA{10, 20, 30, 255}, grey(7))
	table, err = Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.Shape, []int{3, 2, 3}) || !slices.Equal(table.Row(3), []float32{0, 0, 0, 0, 10, 7, 0, 0, 0, 0, 20, 7, 0, 0, 0, 0, 30, 7}) ||
		!slices.Equal(table.Row(0)[12:], []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("with one in colour: %v, %v", table.Shape, table.Row(3))
	}

	writePicture(t, filepath.Join(dir, "no", "e.jpg"), 2, grey(0), grey(0), grey(0), grey(0))
	_, err = Open(t.Context(), dir, Options{})
	wantError(t, err, "e.jpg is 2×2 pixels (height×width) and")
	if err := os.WriteFile(filepath.Join(dir, "no", "e.jpg"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), dir, Options{})
	wantError(t, err, "e.jpg: image: unknown format: replace or remove it")
}
