package report

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the references of the figures anew")

var (
	drawnNumber = regexp.MustCompile(`-?\d*\.?\d+`)
	drawnCoord  = regexp.MustCompile(`\d+\.\d+`)
)

// A figure of a page is as it was when somebody last looked at it: its words and shapes are the same,
// and nothing has moved by more than a point.
func TestFiguresAreAsTheyWere(t *testing.T) {
	var now strings.Builder
	for _, p := range allParts(t, []string{"a", "b", "c"}) {
		for _, f := range p.Figures {
			if f.Kind == "tsne" {
				continue // it moves with the last bit of a processor's sums
			}
			var svg bytes.Buffer
			if err := f.Write(&svg, ".svg"); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&now, "%s %s: %s\n", f.Kind, f.Title, roughly(svg.String()))
		}
	}
	path := filepath.Join("testdata", "figures.txt")
	if *update {
		if err := os.WriteFile(path, []byte(now.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after := strings.Split(string(kept), "\n"), strings.Split(now.String(), "\n")
	if len(before) != len(after) {
		t.Fatalf("%d figures, and there were %d: go test ./show/report -run AsTheyWere -update, and look at them", len(after), len(before))
	}
	for i := range after {
		if why := changed(before[i], after[i]); why != "" {
			name, _, _ := strings.Cut(after[i], ":")
			t.Errorf("%s: %s: look at it (mars report), then go test ./show/report -run AsTheyWere -update", name, why)
		}
	}
}

// roughly is a drawing on a line, with whole numbers for places.
func roughly(svg string) string {
	_, svg, _ = strings.Cut(svg, "<svg")
	svg = drawnCoord.ReplaceAllStringFunc(svg, func(text string) string {
		v, _ := strconv.ParseFloat(text, 64)
		return strconv.Itoa(int(math.Round(v)))
	})
	return strings.Join(strings.Fields(svg), " ")
}

// changed says why two drawings are not alike; "" if they are.
func changed(a, b string) string {
	if x, y := drawnNumber.ReplaceAllString(a, "0"), drawnNumber.ReplaceAllString(b, "0"); x != y {
		return "its words or shapes are others"
	}
	before, after := drawnNumber.FindAllString(a, -1), drawnNumber.FindAllString(b, -1)
	for i := range before {
		x, _ := strconv.ParseFloat(before[i], 64)
		if y, _ := strconv.ParseFloat(after[i], 64); math.Abs(x-y) > 1 {
			return fmt.Sprintf("%s was %s", after[i], before[i])
		}
	}
	return ""
}

// maxPage is how large a page of ordinary size may be, in bytes: a telephone has it in a second.
const maxPage = 300_000

// Pages are small, and a figure that is not drawn for telephones apart is drawn for them too.
func TestPagesAreSmall(t *testing.T) {
	parts := allParts(t, []string{"a", "b", "c"})
	many, err := Rows(t.Context(), rowsOf([]string{"a", "b", "c"}, 250), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(parts, many) {
		var b bytes.Buffer
		if err := (&Page{Title: p.Title, Parts: []*Part{p}}).Write(&b); err != nil {
			t.Fatal(err)
		}
		if b.Len() > maxPage {
			t.Errorf("%s: %d bytes", p.Title, b.Len())
		}
		if wide, narrow := strings.Count(b.String(), `class="wide"`), strings.Count(b.String(), `class="narrow"`); wide != narrow {
			t.Errorf("%s: %d figures for wide screens and %d for telephones", p.Title, wide, narrow)
		}
	}
}

// A bar that is longer, and a word that is another, are seen; the last digits are not.
func TestChanged(t *testing.T) {
	for b, same := range map[string]bool{"<a x=11>share": true, "<a x=14>share": false, "<a x=10>shares": false} {
		if why := changed("<a x=10>share", b); (why == "") != same {
			t.Errorf("%s: %q", b, why)
		}
	}
}
