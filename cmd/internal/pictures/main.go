// Pictures draws the figures of README by running the program: the toy problem as it is, as a plain
// classifier labels it and as mars label does, and the shares as a page draws them. They are SVG
// that follows the reader's light or dark setting. make figures runs it.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/show/report"
)

func main() {
	program := flag.String("mars", "mars", "the program")
	folder := flag.String("o", filepath.Join("docs", "figures"), "folder of the figures")
	flag.Parse()
	if err := draw(context.Background(), *program, *folder); err != nil {
		log.Fatal(err)
	}
}

// draw writes the figures into a folder.
func draw(ctx context.Context, program, folder string) error {
	work, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	file := func(name string) string { return filepath.Join(work, name) }
	toy, plain, ours, shares := file("toy.arrow"), file("plain.arrow"), file("ours.arrow"), file("shares.json")
	for _, args := range [][]string{
		{"featurize", "toy", "--shift", "8", "--target-proportions", "0.66,0.17,0.17", "--truth", "-o", toy},
		{"train", "--method", "source", toy, "-o", plain},
		{"train", "--method", "hedge", toy, "-o", ours},
		{"proportions", "--truth", toy, "-o", shares},
	} {
		if out, err := exec.CommandContext(ctx, program, append(args, "-q")...).CombinedOutput(); err != nil {
			return fmt.Errorf("mars %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	toyText, err := toySVG(ctx, plain, ours)
	if err != nil {
		return err
	}
	part, err := report.Open(ctx, shares, report.Options{})
	if err != nil {
		return err
	}
	sharesText, err := part.Figures[0].Inline("shares")
	if err != nil {
		return err
	}
	sharesText, _, _ = strings.Cut(sharesText, "</svg>") // as a wide page draws them
	return cmp.Or(os.WriteFile(filepath.Join(folder, "toy.svg"), []byte(toyText), 0o644),
		os.WriteFile(filepath.Join(folder, "shares.svg"), []byte(styled(sharesText+"</svg>\n")), 0o644))
}

// style is the page's colours, which Inline leaves open, by the reader's setting.
const style = `<style>:root { --page: #fff; color: #1a1c1f; } @media (prefers-color-scheme: dark) { :root { --page: #0d1117; color: #e6edf3; } }</style>`

// styled gives an element of SVG the page's colours.
func styled(svg string) string {
	at := strings.IndexByte(svg, '>') + 1
	return svg[:at] + style + svg[at:]
}

// A row is one of the toy problem.
type row struct {
	x, y             float32
	class, predicted int // the true class, and that of a classifier; −1: no label
}

const (
	side   = 215 // of a panel, in points
	drawn  = 400 // rows of a domain
	top    = 46  // above a panel
	radius = 1.9
)

// colours are those of the classes, by Okabe and Ito.
var colours = []string{"#0072B2", "#E69F00", "#009E73"}

// toySVG draws source, target, and the target as a plain classifier and as mars label labels it.
func toySVG(ctx context.Context, plain, ours string) (string, error) {
	source, target, err := readRows(ctx, plain)
	if err != nil {
		return "", err
	}
	_, labelled, err := readRows(ctx, ours)
	if err != nil {
		return "", err
	}
	bare := append([]row(nil), target...)
	for i := range bare {
		bare[i].predicted = -1
	}
	panels := []struct {
		title, text string
		rows        []row
	}{
		{"Source", "labelled; " + balance(source), source},
		{"Target", "no labels; in truth " + balance(target), bare},
		{"A plain classifier", right(target), target},
		{"mars label", right(labelled), labelled},
	}
	words := "Four panels of the same plane. The source has three classes in equal parts. The target's have moved, and one is four times as large as the others. A plain classifier labels many rows of one class wrongly; mars label labels nearly all rightly."
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" fill="currentColor" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif">`, 4*side+3*12, side+top)
	fmt.Fprintf(&b, "%s<title>Source, target, a plain classifier and mars label</title><desc>%s</desc>\n", style, words)
	for k, p := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d 0)"><text x="1" y="16" font-size="15" font-weight="600">%s</text><text x="1" y="35" font-size="12.5">%s</text>`+"\n", k*(side+12), p.title, p.text)
		fmt.Fprintf(&b, `<rect x=".5" y="%.1f" width="%d" height="%d" rx="4" fill="none" stroke="#808080" stroke-opacity=".5"/>`+"\n", top+.5-2, side-1, side-1)
		points(&b, p.rows)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

// points draws the rows of a panel: a dot in the colour of the label, grey without one, and a cross on
// those that are wrong. All of a kind are one path.
func points(b *strings.Builder, rows []row) {
	paths, wrong := make([]strings.Builder, len(colours)+1), strings.Builder{}
	for _, r := range rows[:min(drawn, len(rows))] {
		x, y := side*(r.x+1)/3.2, top-2+side*(2.3-r.y)/3.2
		if r.predicted >= 0 && r.predicted != r.class {
			fmt.Fprintf(&wrong, "M%.1f %.1fl4 4m0-4l-4 4", x-2, y-2)
		}
		fmt.Fprintf(&paths[r.predicted+1], "M%.1f %.1fh0", x, y)
	}
	for k := range paths {
		if colour := append([]string{"#808080"}, colours...)[k]; paths[k].Len() > 0 {
			fmt.Fprintf(b, `<path fill="none" stroke="%s" stroke-width="%.1f" stroke-linecap="round" d="%s"/>`+"\n", colour, 2*radius, paths[k].String())
		}
	}
	if wrong.Len() > 0 {
		fmt.Fprintf(b, `<path fill="none" stroke="currentColor" stroke-width="1.1" d="%s"/>`+"\n", wrong.String())
	}
}

// balance says what share each class has.
func balance(rows []row) string {
	counts := make([]int, len(colours))
	for _, r := range rows {
		counts[r.class]++
	}
	var parts []string
	for _, n := range counts {
		parts = append(parts, fmt.Sprintf("%.0f", 100*float64(n)/float64(len(rows))))
	}
	return strings.Join(parts, ", ") + " %"
}

// right says how many labels are right: of all, and of the class that has the fewest right.
func right(rows []row) string {
	all, good := make([]int, len(colours)), make([]int, len(colours))
	sum := 0
	for _, r := range rows {
		all[r.class]++
		if r.class == r.predicted {
			good[r.class]++
			sum++
		}
	}
	worst := 1.0
	for k := range all {
		worst = min(worst, float64(good[k])/float64(all[k]))
	}
	return fmt.Sprintf("%.1f %% right; worst class %.0f %%", 100*float64(sum)/float64(len(rows)), 100*worst)
}

// readRows reads the rows of both domains, as a classifier has labelled them; source rows have their label.
func readRows(ctx context.Context, path string) (source, target []row, err error) {
	in, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	names := arrowio.DefaultColumns()
	err = arrowio.Each(ctx, in, func(rec arrow.Record) error {
		at := func(name string) arrow.Array { return rec.Column(rec.Schema().FieldIndices(name)[0]) }
		domains, err := arrowio.DomainColumn(rec, names.Domain)
		if err != nil {
			return err
		}
		vectors, err := arrowio.VectorColumn(rec, names.Features)
		if err != nil {
			return err
		}
		label, truth, predicted := at(names.Label).(*array.Int32), at(names.Truth).(*array.Int32), at(names.Prediction).(*array.Int32)
		for i, domain := range domains {
			r := row{x: vectors.Row(i)[0], y: vectors.Row(i)[1]}
			if domain == arrowio.SourceDomain {
				r.class, r.predicted = int(label.Value(i)), int(label.Value(i))
				source = append(source, r)
				continue
			}
			r.class, r.predicted = int(truth.Value(i)), int(predicted.Value(i))
			target = append(target, r)
		}
		return nil
	})
	return source, target, err
}
