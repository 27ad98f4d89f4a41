package sheet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/tables"
)

// Filled is a sheet that a person has filled in, as far as it goes.
type Filled struct {
	Path   string
	Column string // of the labels
	Plan
	Rows []Row // that are in the file, in order of drawing
}

// Read reads a sheet from a table of any format, in which a column has labels. It fails for rows
// that were not drawn together, that are there twice, or of which something has been changed.
// Whether they are of a target Locate says.
func Read(ctx context.Context, path, label string) (*Filled, error) {
	o := tables.Options{}
	if !tables.HasBlocks(ctx, path, o) {
		if _, err := tables.Expand(path); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: is no table in a file: give the table of mars ask, filled in, as CSV, TSV, Parquet or Arrow", path)
	}
	f := &Filled{Path: path, Column: label}
	columns, err := f.columns(ctx, o)
	if err != nil {
		return nil, err
	}
	line := 0
	err = tables.EachBatch(ctx, path, o, columns, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			line++
			if err := f.add(rec, i); err != nil {
				return fmt.Errorf("row %d: %w", line, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(f.Rows) == 0 {
		return nil, fmt.Errorf("%s: has no row of mars ask: give its table with the column %q filled in", path, label)
	}
	return f, f.sort()
}

// columns are those to read, as text: the code and the label, and of the others those that are
// there.
func (f *Filled) columns(ctx context.Context, o tables.Options) ([]arrow.Field, error) {
	all, _, err := tables.Columns(ctx, f.Path, o)
	if err != nil {
		return nil, err
	}
	var header []string
	for _, c := range all {
		header = append(header, c.Name)
	}
	text := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	fields := []arrow.Field{text(CodeColumn), text(f.Column)}
	for i, why := range []string{"mars ask wrote it, and without it nobody knows how rows were drawn: give the table with all its columns", "the labels are in it: give the name of the label column with --label"} {
		if name := fields[i].Name; !slices.Contains(header, name) {
			return nil, fmt.Errorf("%s: has no column %q (its columns are %s): %s", f.Path, name, strings.Join(header, ", "), why)
		}
	}
	for _, name := range []string{"id", OrderColumn, PartColumn, ProbabilityColumn} {
		if slices.Contains(header, name) {
			fields = append(fields, text(name))
		}
	}
	return fields, nil
}

// add adds a row of a batch. One without a code and a label is none: spreadsheets leave such.
func (f *Filled) add(rec arrow.Record, i int) error {
	cells := map[string]string{}
	for c, field := range rec.Schema().Fields() {
		cells[field.Name], _ = arrowio.Cell(rec.Column(c), i)
	}
	code, label := strings.TrimSpace(cells[CodeColumn]), cells[f.Column]
	if code == "" && IsEmpty(label) {
		return nil
	}
	plan, row, ok := parseCode(code)
	switch {
	case code == "":
		return fmt.Errorf("has the label %q, and no code in the column %q: label only rows that mars ask drew", label, CodeColumn)
	case !ok:
		return fmt.Errorf("the column %q holds %q, which is no code that mars ask has written: give its rows as they were", CodeColumn, code)
	case len(f.Rows) == 0:
		f.Plan = plan
	case plan != f.Plan:
		return errors.New("was drawn with others than the rows before it: give each table of mars ask alone, as probabilities of several cannot be joined")
	}
	row.ID, row.Label, row.code = cells["id"], label, code
	if IsEmpty(label) {
		row.Label = ""
	}
	f.Rows = append(f.Rows, row)
	return row.checkCells(cells, code)
}

// checkCells checks the columns for people against the code, where they are there.
func (r Row) checkCells(cells map[string]string, code string) error {
	for _, c := range []struct {
		name, want string
		same       func(text string) bool
	}{
		{OrderColumn, strconv.Itoa(r.Order), func(text string) bool { return number(text) == float64(r.Order) }},
		{PartColumn, PartName(r.Part), func(text string) bool { return strings.EqualFold(text, PartName(r.Part)) }},
		{ProbabilityColumn, strconv.FormatFloat(r.Probability, 'g', -1, 64), func(text string) bool { return near(number(text), r.Probability) }},
	} {
		if text := strings.TrimSpace(cells[c.name]); text != "" && !c.same(text) {
			return fmt.Errorf("the column %q holds %q, and mars ask wrote %s (code %s): give the rows as it wrote them, or leave the column out", c.name, text, c.want, code)
		}
	}
	return nil
}

// number reads a number as spreadsheets of any country write it; −1 if it is none.
func number(text string) float64 {
	v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err != nil {
		return -1
	}
	return v
}

// near reports whether two probabilities are the same, where a spreadsheet has shown one with
// three digits at least.
func near(a, b float64) bool { return a > 0 && max(a, b)/min(a, b) < 1.005 }

// sort brings the rows in the order of their draws, and checks that none is there twice.
func (f *Filled) sort() error {
	slices.SortStableFunc(f.Rows, func(a, b Row) int { return cmp.Compare(a.Order, b.Order) })
	for i, row := range f.Rows {
		switch {
		case i > 0 && row.Order == f.Rows[i-1].Order:
			return fmt.Errorf("%s: %s is there twice: leave one", f.Path, row.name())
		case row.Order < 1 || row.Order > f.Plan.Rows():
			return fmt.Errorf("%s: there is a row with order %d, and %d were drawn: give the rows as mars ask wrote them", f.Path, row.Order, f.Plan.Rows())
		}
	}
	return nil
}

// Check checks that the rows are those that were drawn from a target, whose identities by row
// are ids.
func (f *Filled) Check(t *Target, ids map[int]string) error {
	if got := t.Letters(); got != f.Target {
		advice := "give the target that mars ask drew from, or draw anew"
		if t.byFeatures() {
			advice += "; rows from a pipe without identities are known by their features: choose the same columns, or give files or an identity column"
		}
		return fmt.Errorf("%s: has rows of another target than %s (code %s, and this target has %s): %s", f.Path, t.name, f.Target, got, advice)
	}
	for _, row := range f.Rows {
		id, written := ids[row.Row], row
		if written.ID = id; !f.known(written) {
			return fmt.Errorf("%s: %s was not drawn, or its code has been changed: give the rows as mars ask wrote them", f.Path, row.name())
		}
		if row.ID != "" && row.ID != id && !sameNumber(row.ID, id) {
			return fmt.Errorf("%s: the row with order %d has the id %q, and mars ask wrote %q: rows have been mixed up, or a program has changed their identities: write the id as it was, or leave the column id out if the labels stand in the rows of their codes", f.Path, row.Order, row.ID, id)
		}
	}
	return nil
}

// known reports whether a row has the code that it was given.
func (f *Filled) known(r Row) bool { return r.code == f.Plan.Code(r) }

// sameNumber reports whether two identities are one number, as 7 and 007.
func sameNumber(a, b string) bool {
	v, errA := strconv.ParseFloat(strings.TrimSpace(a), 64)
	w, errB := strconv.ParseFloat(strings.TrimSpace(b), 64)
	return strings.TrimSpace(a) == b || errA == nil && errB == nil && v == w
}

// nearestOf is the class that a name is likely to have meant; "" if none is near.
func nearestOf(name string, classes []string) string {
	best, fewest := "", 0
	for _, class := range classes {
		d := spelling.Distance(spelling.Plain(name), spelling.Plain(class))
		if most := max(1, min(len(name), len(class))/4); d > most || min(len(name), len(class)) < 4 || digits(name) != digits(class) {
			continue
		}
		if best == "" || d < fewest {
			best, fewest = class, d
		}
	}
	return best
}

// digits are those of a text: names that differ in them are different.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
