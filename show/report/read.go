package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline/compare"
	"mars.dev/mars/show/figures"
	"mars.dev/mars/stages/eval"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/match"
	"mars.dev/mars/stages/proportions"
	"mars.dev/mars/tables"
)

// maxJSON is how long a report in JSON may be.
const maxJSON = 256 << 20

// Readable says in words what Open reads.
const Readable = "the JSON of mars proportions --json, mars eval --json or mars compare -o x.json; labels of mars label; what mars train --metrics or mars match --save wrote; a stream with features; the table of a study of methods (mars run)"

// Options say what there is to see of files, beyond what there always is.
type Options struct {
	TSNE bool // lay the rows of streams out by t-SNE, too
}

// Open reads a file that a program wrote, and says what there is to see of it.
func Open(ctx context.Context, path string, o Options) (*Part, error) {
	p, err := open(ctx, path, o)
	if err != nil {
		if strings.HasPrefix(err.Error(), path) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.From = path
	return p, nil
}

func open(ctx context.Context, path string, o Options) (*Part, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	head := make([]byte, arrowio.SniffLength)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("is empty: check what wrote it")
		}
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	switch {
	case arrowio.IsArrow(head[:n]):
		return openArrow(ctx, path, o)
	case slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(path))):
		return openStudy(path)
	case bytes.HasPrefix(bytes.TrimLeft(head[:n], " \t\r\n\ufeff"), []byte("{")):
		return openJSON(f)
	case bytes.Contains(firstLine(head[:n]), []byte("predicted_class")):
		return openLabels(ctx, path, nil)
	case isStudy(firstLine(head[:n])):
		return openStudy(path)
	}
	if p, err := openLabels(ctx, path, nil); err == nil { // Parquet, or compressed
		return p, nil
	}
	return nil, errNothing
}

var errNothing = errors.New("is nothing that can be drawn: give " + Readable)

func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line
}

// isStudy reports whether the first line of a file is that of a table of runs.
func isStudy(line []byte) bool {
	head, err := csv.NewReader(bytes.NewReader(line)).Read()
	return err == nil && slices.ContainsFunc(head, func(name string) bool { return strings.TrimPrefix(name, "\ufeff") == "method" })
}

// openStudy reads what the runs of a study left.
func openStudy(path string) (*Part, error) {
	return methods(func(o compare.Options) (*compare.Comparison, error) { return compare.Files([]string{path}, o) })
}

// openJSON reads a report by the names that it has.
func openJSON(r io.Reader) (*Part, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxJSON {
		return nil, fmt.Errorf("has more than %d MB of JSON: no program here writes that", maxJSON>>20)
	}
	var names map[string]json.RawMessage
	if err := json.Unmarshal(text, &names); err != nil {
		return nil, fmt.Errorf("is no valid JSON object (%w): check what wrote it", err)
	}
	has := func(name string) bool { return names[name] != nil }
	switch {
	case has("expected_error") && has("interval"):
		return decoded(text, Proportions)
	case has("confusion_matrix"):
		return decoded(text, Evaluation)
	case has("methods") && has("settings"):
		return decoded(text, Comparison)
	}
	return nil, errors.New("is JSON of another kind: give " + Readable)
}

func decoded[T proportions.Report | eval.Metrics | compare.Comparison](text []byte, part func(*T) (*Part, error)) (*Part, error) {
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("is damaged (%w): run the command that wrote it again", err)
	}
	return part(v)
}

func openArrow(ctx context.Context, path string, o Options) (*Part, error) {
	r, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	has, columns := func(name string) bool { return arrowio.HasColumn(r.Schema(), name) }, arrowio.DefaultColumns()
	switch {
	case has("class") && has("plan"):
		classes, plan, err := match.LoadPlan(path)
		if err != nil {
			return nil, err
		}
		return Plan(classes, plan)
	case has("epoch") && has("class_loss"):
		return openMetrics(ctx, r)
	case has("predicted_class") && has(label.Confidence):
		return openLabels(ctx, path, r.Schema())
	case has("chosen") && has("seconds") && has("failed"):
		return openSelection(ctx, r)
	case has(columns.Domain) && (has(columns.Features) || has(columns.Embedding)):
		return Rows(ctx, r, o)
	}
	return nil, errors.New("is Arrow of another kind: give " + Readable)
}

// openMetrics reads the figures of a training.
func openMetrics(ctx context.Context, r *arrowio.Reader) (*Part, error) {
	meta, err := arrowio.ReadMeta(r.Schema())
	if err != nil {
		return nil, err
	}
	e := figures.Epochs{Classes: meta.Classes}
	err = arrowio.Each(ctx, r, func(rec arrow.Record) error {
		for _, c := range []struct {
			name string
			to   *[]float64
		}{{"epoch", &e.Epoch}, {"class_loss", &e.Loss}, {"source_accuracy", &e.Accuracy}, {"critic_distance", &e.Critic}} {
			values, err := floats(rec, c.name)
			if err != nil {
				return err
			}
			*c.to = append(*c.to, values...)
		}
		lists, ok := rec.Column(max(slices.Index(fieldNames(rec.Schema().Fields()), "proportions"), 0)).(*array.List)
		for i := range int(rec.NumRows()) {
			var p []float64
			if ok && lists.IsValid(i) {
				from, to := lists.ValueOffsets(i)
				if values, isFloat := lists.ListValues().(*array.Float64); isFloat && to-from == int64(len(e.Classes)) {
					p = values.Float64Values()[from:to]
				}
			}
			e.Proportions = append(e.Proportions, slices.Clone(p))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(e.Epoch) == 0 {
		return nil, errors.New("has no epochs: the training was stopped before the first ended")
	}
	return Training(&e)
}

func fieldNames(fields []arrow.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// floats are the numbers of a column, NaN for null, and nothing but NaN where there is no such
// column.
func floats(rec arrow.Record, name string) ([]float64, error) {
	out := slices.Repeat([]float64{math.NaN()}, int(rec.NumRows()))
	at := rec.Schema().FieldIndices(name)
	if len(at) != 1 {
		return out, nil
	}
	for i := range out {
		switch c := rec.Column(at[0]).(type) {
		case *array.Float64:
			if c.IsValid(i) {
				out[i] = c.Value(i)
			}
		case *array.Int32:
			if c.IsValid(i) {
				out[i] = float64(c.Value(i))
			}
		default:
			return nil, fmt.Errorf("column %q holds %s, want numbers: run mars train --metrics again", name, c.DataType())
		}
	}
	return out, nil
}

// openLabels reads the table that mars label wrote, in any format that tables are read in. schema is
// that of the file if it is Arrow, which says what is known of the labels; nil if it is not.
func openLabels(ctx context.Context, path string, schema *arrow.Schema) (*Part, error) {
	if !tables.HasBlocks(ctx, path, tables.Options{}) {
		return nil, errNothing
	}
	columns, err := labelColumns(ctx, path)
	if err != nil {
		return nil, err
	}
	t, row := label.NewCount(schema), 0
	err = tables.EachBatch(ctx, path, tables.Options{}, columns, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			row++
			if err := countLabel(t, rec, i); err != nil {
				return fmt.Errorf("row %d: %w", row, err)
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	if classes, _ := t.Counts(); len(classes) == 0 {
		return nil, errors.New("holds no labels")
	}
	return Labels(t)
}

// labelColumns are what names the rows (id, or the first where it has another name), the class, how
// sure that is and, if it is there, the truth: all as text.
func labelColumns(ctx context.Context, path string) (columns []arrow.Field, err error) {
	all, _, err := tables.Columns(ctx, path, tables.Options{})
	if err != nil {
		return nil, err
	}
	names := fieldNames(all)
	wanted := []string{names[max(0, slices.Index(names, "id"))], "predicted_class", label.Confidence}
	if slices.Contains(names, "truth") {
		wanted = append(wanted, "truth")
	}
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("has no columns predicted_class and %s: give the labels as mars label wrote them", label.Confidence)
		}
		columns = append(columns, arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	return columns, nil
}

// countLabel counts row i of the columns.
func countLabel(t *label.Tally, rec arrow.Record, i int) error {
	text := func(column int) string {
		if column >= int(rec.NumCols()) || rec.Column(column).IsNull(i) {
			return ""
		}
		return rec.Column(column).ValueStr(i)
	}
	if text(1) == "" { // a row without any value
		t.Miss()
		return nil
	}
	confidence, err := strconv.ParseFloat(text(2), 64)
	if err != nil {
		return fmt.Errorf("column %s: %q is no number: give the labels as mars label wrote them", label.Confidence, text(2))
	}
	return t.Count(func() label.Row { return label.Row{ID: text(0)} }, text(1), confidence, text(3))
}
