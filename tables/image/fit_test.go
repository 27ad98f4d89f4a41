package image

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

const oracle = "../../testdata/oracle/images"

func readOracle(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(oracle, name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Pictures become what Pillow makes of them, in the order of torchvision's Resize and
// CenterCrop: PNG files to the last bit, and JPEG files but for what decoders differ in.
func TestFitOracle(t *testing.T) {
	var cases []struct {
		File         string
		Grey         bool
		Resize, Crop []int
		Shorter      int
		Shape        [3]int
		Pixels       []byte
	}
	readOracle(t, "pictures.json", &cases)
	if len(cases) != 96 {
		t.Fatal(len(cases))
	}
	worst := map[string]int{}
	for _, w := range cases {
		f := Fit{Grey: w.Grey, Shorter: w.Shorter}
		if w.Resize != nil {
			f.Height, f.Width = w.Resize[0], w.Resize[1]
		}
		if w.Crop != nil {
			f.CropHeight, f.CropWidth = w.Crop[0], w.Crop[1]
		}
		p, err := ReadPicture(filepath.Join(oracle, w.File), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{p.C, p.H, p.W}; got != w.Shape {
			t.Errorf("%s, %+v: shape %v, want %v", w.File, f, got, w.Shape)
			continue
		}
		for k, v := range p.Pix {
			off := int(math.Abs(float64(v) - float64(w.Pixels[k])))
			worst[w.File] = max(worst[w.File], off)
		}
	}
	// Decoders differ in how they round, and in how they stretch colours that are stored at
	// half the size.
	tolerance := map[string]int{"photo.jpg": 3, "half.jpg": 25}
	for file, off := range worst {
		if off > tolerance[file] {
			t.Errorf("%s: a value is off by %d levels, want at most %d", file, off, tolerance[file])
		}
	}
}

// Arrays are resized as pictures are, without rounding.
func TestFitArraysOracle(t *testing.T) {
	var cases []struct {
		Shape, Resize []int
		Input, Output []float32
	}
	readOracle(t, "arrays.json", &cases)
	if len(cases) != 30 {
		t.Fatal(len(cases))
	}
	for _, w := range cases {
		got, err := images(t, [][]float32{w.Input}, 1, w.Shape[0], w.Shape[1]).Fit(t.Context(), Fit{Height: w.Resize[0], Width: w.Resize[1]})
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range got.row(0) {
			if math.Abs(float64(v-w.Output[k])) > 1e-6 {
				t.Fatalf("%v to %v: pixel %d is %v, want %v", w.Shape, w.Resize, k, v, w.Output[k])
			}
		}
	}
}

func noise(rng *rand.Rand, h, w int) Picture {
	p := Picture{C: 3, Pix: make([]uint8, 3*h*w), H: h, W: w}
	for k := range p.Pix {
		p.Pix[k] = uint8(rng.IntN(256))
	}
	return p
}

// Whatever the sizes, a picture of one colour stays of it, a picture that has the size stays
// as it is, and no value leaves the range of its picture.
func TestFitProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		h, w := 1+rng.IntN(40), 1+rng.IntN(40)
		crop := 1 + rng.IntN(30)
		fits := []Fit{
			{Height: 1 + rng.IntN(50), Width: 1 + rng.IntN(50)},
			{Shorter: crop + rng.IntN(9), CropHeight: crop, CropWidth: 1 + rng.IntN(crop)},
			{CropHeight: 1 + rng.IntN(h), CropWidth: 1 + rng.IntN(w)},
		}
		for _, f := range fits {
			one := Picture{C: 3, Pix: slices.Repeat([]uint8{uint8(rng.IntN(256)), 7, 250}, h*w), H: h, W: w}
			got, err := one.fit(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := slices.Repeat(one.Pix[:3], got.H*got.W); !slices.Equal(got.Pix, want) {
				t.Fatalf("%d×%d, %+v: a picture of one colour became %v", h, w, f, got.Pix)
			}
			if f.CropHeight > 0 && (got.H != f.CropHeight || got.W != f.CropWidth) || f.CropHeight == 0 && (got.H != f.Height || got.W != f.Width) {
				t.Fatalf("%d×%d, %+v: %d×%d", h, w, f, got.H, got.W)
			}
		}
		p := noise(rng, h, w)
		for _, f := range []Fit{{Height: h, Width: w}, {CropHeight: h, CropWidth: w}, {Shorter: min(h, w), CropHeight: h, CropWidth: w}} {
			if got, err := p.fit(f, nil); err != nil || !slices.Equal(got.Pix, p.Pix) {
				t.Fatalf("%d×%d, %+v: the picture is another, error %v", h, w, f, err)
			}
		}
		part, err := p.fit(fits[2], nil)
		if err != nil {
			t.Fatal(err)
		}
		top, left := int(math.RoundToEven(float64(h-part.H)/2)), int(math.RoundToEven(float64(w-part.W)/2))
		for y := range part.H {
			if from := 3 * ((top+y)*w + left); !slices.Equal(part.Pix[3*y*part.W:][:3*part.W], p.Pix[from:][:3*part.W]) {
				t.Fatalf("%d×%d cut to %d×%d: row %d is another", h, w, part.H, part.W, y)
			}
		}
	}
}

// A cut out of a resized picture is that of the whole resized picture.
func TestFitOfPartIsPartOfFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		p := noise(rng, 1+rng.IntN(30), 1+rng.IntN(30))
		height, width := 8+rng.IntN(30), 8+rng.IntN(30)
		whole, err := p.fit(Fit{Height: height, Width: width}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Picture{C: 3, Pix: whole.Pix, H: height, W: width}.fit(Fit{CropHeight: 8, CropWidth: 5}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.fit(Fit{Height: height, Width: width, CropHeight: 8, CropWidth: 5}, nil)
		if err != nil || !slices.Equal(got.Pix, want.Pix) {
			t.Fatalf("%d×%d to %d×%d: the part is another, error %v", p.H, p.W, height, width, err)
		}
	}
}

// Grey arrays have the luma of their channels, and grey pictures the values that they had.
func TestGrey(t *testing.T) {
	m, err := images(t, [][]float32{{1, 0, 0, 0.5, 0, 1, 0, 0.5, 0, 0, 1, 0.5}}, 3, 2, 2).Fit(t.Context(), Fit{Grey: true})
	if err != nil || !slices.Equal(m.Shape(), []int{1, 2, 2}) {
		t.Fatal(m, err)
	}
	for k, want := range []float64{0.299, 0.587, 0.114, 0.5} {
		if math.Abs(float64(m.row(0)[k])-want) > 1e-5 {
			t.Errorf("%v: luma %v, want %v", k, m.row(0)[k], want)
		}
	}
	if again, err := m.Fit(t.Context(), Fit{Grey: true}); err != nil || again.C != 1 {
		t.Error(again, err)
	}
	if _, err := images(t, [][]float32{{1, 2}}, 2, 1, 1).Fit(t.Context(), Fit{Grey: true}); err == nil {
		t.Error("images of two channels were made grey")
	}
	for v := range 256 {
		if p, err := (Picture{C: 3, Pix: slices.Repeat([]uint8{uint8(v)}, 3), H: 1, W: 1}).fit(Fit{}, nil); err != nil || p.C != 1 || p.Pix[0] != uint8(v) {
			t.Errorf("grey of level %d became %v", v, p.Pix)
		}
	}
}

func TestFitErrors(t *testing.T) {
	for want, f := range map[string]Fit{
		"cropped height of -1":    {CropHeight: -1},
		"width of 16385":          {Height: 5, Width: 1<<14 + 1},
		"contradict one another:": {Height: 5},
		"contradict one another":  {Shorter: 5},
		"contradict":              {Shorter: 5, Height: 3, Width: 3, CropHeight: 1, CropWidth: 1},
	} {
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", f, err, want)
		}
	}
	path := filepath.Join(oracle, "small.png")
	_, cropErr := ReadPicture(path, Fit{CropHeight: 6, CropWidth: 2}, nil)
	_, memoryErr := ReadPicture(path, Fit{Height: 200, Width: 200}, arrowio.NewBudget(100<<10))
	_, decodeErr := ReadPicture(path, Fit{}, arrowio.NewBudget(700))
	short := filepath.Join(t.TempDir(), "short.jpg")
	text, err := os.ReadFile(filepath.Join(oracle, "photo.jpg"))
	if err == nil {
		err = os.WriteFile(short, text[:100], 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, shortErr := ReadPicture(short, Fit{}, nil)
	_, folderErr := ReadPicture(t.TempDir(), Fit{}, nil)
	_, absentErr := ReadPicture("absent.png", Fit{}, nil)
	_, imagesErr := images(t, [][]float32{{1, 2}}, 1, 1, 2).Fit(t.Context(), Fit{CropHeight: 2, CropWidth: 2})
	for want, err := range map[string]error{
		"small.png: is 5×7 pixels (height×width) where 6×2 are to be cut out: give a smaller --crop, or --resize 6 too": cropErr,
		"small.png: as an image of 3×200×200: needs":                                                                    memoryErr,
		"small.png: is 7×5 pixels: needs":                                                                               decodeErr,
		"short.jpg: is cut short: replace or remove it":                                                                 shortErr,
		": is no file: give a JPEG or PNG file":                                                                         folderErr,
		"absent.png: there is no such file":                                                                             absentErr,
		"an image is 1×2 pixels (height×width) where 2×2 are to be cut":                                                 imagesErr,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// What a picture takes of the memory is that of its pixels, whether it can be read or not.
func TestPicturesGiveBack(t *testing.T) {
	for _, name := range []string{"wide.png", "photo.jpg", "grey.png"} {
		for _, f := range []Fit{{}, {Height: 9, Width: 4}, {CropHeight: 900, CropWidth: 9}, {Height: 1 << 14, Width: 1 << 14}} {
			mem := arrowio.NewBudget(1 << 20)
			p, err := ReadPicture(filepath.Join(oracle, name), f, mem)
			if want := int64(len(p.Pix)); err == nil && mem.Used() != want || err != nil && mem.Used() != 0 {
				t.Error(fmt.Sprintf("%s, %+v: %d bytes are taken for %d", name, f, mem.Used(), want), err)
			}
		}
	}
}

// BenchmarkReadPicture decodes a photograph and brings it to 24×24.
func BenchmarkReadPicture(b *testing.B) {
	for b.Loop() {
		if _, err := ReadPicture(filepath.Join(oracle, "half.jpg"), Fit{Shorter: 24, CropHeight: 24, CropWidth: 24}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
