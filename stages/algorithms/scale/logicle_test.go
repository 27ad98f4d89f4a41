package scale

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

func TestLogicleIsFlowUtils(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/oracle/logicle/logicle.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Logicle
		Values, Scaled []float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 8 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		of := c.Logicle.of()
		for i, v := range c.Values {
			if got := of(v); !(math.Abs(got-c.Scaled[i]) <= 1e-9*max(1, math.Abs(c.Scaled[i]))) {
				t.Errorf("%+v: %v becomes %.12g, want %.12g", c.Logicle, v, got, c.Scaled[i])
			}
		}
	}
}

// The scale has a value for whatever float32 holds, and it grows.
func TestLogicleGrows(t *testing.T) {
	for _, l := range []Logicle{{262144, 0.5, 4.5, 0}, {1, 0, 1e-3, 0}, {1e-30, 12, 25, 0}, {1e30, 0, 25, 25}, {5, 2, 4, -2}} {
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		of, last := Transform{Logicle: l}.Func(), float32(math.Inf(-1))
		for _, v := range []float32{-math.MaxFloat32, -1e9, -1, -1e-3, 0, 1e-3, 1, 1e9, math.MaxFloat32} {
			y := of(v)
			if y-y != 0 || y < last {
				t.Errorf("%+v: %v becomes %v after %v", l, v, y, last)
			}
			last = y
		}
	}
}

func TestLogicleErrors(t *testing.T) {
	for _, c := range []struct {
		l    Logicle
		want string
	}{
		{Logicle{0, 0.5, 4.5, 0}, "T 0 and M 4.5"},
		{Logicle{math.Inf(1), 0.5, 4.5, 0}, "T +Inf"},
		{Logicle{1, 0.5, math.NaN(), 0}, "M NaN"},
		{Logicle{1, 3, 4.5, 0}, "W 3: want a number from 0 to M/2, 2.25"},
		{Logicle{1, -1, 4.5, 0}, "W -1"},
		{Logicle{1, 0.5, 4.5, 4}, "A 4: want a number from -W to M - 2W, -0.5 to 3.5"},
		{Logicle{1, 0.5, 4.5, -1}, "A -1"},
		{Logicle{1, 0.5, 400, 0}, "at most 50"},
	} {
		if err := (Transform{Logicle: c.l}).Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.l, err, c.want)
		}
	}
	if err := (Transform{Log1p: true, Logicle: Logicle{1, 0.5, 4.5, 0}}).Check(); err == nil {
		t.Error("two transforms are taken")
	}
}

func BenchmarkLogicle(b *testing.B) {
	of, x := Logicle{262144, 0.5, 4.5, 0}.of(), make([]float64, 1000)
	for i := range x {
		x[i] = math.Sinh(float64(i)/100-3) * 200
	}
	for b.Loop() {
		for _, v := range x {
			sink += of(v)
		}
	}
}

var sink float64
