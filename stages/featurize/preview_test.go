package featurize

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// The first image of a line is the row as it is, the others are changed.
func TestPreview(t *testing.T) {
	row := make([]float32, 64)
	for k := range row {
		row[k] = float32(k)
	}
	x := blas32.General{Rows: 1, Cols: 64, Stride: 64, Data: row}
	d := &dataset{shape: []int{1, 8, 8}, sides: []side{{x: x}, {x: x}}}
	path := filepath.Join(t.TempDir(), "out.png")
	if err := (Preview{Path: path, Augment: "digits"}).write(d, 1, nil); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Bounds(); b.Dx() != 12*18+2 || b.Dy() != 2*18+2 {
		t.Fatalf("a picture of %d×%d", b.Dx(), b.Dy())
	}
	const own, total = 64, 12 * 64
	same := 0
	for column := range 12 {
		for k := range 64 {
			r, g, b, _ := m.At(2+column*18+2*(k%8), 2+18+2*(k/8)).RGBA()
			if r != g || g != b {
				t.Fatal("a grey image is in colour")
			}
			if int(r>>8) == (255*k+31)/63 {
				same++
			} else if column == 0 {
				t.Fatalf("pixel %d of the row is shown as %d", k, r>>8)
			}
		}
	}
	if same < own || same > total/2 {
		t.Errorf("%d of %d pixels are as in the row", same, total)
	}
	if err := (Preview{Path: path, Augment: "digits"}).write(&dataset{shape: []int{64}, sides: d.sides}, 1, nil); err == nil || !strings.Contains(err.Error(), "cannot be shown") {
		t.Errorf("error %v", err)
	}
}
