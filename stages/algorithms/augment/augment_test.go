package augment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var (
	grey   = []int{1, 28, 28}
	colour = []int{3, 32, 20}
	column = []int{7}
)

func parse(t testing.TB, text string, shape []int) Policy {
	t.Helper()
	p, err := Parse(text, shape)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// image is a smooth random row of the shape.
func image(shape []int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	n := 1
	for _, k := range shape {
		n *= k
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = rng.Float32()
	}
	return x
}

// shapeOf is one that the part fits.
func shapesOf(name string) [][]int {
	if name == "noise" {
		return [][]int{column}
	}
	return [][]int{grey, colour}
}

// A part of strength 0 changes nothing; of strength 1 it changes something, and differently
// for another seed, step or place, and the same for the same.
func TestPartsDependOnSeedStepAndPlace(t *testing.T) {
	for _, name := range Names() {
		for _, shape := range shapesOf(name) {
			row := image(shape, 3)
			off := slices.Clone(row)
			parse(t, name+"=0", shape).New(shape).Apply(off, 1, 2, 3)
			if !slices.Equal(off, row) {
				t.Errorf("%s, strength 0, changes a row", name)
			}
			a, other := parse(t, name, shape).New(shape), parse(t, name, shape).New(shape)
			seen := map[string]bool{}
			for _, key := range [][3]uint64{{1, 2, 3}, {2, 2, 3}, {1, 3, 3}, {1, 2, 4}, {9, 1 << 20, 127}, {9, 127, 1 << 20}, {5, 5, 5}, {6, 6, 6}} {
				x, y := slices.Clone(row), slices.Clone(row)
				a.Apply(x, key[0], key[1], key[2])
				other.Apply(image(shape, 4), 0, 0, 0) // has another past
				other.Apply(y, key[0], key[1], key[2])
				if !slices.Equal(x, y) {
					t.Fatalf("%s: seed, step and place %v gave two results", name, key)
				}
				seen[fmt.Sprint(x)] = true
			}
			wanted := 7
			if name == "flip" || name == "sign" {
				wanted = 2
			} else if name == "filter" { // leaves a quarter of the images alone
				wanted = 4
			}
			if len(seen) < wanted {
				t.Errorf("%s %v: 8 draws gave %d different rows", name, shape, len(seen))
			}
		}
	}
}

// The rows of one batch change each in their own way, and a greater strength changes more.
func TestPlacesAndStrengths(t *testing.T) {
	for _, name := range Names() {
		shape := shapesOf(name)[0]
		row := image(shape, 3)
		changed := func(policy string) (mean float64, different int) {
			a, seen := parse(t, policy, shape).New(shape), map[string]bool{}
			for place := range uint64(200) {
				x := slices.Clone(row)
				a.Apply(x, 1, 1, place)
				for i, v := range x {
					mean += math.Abs(float64(v-row[i])) / float64(200*len(x))
				}
				seen[fmt.Sprint(x)] = true
			}
			return mean, len(seen)
		}
		weak, _ := changed(name + "=0.2")
		usual, different := changed(name)
		if different < 2 {
			t.Errorf("%s: all rows of a batch change alike", name)
		}
		if name == "flip" { // is done or not, with one probability
			continue
		}
		if !(weak < 0.8*usual) {
			t.Errorf("%s: strength 0.2 changes %.4f, and strength 1 %.4f", name, weak, usual)
		}
	}
}

// Every preset leaves finite rows of a sensible size, even of rows without any contrast.
func TestPresetsStayInRange(t *testing.T) {
	for _, name := range Presets() {
		for _, shape := range [][]int{grey, colour, {1, 4, 4}, {3, 5, 4}, column} {
			p, err := Parse(name, shape)
			if (name == "columns") == (len(shape) == 3) || err != nil {
				if name != "none" && err == nil {
					t.Errorf("%s fits %v", name, shape)
				}
				continue
			}
			a := p.New(shape)
			for place := range 200 {
				x := image(shape, uint64(place))
				if place == 0 {
					clear(x)
				}
				a.Apply(x, 1, 1, uint64(place))
				for _, v := range x {
					if !(math.Abs(float64(v)) < 50) {
						t.Fatalf("%s %v: value %g", name, shape, v)
					}
				}
			}
		}
	}
}

// moments of many draws of a part on a constant or simple row.
func draws(t *testing.T, policy string, shape []int, row []float32, n int, of func(x []float32) float64) (mean, deviation, least, greatest float64) {
	t.Helper()
	a := parse(t, policy, shape).New(shape)
	least, greatest = math.Inf(1), math.Inf(-1)
	sum, squares := 0.0, 0.0
	for i := range n {
		x := slices.Clone(row)
		a.Apply(x, 7, uint64(i), 0)
		v := of(x)
		sum, squares = sum+v, squares+v*v
		least, greatest = min(least, v), max(greatest, v)
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(squares/float64(n) - mean*mean), least, greatest
}

// A single bright pixel is moved by up to two pixels and their diagonals, evenly about
// where it was.
func TestAffineMovesEvenly(t *testing.T) {
	shape := []int{1, 29, 29}
	row := make([]float32, 29*29)
	row[14*29+14] = 1
	centre := func(x []float32) float64 {
		sum, total := 0.0, 0.0
		for i, v := range x {
			sum, total = sum+float64(v)*float64(i%29-14), total+float64(v)
		}
		return sum / total
	}
	mean, deviation, least, greatest := draws(t, "affine", shape, row, 4000, centre)
	if limit := 29.0 / 14 * 1.2 * 1.5; math.Abs(mean) > 0.1 || least < -limit || greatest > limit {
		t.Errorf("the pixel moved by %.3f on average, from %.3f to %.3f", mean, least, greatest)
	}
	if want := 29.0 / 14 / math.Sqrt(3); math.Abs(deviation-want) > 0.15 {
		t.Errorf("deviation %.3f of the shifts, want about %.3f", deviation, want)
	}
}

// warp follows a mapping that was worked out by hand: shifts and quarter turns land on
// pixels, half pixels are means, and the border goes on.
func TestWarpByHand(t *testing.T) {
	shape := []int{1, 4, 4}
	a := parse(t, "affine", shape).New(shape)
	row := make([]float32, 16)
	for i := range row {
		row[i] = float32(i)
	}
	for _, c := range []struct {
		name string
		m    mapping
		want []float32
	}{
		{"identity", mapping{xx: 1, yy: 1}, row},
		{"shift", mapping{xx: 1, yy: 1, dx: 1}, []float32{1, 2, 3, 3, 5, 6, 7, 7, 9, 10, 11, 11, 13, 14, 15, 15}},
		{"half a pixel", mapping{xx: 1, yy: 1, dx: -0.5, dy: 1}, []float32{4, 4.5, 5.5, 6.5, 8, 8.5, 9.5, 10.5, 12, 12.5, 13.5, 14.5, 12, 12.5, 13.5, 14.5}},
		{"quarter turn", mapping{xy: -1, yx: 1}, []float32{3, 7, 11, 15, 2, 6, 10, 14, 1, 5, 9, 13, 0, 4, 8, 12}},
		{"enlarged twice", mapping{xx: 0.5, yy: 0.5}, []float32{3.75, 4.25, 4.75, 5.25, 5.75, 6.25, 6.75, 7.25, 7.75, 8.25, 8.75, 9.25, 9.75, 10.25, 10.75, 11.25}},
	} {
		copy(a.x, row)
		a.warp(c.m)
		for i, v := range a.x {
			if math.Abs(float64(v-c.want[i])) > 1e-5 {
				t.Errorf("%s: %v, want %v", c.name, a.x, c.want)
				break
			}
		}
	}
}

func TestFlip(t *testing.T) {
	mean, _, _, _ := draws(t, "flip", []int{1, 4, 4}, []float32{1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 2000, func(x []float32) float64 {
		switch {
		case slices.Equal(x[:4], []float32{4, 3, 2, 1}):
			return 1
		case !slices.Equal(x[:4], []float32{1, 2, 3, 4}):
			t.Errorf("flip made %v", x[:4])
		}
		return 0
	})
	if math.Abs(mean-0.5) > 0.04 {
		t.Errorf("%.3f of the images are flipped", mean)
	}
}

// Thickness takes the maximum, or 0.7 of the minimum, over 3×3 pixels, in every channel.
func TestThickness(t *testing.T) {
	a := parse(t, "thickness", colour).New(colour)
	row := image(colour, 8)
	copy(a.x, row)
	a.dilate(1)
	for c := range 3 {
		for r := range 32 {
			for k := range 20 {
				want := float32(0)
				for i := max(0, r-1); i <= min(31, r+1); i++ {
					want = max(want, slices.Max(row[(c*32+i)*20+max(0, k-1):(c*32+i)*20+min(19, k+1)+1]))
				}
				if got := a.x[(c*32+r)*20+k]; got != want {
					t.Fatalf("channel %d, pixel %d,%d is %g, want %g", c, r, k, got, want)
				}
			}
		}
	}
	spot := make([]float32, 784)
	spot[14*28+14] = 1
	neighbour := func(x []float32) float64 { return float64(x[14*28+15]) }
	if mean, _, least, greatest := draws(t, "thickness", grey, spot, 4000, neighbour); math.Abs(mean-0.25) > 0.02 || least < 0 || greatest > 1 || greatest < 0.98 {
		t.Errorf("a neighbour gets %.3f on average, from %.3f to %.3f; want .25, 0 and 1", mean, least, greatest)
	}
	middle := func(x []float32) float64 { return float64(x[14*28+14]) }
	if _, _, least, _ := draws(t, "thickness", grey, spot, 4000, middle); math.Abs(least-0.3) > 0.02 {
		t.Errorf("a thinned spot keeps %.3f, want .3", least)
	}
}

// The texture's mean is 0, and its deviation that of the image times U(0, 1), whatever the
// size of its cells; in colour channels agree more than they differ.
func TestTexture(t *testing.T) {
	row := image(colour, 2)
	first := func(x []float32) float64 { return float64(x[300] - row[300]) }
	mean, deviation, _, _ := draws(t, "texture", colour, row, 6000, first)
	if math.Abs(mean) > 0.01 || deviation < 0.09 || deviation > 0.17 {
		t.Errorf("texture has the mean %.3f and deviation %.3f", mean, deviation)
	}
	product := func(x []float32) float64 { return float64(x[300]-row[300]) * float64(x[940]-row[940]) }
	if covariance, _, _, _ := draws(t, "texture", colour, row, 6000, product); math.Abs(covariance/(deviation*deviation)-0.8) > 0.1 {
		t.Errorf("channels correlate by %.3f, want .8", covariance/(deviation*deviation))
	}
}

// filter is the convolution by its definition, mixed with the image.
func TestFilterAgainstDefinition(t *testing.T) {
	a := parse(t, "filter", colour).New(colour)
	row, seen := image(colour, 5), map[int]bool{}
	for seed := range uint64(40) {
		x := slices.Clone(row)
		a.Apply(x, seed, 0, 0)
		want, side := filtered(a, row, seed)
		for i := range x {
			if math.Abs(float64(x[i]-want[i])) > 1e-4 {
				t.Fatalf("seed %d, side %d: element %d is %g, want %g", seed, side, i, x[i], want[i])
			}
		}
		seen[side] = true
	}
	if len(seen) < 5 {
		t.Errorf("only sides %v were drawn", seen)
	}
}

// filtered draws what filter draws and convolves slowly. Side 0 is an image left alone.
func filtered(a *Augmenter, row []float32, seed uint64) ([]float32, int) {
	a.pcg.Seed(seed, 0)
	if a.rng.Float64() >= filterShare {
		return row, 0
	}
	side := filterSides[a.rng.IntN(len(filterSides))]
	share := a.rng.Float64()
	weights := make([]float64, 9*side*side)
	for i := range weights {
		weights[i] = a.rng.NormFloat64() / math.Sqrt(float64(3*side*side))
	}
	clip := func(i, n int) int { return max(0, min(n-1, i)) }
	out := make([]float32, len(row))
	for i := range out {
		c, r, k := i/640, i/20%32, i%20
		sum := 0.0
		for j, w := range weights[c*3*side*side : (c+1)*3*side*side] {
			from, dr, dk := j/(side*side), j/side%side-side/2, j%side-side/2
			sum += w * float64(row[from*640+clip(r+dr, 32)*20+clip(k+dk, 20)])
		}
		out[i] = float32((1-share)*float64(row[i]) + share*sum)
	}
	return out, side
}

func TestContrastAndSign(t *testing.T) {
	row := image(grey, 6)
	spread := func(x []float32) float64 { return float64(deviation(x) / deviation(row)) }
	if _, _, least, greatest := draws(t, "contrast", grey, row, 4000, spread); least < 1/2.4-1e-3 || greatest > 2.4+1e-3 || least > 0.5 || greatest < 2 {
		t.Errorf("contrast is changed by factors from %.3f to %.3f", least, greatest)
	}
	sign := func(x []float32) float64 { return float64(x[9]-row[9]) / float64(row[9]) }
	if mean, _, _, _ := draws(t, "sign", grey, row, 100, sign); mean == 0 {
		t.Error("sign changes nothing")
	}
}

func TestNoise(t *testing.T) {
	row := make([]float32, 7)
	value := func(x []float32) float64 { return float64(x[3]) }
	mean, deviation, _, _ := draws(t, "noise", column, row, 8000, value)
	if want := 0.5 / math.Sqrt(3); math.Abs(mean) > 0.02 || math.Abs(deviation-want) > 0.02 {
		t.Errorf("noise has the mean %.3f and deviation %.3f, want 0 and %.3f", mean, deviation, want)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, want string
		shape      []int
	}{
		{"digits", "affine,thickness,texture=1.5,filter", grey},
		{"auto", "affine,thickness,texture=1.5,filter", colour},
		{"auto", "noise", column},
		{"none", "none", grey},
		{"", "none", column},
		{"affine=0.50, sign", "affine=0.5,sign", grey},
	} {
		if got := parse(t, c.text, c.shape).String(); got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
	for _, c := range []struct {
		text, want string
		shape      []int
	}{
		{"affine,blur", "there is no such part", grey},
		{"affine=-1", "want a strength", grey},
		{"affine=NaN", "want a strength", grey},
		{"affine=5", "want a strength", grey},
		{"digits", "is for images", column},
		{"noise", "for plain columns", grey},
		{"affine", "too small", []int{1, 3, 9}},
	} {
		if _, err := Parse(c.text, c.shape); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q of %v: error %v, want one with %q", c.text, c.shape, err, c.want)
		}
	}
}

// One thread's time for a batch of 128 images.
func BenchmarkBatch(b *testing.B) {
	for _, shape := range [][]int{grey, {3, 28, 28}} {
		for _, policy := range append([]string{"digits", "photos"}, strings.Split(presets["digits"], ",")...) {
			b.Run(fmt.Sprintf("%s/%d", policy, shape[0]), func(b *testing.B) {
				a, x := parse(b, policy, shape).New(shape), image(shape, 1)
				row := slices.Clone(x)
				b.ReportAllocs()
				for step := uint64(0); b.Loop(); step++ {
					for place := range uint64(128) {
						copy(row, x)
						a.Apply(row, 1, step, place)
					}
				}
			})
		}
	}
}
