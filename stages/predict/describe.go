package predict

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/internal/prepared"
)

// IsModel reports whether a file begins as a safetensors file does: with the length of a
// header, and the header, which is a JSON object.
func IsModel(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 9)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	return head[7] == 0 && head[8] == '{'
}

// Describe shows what a model's file says of it.
func Describe(w io.Writer, path string, asJSON bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	f, err := safetensors.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(f.Metadata)
	}
	values := 0
	for _, t := range f.Tensors {
		values += len(t.Data)
	}
	fmt.Fprintf(w, "%s: a model of %d tensors, %d numbers\n", path, len(f.Tensors), values)
	if err := writePrepared(w, f.Metadata[adapt.KeyPreparation]); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		if key != adapt.KeyPreparation {
			fmt.Fprintf(w, "  %s = %s\n", key, f.Metadata[key])
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\ntensor\tshape")
	for _, t := range f.Tensors {
		fmt.Fprintf(tw, "%s\t%s\n", t.Name, strings.Trim(strings.ReplaceAll(fmt.Sprint(t.Shape), " ", "×"), "[]"))
	}
	return tw.Flush()
}

// writePrepared shows the columns that a model takes and how they are prepared.
func writePrepared(w io.Writer, text string) error {
	if text == "" {
		_, err := fmt.Fprintln(w, "  it does not say which columns it takes")
		return err
	}
	p, err := prepared.Parse(text)
	if err != nil {
		return err
	}
	if p.Target.Images != nil {
		fmt.Fprintf(w, "  images: %s\n", p.Target.Images)
	}
	if p.Compensate {
		fmt.Fprintln(w, "  FCS files are compensated by their spillover matrix")
	}
	side := p.Of(arrowio.TargetDomain)
	if side.Transform != nil {
		fmt.Fprintf(w, "  numbers are transformed by %s\n", side.Transform)
	}
	if side.None() {
		_, err := fmt.Fprintf(w, "  columns, as they are: %s\n", strings.Join(p.Columns, ", "))
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heading := "less\tdivided by"
	if side.Quantiles != nil {
		heading = "least\tmedian\tgreatest"
	}
	fmt.Fprintln(tw, "  feature\tcolumn\t"+heading)
	for j := range side.Width() {
		name := ""
		if j < len(p.Columns) {
			name = p.Columns[j]
		}
		fmt.Fprintf(tw, "  %d\t%s", j+1, name)
		if q := side.Quantiles; q != nil {
			v := q.Values[j]
			fmt.Fprintf(tw, "\t%g\t%g\t%g\n", v[0], (v[(len(v)-1)/2]+v[len(v)/2])/2, v[len(v)-1])
			continue
		}
		fmt.Fprintf(tw, "\t%g\t%g\n", side.Standard.Mean[j], side.Standard.Deviation[j])
	}
	return tw.Flush()
}
