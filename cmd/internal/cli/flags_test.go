package cli

import "testing"

func TestBytesFlag(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "512": 512, "64K": 64 << 10, "1.5M": 3 << 19, "2GiB": 2 << 30, "2g": 2 << 30, "1e3": 1000} {
		var b bytesFlag
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%q is %d, %v; want %d", text, b, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1Q", "NaN", "Inf", "1e30"} {
		var b bytesFlag
		if err := b.Set(text); err == nil {
			t.Errorf("%q was taken for %d bytes", text, b)
		}
	}
	for n, want := range map[bytesFlag]string{0: "0", 1 << 30: "1G", 3 << 19: "1536K", 100: "100"} {
		if got := n.String(); got != want {
			t.Errorf("%d prints as %q, want %q", int64(n), got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string][2]int{"": {0, 0}, "28": {28, 28}, "28x20": {28, 20}} {
		if h, w, err := parseSize(text); err != nil || h != want[0] || w != want[1] {
			t.Errorf("%q is %d×%d, %v", text, h, w, err)
		}
	}
	for _, text := range []string{"x", "0", "-3", "28x", "28x28x3", "100000"} {
		if _, _, err := parseSize(text); err == nil {
			t.Errorf("%q was taken for a size", text)
		}
	}
}
