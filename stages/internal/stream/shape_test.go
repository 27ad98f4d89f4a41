package stream

import "testing"

// Rows are taken for images where nothing says what they are if all their values are from 0 to 1, or whole ones to 255.
func TestPixels(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float32
		want   bool
	}{
		{"parts of 1", []float32{0, .5, 1}, true},
		{"a little above 1", []float32{0, .5, 1.01}, false},
		{"a little below 0", []float32{-.01, .5, 1}, false},
		{"bytes", []float32{0, 17, 255}, true},
		{"above bytes", []float32{0, 17, 256}, false},
		{"below bytes", []float32{-1, 17, 255}, false},
		{"between bytes", []float32{0, 17.5, 255}, false},
	} {
		if got := pixels(test.values[:1], test.values[1:]); got != test.want {
			t.Errorf("%s: pixels = %v, want %v", test.name, got, test.want)
		}
	}
}
