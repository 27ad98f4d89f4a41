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
	standard := p.Of(arrowio.TargetDomain).Standard
	if standard == nil {
		_, err := fmt.Fprintf(w, "  columns, as they are: %s\n", strings.Join(p.Columns, ", "))
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  feature\tcolumn\tless\tdivided by")
	for j, mean := range standard.Mean {
		name := ""
		if j < len(p.Columns) {
			name = p.Columns[j]
		}
		fmt.Fprintf(tw, "  %d\t%s\t%g\t%g\n", j+1, name, mean, standard.Deviation[j])
	}
	return tw.Flush()
}
