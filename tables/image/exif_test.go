package image

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Pictures are seen as Pillow shows them, however the camera was held.
func TestOrientation(t *testing.T) {
	const folder = "../../testdata/oracle/exif"
	var want map[string]struct {
		Size    [2]int
		Corners [4][3]float64
	}
	text, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil || len(want) != 16 {
		t.Fatal(len(want), err)
	}
	for name, w := range want {
		p, err := ReadPhotograph(filepath.Join(folder, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.H != w.Size[0] || p.W != w.Size[1] {
			t.Errorf("%s: %d×%d pixels, want %v", name, p.H, p.W, w.Size)
			continue
		}
		for k, at := range [][2]int{{2, 2}, {2, p.W - 3}, {p.H - 3, 2}, {p.H - 3, p.W - 3}} {
			for c := range 3 {
				if got := float64(p.Pix[3*(at[0]*p.W+at[1])+c]); math.Abs(got-w.Corners[k][c]) > 6 {
					t.Errorf("%s: corner %d, channel %d: %v, want %v", name, k, c, got, w.Corners[k][c])
				}
			}
		}
	}
}

// Whatever the segment holds, the file is read or refused.
func FuzzOrientation(f *testing.F) {
	for _, name := range []string{"6II.jpg", "3MM.jpg"} {
		text, err := os.ReadFile(filepath.Join("../../testdata/oracle/exif", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:200])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if v := tiffOrientation(data); v < 1 || v > 8 {
			t.Fatal(v)
		}
		path := filepath.Join(t.TempDir(), "a.jpg")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if v := orientation(f); v < 1 || v > 8 {
			t.Fatal(v)
		}
	})
}
