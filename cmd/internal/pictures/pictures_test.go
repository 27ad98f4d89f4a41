package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// figures is where README's figures are.
var figures = filepath.Join("..", "..", "..", "docs", "figures")

var number = regexp.MustCompile(`-?\d*\.?\d+`)

// README's figures are those that the program draws today, but for what another processor rounds
// otherwise: make figures draws them again.
func TestFiguresAreNotStale(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "mars")
	if out, err := exec.Command("go", "build", "-o", program, "mars.dev/mars/cmd/mars").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := draw(t.Context(), program, folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"toy.svg", "shares.svg"} {
		kept, err := os.ReadFile(filepath.Join(figures, name))
		if err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if why := differ(string(kept), string(now)); why != "" {
			t.Errorf("%s is stale: %s: make figures, and look at it", name, why)
		}
	}
}

// differ says why two drawings are not alike: in their words and shapes, or in more than a hundredth
// of their numbers by more than one.
func differ(a, b string) string {
	if number.ReplaceAllString(a, "0") != number.ReplaceAllString(b, "0") {
		return "its words or shapes are others"
	}
	before, after, far := number.FindAllString(a, -1), number.FindAllString(b, -1), 0
	for i := range before {
		x, _ := strconv.ParseFloat(before[i], 64)
		y, _ := strconv.ParseFloat(after[i], 64)
		if math.Abs(x-y) > 1 {
			far++
		}
	}
	if far > len(before)/100 {
		return strconv.Itoa(far) + " of its numbers are others"
	}
	return ""
}

// A bar that is longer, and a word that is another, are seen.
func TestDiffer(t *testing.T) {
	for b, same := range map[string]bool{`<a x="10.2">share</a>`: true, `<a x="14">share</a>`: false, `<a x="10">shares</a>`: false} {
		if why := differ(`<a x="10">share</a>`, b); (why == "") != same {
			t.Errorf("%s: %q", b, why)
		}
	}
}
