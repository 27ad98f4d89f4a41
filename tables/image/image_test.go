package image

import (
	"context"
	"encoding/json"
	"fmt"
	stdimage "image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/internal/contexttest"

	"gonum.org/v1/gonum/blas/blas32"
)

func images(t *testing.T, rows [][]float32, shape ...int) Images {
	t.Helper()
	x := blas32.General{Rows: len(rows), Cols: len(rows[0]), Stride: len(rows[0])}
	for _, r := range rows {
		x.Data = append(x.Data, r...)
	}
	m, err := New(x, shape, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Compares with PyTorch's interpolate, see generate.py next to the file.
func TestResizeOracle(t *testing.T) {
	text, err := os.ReadFile("../../testdata/oracle/featurize/resize.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Shape, Size   []int
		Input, Output [][]float32
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tc := range cases {
		got, err := images(t, tc.Input, tc.Shape...).Fit(t.Context(), Fit{Height: tc.Size[0], Width: tc.Size[1]})
		if err != nil {
			t.Fatal(err)
		}
		if want := []int{tc.Shape[0], tc.Size[0], tc.Size[1]}; !slices.Equal(got.Shape(), want) {
			t.Fatalf("shape %v, want %v", got.Shape(), want)
		}
		for i, want := range tc.Output {
			for j, v := range got.row(i) {
				if math.Abs(float64(v-want[j])) > 1e-6 {
					t.Fatalf("%v to %v: image %d, pixel %d: %v, want %v", tc.Shape, tc.Size, i, j, v, want[j])
				}
			}
		}
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
}

func TestPad(t *testing.T) {
	m := images(t, [][]float32{{1, 2, 3, 4}, {5, 6, 7, 8}}, 2, 1, 2)
	got, err := m.Pad(t.Context(), 1, 9)
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{9, 9, 9, 9, 9, 1, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3, 4, 9, 9, 9, 9, 9}
	if !slices.Equal(got.row(0), want) || !slices.Equal(got.Shape(), []int{2, 3, 4}) {
		t.Errorf("shape %v, %v", got.Shape(), got.row(0))
	}
	if same, err := m.Pad(t.Context(), 0, 1); err != nil || got.row(1)[5] != 5 || !slices.Equal(same.row(1), m.row(1)) {
		t.Errorf("second image %v", got.row(1))
	}
}

func TestBinarise(t *testing.T) {
	m := images(t, [][]float32{{0, 0.01}, {1, -0.5}}, 1, 1, 2)
	if err := m.Binarise(t.Context()); err != nil || !slices.Equal(m.row(0), []float32{0, 1}) || !slices.Equal(m.row(1), []float32{1, 0}) {
		t.Errorf("%v", m.Pixels.Data)
	}
}

func TestColour(t *testing.T) {
	got, err := images(t, [][]float32{{1, 2}, {3, 4}}, 1, 1, 2).Colour(t.Context())
	if err != nil || !slices.Equal(got.row(1), []float32{3, 4, 3, 4, 3, 4}) || got.C != 3 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := images(t, [][]float32{{1, 2}}, 2, 1, 1).Colour(t.Context()); err == nil {
		t.Error("images of two channels were made colour")
	}
}

func TestUnit(t *testing.T) {
	m := images(t, [][]float32{{0, 51}, {255, 102}}, 1, 1, 2)
	if err := Unit(t.Context(), m.Pixels, 255); err != nil || !slices.Equal(m.Pixels.Data, []float32{0, .2, 1, .4}) {
		t.Errorf("%v, %v", m.Pixels.Data, err)
	}
	if err := Unit(t.Context(), m.Pixels, 1); err != nil || m.Pixels.Data[1] != .2 {
		t.Errorf("%v, %v", m.Pixels.Data, err)
	}
	m.Pixels.Data[2] = -1
	before := slices.Clone(m.Pixels.Data)
	if err := Unit(t.Context(), m.Pixels, 2); err == nil || !strings.Contains(err.Error(), "row 2, feature 1: -1 is outside [0, 2]") {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(m.Pixels.Data, before) {
		t.Error("data were changed in spite of the error")
	}
}

func TestStepsStopWithTheirContext(t *testing.T) {
	folder := t.TempDir()
	for i := range 5 {
		gradient(t, folder, fmt.Sprintf("%d.png", i), 4, 4)
	}
	photographs, err := ReadPhotographs(t.Context(), folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := images(t, slices.Repeat([][]float32{{0, 0.1, 0.2, 0.3}}, 20), 1, 2, 2)
	for name, step := range map[string]func(context.Context) error{
		"Fit":      func(ctx context.Context) error { _, err := m.Fit(ctx, Fit{Height: 3, Width: 3}); return err },
		"Pad":      func(ctx context.Context) error { _, err := m.Pad(ctx, 1, 0); return err },
		"Binarise": m.Binarise,
		"Colour":   func(ctx context.Context) error { _, err := m.Colour(ctx); return err },
		"Blend":    func(ctx context.Context) error { _, err := m.Blend(ctx, photographs, 1); return err },
		"Unit":     func(ctx context.Context) error { return Unit(ctx, m.Pixels, 2) },
	} {
		t.Run(name, func(t *testing.T) { contexttest.Stops(t, 20, step) })
	}
	contexttest.Stops(t, 5, func(ctx context.Context) error { _, err := ReadPhotographs(ctx, folder, nil); return err })
}

func TestNewErrors(t *testing.T) {
	x := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: make([]float32, 4)}
	for _, shape := range [][]int{{4}, {1, 2, 3}, {-1, 2, -2}, {0, 2, 2}} {
		if _, err := New(x, shape, nil); err == nil {
			t.Errorf("shape %v was taken", shape)
		}
	}
}

// gradient writes a picture in which all pixels of a channel are different.
func gradient(t *testing.T, folder, name string, w, h int) {
	t.Helper()
	picture := stdimage.NewRGBA(stdimage.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			picture.Set(x, y, color.RGBA{R: uint8(y*w + x), G: uint8(100 + y*w + x), B: uint8(200 - y*w - x), A: 255})
		}
	}
	f, err := os.Create(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, picture); err != nil {
		t.Fatal(err)
	}
}

func TestBlend(t *testing.T) {
	folder := t.TempDir()
	gradient(t, folder, "b.png", 6, 5)
	gradient(t, folder, "a.PNG", 7, 8)
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	photographs, err := ReadPhotographs(t.Context(), folder, nil)
	if err != nil || len(photographs) != 2 || photographs[0].H != 8 || photographs[1].W != 6 {
		t.Fatalf("%d photographs, %v", len(photographs), err)
	}
	rows := make([][]float32, 300)
	for i := range rows {
		rows[i] = []float32{0, .5, 1, 0, 0, 1}
	}
	m := images(t, rows, 1, 2, 3)
	got, err := m.Blend(t.Context(), photographs, 4)
	if err != nil || !slices.Equal(got.Shape(), []int{3, 2, 3}) {
		t.Fatalf("shape %v, %v", got.Shape(), err)
	}
	corners := map[[3]int]bool{}
	for i := range rows {
		corners[findPatch(t, photographs, m.row(i), got, i)] = true
	}
	// 7·5 places in one photograph and 4·4 in the other.
	if len(corners) < 45 {
		t.Errorf("300 patches came from %d of 51 places", len(corners))
	}
	again, _ := m.Blend(t.Context(), photographs, 4)
	other, _ := m.Blend(t.Context(), photographs, 5)
	if !slices.Equal(got.Pixels.Data, again.Pixels.Data) || slices.Equal(got.Pixels.Data, other.Pixels.Data) {
		t.Error("the result does not depend on the seed alone")
	}
}

// findPatch finds the only place in the photographs that explains image i.
func findPatch(t *testing.T, photographs []Picture, digit []float32, got Images, i int) [3]int {
	t.Helper()
	for k, p := range photographs {
		for top := 0; top+got.H <= p.H; top++ {
			for left := 0; left+got.W <= p.W; left++ {
				if explains(p, top, left, digit, got, i) {
					return [3]int{k, top, left}
				}
			}
		}
	}
	t.Fatalf("image %d: %v is |patch − digit| of no patch", i, got.row(i))
	return [3]int{}
}

func explains(p Picture, top, left int, digit []float32, got Images, i int) bool {
	for c := range 3 {
		for k, v := range got.plane(i, c) {
			pixel := p.Pix[3*((top+k/got.W)*p.W+left+k%got.W)+c]
			if math.Abs(math.Abs(float64(pixel)/255-float64(digit[k]))-float64(v)) > 1e-6 {
				return false
			}
		}
	}
	return true
}

func TestBlendErrors(t *testing.T) {
	folder := t.TempDir()
	_, emptyErr := ReadPhotographs(t.Context(), folder, nil)
	_, absentErr := ReadPhotographs(t.Context(), filepath.Join(folder, "absent"), nil)
	if err := os.WriteFile(filepath.Join(folder, "bad.jpg"), []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, badErr := ReadPhotographs(t.Context(), folder, nil)
	m := images(t, [][]float32{{1, 2}}, 1, 1, 2)
	_, noneErr := m.Blend(t.Context(), nil, 0)
	_, smallErr := m.Blend(t.Context(), []Picture{{C: 3, Pix: make([]uint8, 3), H: 1, W: 1}}, 0)
	_, channelErr := images(t, [][]float32{{1, 2}}, 2, 1, 1).Blend(t.Context(), []Picture{{C: 3, Pix: make([]uint8, 3), H: 1, W: 1}}, 0)
	for want, err := range map[string]error{
		"has no .jpg, .jpeg or .png file":         emptyErr,
		"photographs: open":                       absentErr,
		"bad.jpg: image: unknown format: replace": badErr,
		"no photographs":                          noneErr,
		"1×1 pixels (height×width), smaller than": smallErr,
		"images have 2 channels":                  channelErr,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestRealPhotographs blends digits over BSDS500, as MNIST-M is made.
func TestRealPhotographs(t *testing.T) {
	data := os.Getenv("MARS_DATA")
	if data == "" {
		t.Skip("MARS_DATA is not set: it names the folder that holds bsds500/")
	}
	photographs, err := ReadPhotographs(t.Context(), filepath.Join(data, "bsds500"), nil)
	if err != nil || len(photographs) != 200 {
		t.Fatalf("%d photographs, %v; want 200", len(photographs), err)
	}
	for _, p := range photographs {
		if p.H*p.W != 481*321 {
			t.Fatalf("a photograph is %d×%d", p.H, p.W)
		}
	}
	got, err := images(t, [][]float32{make([]float32, 28*28)}, 1, 28, 28).Blend(t.Context(), photographs, 1)
	if err != nil || Unit(t.Context(), got.Pixels, 1) != nil {
		t.Errorf("blending: %v", err)
	}
}
