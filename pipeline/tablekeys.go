package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Table says what to make of the numbers that the runs put out. Its zero value takes
// all at the top level of their JSON, and means over the seeds.
type Table struct {
	Columns string   // axis whose values are the columns; "": the numbers are
	Over    []string // axes over which means are taken; nil: seed
	Numbers []string // that are taken: names in the JSON of a stage, or STAGE.seconds and STAGE.megabytes; nil: all at its top level
	Show    []string // of them, in what people read; nil: all
	Beside  string   // CSV file of values from elsewhere; "" for none
}

// tableKeys are those of [table].
var tableKeys = []string{fileKey, "columns", "over", "numbers", "show", "beside"}

// fileKey names the table's file. It is the setting "table" by another name.
const fileKey = "file"

// seedAxis is the axis over which means are taken, unless the table says otherwise.
const seedAxis = "seed"

// tablePlace is [table].
var tablePlace = place{table: "table"}

func (f *File) readTable(table map[string]any) error {
	f.Table = &Table{}
	for _, key := range f.inOrder(tablePlace, table) {
		text, err := scalar(table[key])
		if err != nil {
			return f.fail(tablePlace, key, err)
		}
		if key == fileKey {
			f.Settings["table"] = Value{text, f.origin(tablePlace, key)}
		} else if err := f.Table.set(key, text); err != nil {
			return f.fail(tablePlace, key, err)
		}
	}
	return nil
}

// set gives a key its value, in which commas separate what is listed.
func (t *Table) set(key, text string) error {
	switch key {
	case "columns":
		t.Columns = text
	case "over":
		t.Over = strings.Split(text, ",")
	case "numbers":
		t.Numbers = strings.Split(text, ",")
	case "show":
		t.Show = strings.Split(text, ",")
	case "beside":
		t.Beside = text
	default:
		return fmt.Errorf("a table has no such key: %s", didYouMean(key, tableKeys))
	}
	return nil
}

// setTable is set for a flag.
func (f *File) setTable(key, text string) error {
	if f.Table == nil {
		f.Table = &Table{}
	}
	if err := f.Table.set(key, text); err != nil {
		return err
	}
	_, err := f.checkTable()
	return err
}

// checkTable checks the names in a table, as far as they are known before the runs.
// It returns the key of a mistake.
func (f *File) checkTable() (key string, err error) {
	t := f.Table
	if t == nil {
		return "", nil
	}
	if t.Columns != "" {
		if _, err := findAxis(t.Columns, f.Axes); err != nil {
			return "columns", err
		}
		if slices.Contains(t.Over, t.Columns) {
			return "columns", errors.New("an axis cannot be both columns and over: leave it out of one")
		}
	}
	for _, axis := range t.Over {
		if _, err := findAxis(axis, f.Axes); err != nil {
			return "over", err
		}
	}
	for _, key := range []string{"numbers", "show"} {
		for _, name := range map[string][]string{"numbers": t.Numbers, "show": t.Show}[key] {
			stage, _, isCost := cutCost(name)
			if isCost && f.stage(stage, len(f.Stages)) < 0 {
				return key, fmt.Errorf("%s: there is no stage %q: %s", name, stage, didYouMean(stage, f.stageNames(len(f.Stages))))
			}
		}
	}
	return "", nil
}

// table is the file's, or the zero one.
func (f *File) table() *Table {
	if f.Table == nil {
		return &Table{}
	}
	return f.Table
}

// failTable is the failure of a name in numbers or show.
func (f *File) failTable(name string, err error) error {
	if slices.Contains(f.table().Numbers, name) {
		return f.fail(tablePlace, "numbers", err)
	}
	return f.fail(tablePlace, "show", err)
}

// cutCost takes the name of a cost of a stage apart.
func cutCost(name string) (stage, of string, ok bool) {
	for _, of := range []string{"seconds", "megabytes"} {
		if stage, ok := strings.CutSuffix(name, "."+of); ok {
			return stage, of, true
		}
	}
	return "", "", false
}

// writeTable prints [table] as it is in a file.
func (f *File) writeTable(p *printer) {
	v, t := f.Settings["table"], f.Table
	p.line("\n[table]")
	if v.Text != "" {
		p.line("%s = %s  # %s", fileKey, tomlText(v.Text), v.Origin)
	}
	for _, pair := range [][2]string{{"columns", t.Columns}, {"over", strings.Join(t.Over, ",")},
		{"numbers", strings.Join(t.Numbers, ",")}, {"show", strings.Join(t.Show, ",")}, {"beside", t.Beside}} {
		if pair[1] != "" {
			p.line("%s = %s", pair[0], tomlText(pair[1]))
		}
	}
}
