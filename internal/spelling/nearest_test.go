package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"lambda", "gamma", "epochs", "learning-rate", "method"}
	for word, want := range map[string]string{"lamda": "lambda", "Gamma": "gamma", "epoch": "epochs", "learning": "learning-rate", "lr": "", "zzzzzz": "", "y": "", "lr2": ""} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q is taken for %q, want %q", word, got, want)
		}
	}
	for pair, want := range map[[2]string]int{{"", "abc"}: 3, {"kitten", "sitting"}: 3, {"abc", "abc"}: 0, {"ab", "ba"}: 2} {
		if got := Distance(pair[0], pair[1]); got != want {
			t.Errorf("from %q to %q are %d changes, want %d", pair[0], pair[1], got, want)
		}
	}
}
