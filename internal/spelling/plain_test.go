package spelling

import "testing"

func TestTwins(t *testing.T) {
	for _, c := range []struct {
		names [2]string
		twins bool
	}{
		{[2]string{"yes", " Yes"}, true},
		{[2]string{"1", "1.0"}, true},
		{[2]string{"true", "1"}, true},
		{[2]string{"caf\u00e9", "cafe\u0301"}, true}, // an é of one character, and of two
		{[2]string{"caf\u00e9", "cafe"}, false},
		{[2]string{"10\u2075", "105"}, false}, // a power is another number
	} {
		one, other, found := Twins([]string{"other", c.names[0], c.names[1]})
		if found != c.twins || found && (one != c.names[0] || other != c.names[1]) {
			t.Errorf("%q: %q and %q, %t", c.names, one, other, found)
		}
	}
}
