package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// An Axis is a key of the matrix and its values.
type Axis struct {
	Name   string
	Values []AxisValue
	names  map[string]bool // of all variables, also of values that --set leaves out
	added  bool            // by --set: the file has no such axis
}

// An AxisValue is a set of variables: a scalar sets the one with the axis's name, a
// table all its keys. The variable AXIS.name is the value's Name.
type AxisValue struct {
	Name      string // the table's key "name", or the variable with the axis's name
	Variables map[string]string
	only      condition // on the other axes; nil: the value goes with all of theirs
}

// nameSuffix makes the variable that has the name of an axis' value.
const nameSuffix = ".name"

// Keys of a value that is a table, which are no variables.
const (
	nameKey = "name"
	onlyKey = "only"
)

func (f *File) readMatrix(matrix map[string]any, meta toml.MetaData) error {
	for _, key := range meta.Keys() {
		if len(key) != 2 || key[0] != "matrix" || slices.Contains(axisNames(f.Axes), key[1]) {
			continue
		}
		axis, err := readAxis(key[1], matrix[key[1]])
		if err != nil {
			return f.failAxis(key[1], err)
		}
		f.Axes = append(f.Axes, axis)
	}
	for _, axis := range f.Axes {
		if err := axis.check(f.Axes); err != nil {
			return f.failAxis(axis.Name, err)
		}
	}
	return nil
}

func (f *File) failAxis(name string, err error) error {
	return f.fail(place{table: "matrix"}, name, err)
}

func readAxis(name string, v any) (Axis, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	axis := Axis{Name: name, names: map[string]bool{}}
	for _, v := range list {
		value, err := readAxisValue(name, v)
		if err != nil {
			return axis, err
		}
		axis.Values = append(axis.Values, value)
		for name := range value.Variables {
			axis.names[name] = true
		}
	}
	if len(axis.Values) == 0 {
		return axis, errors.New("has no values, so there would be no runs: list some")
	}
	return axis, nil
}

func readAxisValue(axis string, v any) (AxisValue, error) {
	table, ok := v.(map[string]any)
	if !ok {
		text, err := scalar(v)
		return newAxisValue(axis, text), err
	}
	value := AxisValue{Variables: map[string]string{}}
	for key, v := range table {
		var err error
		switch text := ""; key {
		case onlyKey:
			value.only, err = readCondition(v)
		case nameKey:
			value.Name, err = scalar(v)
		default:
			text, err = scalar(v)
			value.Variables[key] = text
		}
		if err != nil {
			return value, fmt.Errorf("%s: %w", key, err)
		}
	}
	if value.Variables[axis] == "" {
		return value, fmt.Errorf("a table of values needs the key %s", axis)
	}
	value.Name = cmp.Or(value.Name, value.Variables[axis])
	value.Variables[axis+nameSuffix] = value.Name
	return value, nil
}

// newAxisValue is a scalar value.
func newAxisValue(axis, text string) AxisValue {
	return AxisValue{Name: text, Variables: map[string]string{axis: text, axis + nameSuffix: text}}
}

// check refuses values that set another axis, and conditions on what the matrix
// does not have.
func (a *Axis) check(axes []Axis) error {
	for _, v := range a.Values {
		for _, other := range axisNames(axes) {
			if _, sets := v.Variables[other]; sets && other != a.Name {
				return fmt.Errorf("the value %s sets %s, which is an axis itself: write only = {%s = ...} to leave combinations out", v.Name, other, other)
			}
		}
		if err := v.only.check(axes); err != nil {
			return fmt.Errorf("only, of the value %s: %w", v.Name, err)
		}
	}
	return nil
}

// namesOf are what each of a list is called.
func namesOf[T any](list []T, name func(T) string) []string {
	var names []string
	for _, v := range list {
		names = append(names, name(v))
	}
	return names
}

func axisNames(axes []Axis) []string { return namesOf(axes, func(a Axis) string { return a.Name }) }

// findAxis is the index of an axis.
func findAxis(name string, axes []Axis) (int, error) {
	i := slices.Index(axisNames(axes), name)
	switch {
	case len(axes) == 0:
		return i, fmt.Errorf("there is no axis %q: the file has no table [matrix]", name)
	case i < 0:
		return i, fmt.Errorf("the matrix has no axis %q: %s", name, didYouMean(name, axisNames(axes)))
	}
	return i, nil
}

func (a *Axis) valueNames() []string {
	return namesOf(a.Values, func(v AxisValue) string { return v.Name })
}

// setAxis gives an axis, or a new one, the values that text lists. Values of the file
// are meant by their names.
func (f *File) setAxis(name, text string) {
	i := slices.Index(axisNames(f.Axes), name)
	if i < 0 {
		f.Axes, i = append(f.Axes, Axis{Name: name, added: true, names: map[string]bool{name: true, name + nameSuffix: true}}), len(f.Axes)
	}
	axis := &f.Axes[i]
	var values []AxisValue
	for _, v := range strings.Split(text, ",") {
		if known := slices.Index(axis.valueNames(), v); known >= 0 {
			values = append(values, axis.Values[known])
		} else {
			values = append(values, newAxisValue(name, v))
		}
	}
	axis.Values = values
}

// A point is a combination of the matrix's values.
type point struct {
	names     map[string]string // of the axes' values
	variables map[string]string // that the values set
	axis      map[string]string // of each variable
	only      []condition       // of the values
}

// maxPoints is the greatest number of a matrix's points.
const maxPoints = 250_000

// points returns all combinations that no value excludes. None is there twice: means over the runs
// would count it so.
func (f *File) points(ctx context.Context) ([]point, error) {
	points := []point{{names: map[string]string{}, variables: map[string]string{}, axis: map[string]string{}}}
	for _, axis := range f.Axes {
		var next []point
		for _, p := range points {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, v := range axis.Values {
				if q := p.with(axis.Name, v); q.allowed() {
					next = append(next, q)
				}
				if len(next) > maxPoints {
					return nil, f.failAxis(axis.Name, fmt.Errorf("the matrix has more than %d points: list fewer values, or write several files", maxPoints))
				}
			}
		}
		points = next
	}
	seen := map[string]bool{}
	for _, p := range points {
		var names []string
		for _, axis := range f.Axes {
			names = append(names, axis.Name+"="+p.names[axis.Name])
		}
		if name := strings.Join(names, " "); seen[name] {
			return nil, f.failAxis("", fmt.Errorf("the run %s is there twice, and would count so: list each value once, or give values different names", name))
		} else {
			seen[name] = true
		}
	}
	return points, nil
}

// with is the combination with the value of another axis.
func (p point) with(axis string, v AxisValue) point {
	q := point{maps.Clone(p.names), maps.Clone(p.variables), maps.Clone(p.axis), p.only}
	q.names[axis] = v.Name
	for name, text := range v.Variables {
		q.variables[name], q.axis[name] = text, axis
	}
	if v.only != nil {
		q.only = append(slices.Clone(p.only), v.only)
	}
	return q
}

func (p point) allowed() bool {
	return !slices.ContainsFunc(p.only, func(c condition) bool { return !c.holds(p.names) })
}

// axisOf is the axis of which some value sets the variable, "" if there is none.
func (f *File) axisOf(name string) string {
	for _, axis := range f.Axes {
		if axis.names[name] {
			return axis.Name
		}
	}
	return ""
}

func (f *File) variablesHint(name string) string {
	names := map[string]bool{}
	for _, axis := range f.Axes {
		maps.Copy(names, axis.names)
	}
	if len(names) == 0 {
		return "add a table [matrix] with " + name + " = [...]"
	}
	return didYouMean(name, slices.Sorted(maps.Keys(names)))
}

// texts are the values as TOML.
func (a *Axis) texts() []string {
	return namesOf(a.Values, func(v AxisValue) string { return v.toml(a.Name) })
}

func (v *AxisValue) toml(axis string) string {
	if len(v.Variables) == 2 && v.Name == v.Variables[axis] && v.only == nil {
		return Flag{}.toml(v.Name)
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(v.Variables)) {
		pairs = append(pairs, tomlKey(strings.TrimPrefix(name, axis+"."))+" = "+Flag{}.toml(v.Variables[name]))
	}
	if v.only != nil {
		pairs = append(pairs, onlyKey+" = "+v.only.toml())
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// Combinations are the names of the matrix's axes and, for each run that a pipeline file
// makes, those of their values. Stages are not looked at.
func Combinations(ctx context.Context, name, text string) (axes []string, runs [][]string, err error) {
	f := &File{Name: name, lines: findLines(text)}
	var raw struct{ Matrix map[string]any }
	meta, err := toml.Decode(text, &raw)
	if err != nil {
		return nil, nil, f.syntaxError(err)
	}
	if err := f.readMatrix(raw.Matrix, meta); err != nil {
		return nil, nil, err
	}
	points, err := f.points(ctx)
	if err != nil {
		return nil, nil, err
	}
	axes = axisNames(f.Axes)
	for _, p := range points {
		var values []string
		for _, axis := range axes {
			values = append(values, p.names[axis])
		}
		runs = append(runs, values)
	}
	return axes, runs, nil
}
