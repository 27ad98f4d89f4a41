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
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/prepared"
	"mars.dev/mars/tables/encode"
	"mars.dev/mars/tables/write"
)

// IsModel reports whether a file begins as a safetensors file does, with the length of a
// header, and the header, which is a JSON object; or as an ONNX file.
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
	return head[7] == 0 && head[8] == '{' || models.IsONNX(path)
}

// A description is what a model's file says of it.
type description struct {
	kind     string
	metadata map[string]string
	tensors  []safetensors.Tensor // names and shapes
}

// Describe shows what a model's file says of it.
func Describe(w io.Writer, path string, asJSON bool) error {
	read := readTensors
	if models.IsONNX(path) {
		read = readONNX
	}
	d, err := read(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if asJSON {
		return write.Object(w, d.metadata)
	}
	values := 0
	for _, t := range d.tensors {
		n := 1
		for _, k := range t.Shape {
			n *= k
		}
		values += n
	}
	fmt.Fprintf(w, "%s: %s of %d tensors, %d numbers\n", path, d.kind, len(d.tensors), values)
	writeSentence(w, d.metadata)
	if err := writePrepared(w, d.metadata[adapt.KeyPreparation]); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, key := range slices.Sorted(maps.Keys(d.metadata)) {
		if key != adapt.KeyPreparation {
			fmt.Fprintf(w, "  %s = %s\n", key, d.metadata[key])
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\ntensor\tshape")
	for _, t := range d.tensors {
		fmt.Fprintf(tw, "%s\t%s\n", t.Name, strings.Trim(strings.ReplaceAll(fmt.Sprint(t.Shape), " ", "×"), "[]"))
	}
	return tw.Flush()
}

// writeSentence says first what a model does, as far as its file says so: what does not parse is shown as it is.
func writeSentence(w io.Writer, metadata map[string]string) {
	var classes []string
	if json.Unmarshal([]byte(metadata[adapt.KeyClasses]), &classes) != nil || len(classes) == 0 {
		return
	}
	of := "rows"
	if p, err := prepared.Parse(metadata[adapt.KeyPreparation]); err == nil && len(p.Columns) > 0 {
		names, e := p.Columns, encode.Encoder{}
		if json.Unmarshal(p.Inputs, &e) == nil { // fails where there are none
			names = e.Inputs()
		}
		of = fmt.Sprintf("rows of %s (%s)", spelling.Count(len(names), "column", "columns"), spelling.List(names))
	}
	fmt.Fprintf(w, "It labels %s with one of %d classes (%s).\n", safetext.Escape(of), len(classes), safetext.Escape(spelling.List(classes)))
	var said struct {
		Evidence *hedge.Evidence `json:"evidence"`
	}
	if json.Unmarshal([]byte(metadata[hedge.KeyModel]), &said) == nil && said.Evidence != nil {
		fmt.Fprintf(w, "Of the target that it was made for, %.0f %% of the labels are expected to be right.\n", 100*said.Evidence.ExpectedAccuracy)
	}
}

func readTensors(path string) (*description, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := safetensors.Read(file)
	return &description{"a model", f.Metadata, f.Tensors}, err
}

// readONNX leaves out what a graph has beside its named tensors.
func readONNX(path string) (*description, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := onnx.Parse(b)
	if err != nil {
		return nil, err
	}
	d := &description{kind: "an ONNX model", metadata: f.Metadata}
	delete(d.metadata, models.OriginKey)
	for _, t := range f.Tensors {
		if !strings.HasPrefix(t.Name, "/") {
			d.tensors = append(d.tensors, safetensors.Tensor{Name: t.Name, Shape: t.Shape})
		}
	}
	return d, nil
}

// writePrepared shows the columns that a model takes and how they are prepared.
func writePrepared(w io.Writer, text string) error {
	if text == "" {
		fmt.Fprintln(w, "  it does not say which columns it takes")
		return nil
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
		fmt.Fprintf(w, "  columns, as they are: %s\n", strings.Join(p.Columns, ", "))
		return nil
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
