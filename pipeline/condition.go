package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A condition is what a combination of the matrix has to be: for each axis named,
// one of some values.
type condition map[string][]string

// readCondition reads {axis = value, axis = [values]}, or "axis=value,value".
func readCondition(v any) (condition, error) {
	if text, ok := v.(string); ok {
		axis, values, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no condition: write AXIS=VALUE, as in \"method=marsc\"", text)
		}
		return condition{strings.TrimSpace(axis): strings.Split(strings.TrimSpace(values), ",")}, nil
	}
	table, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is a %T: want a table of axes and their values, as in {seed = [0, 1]}", v)
	}
	c := condition{}
	for axis, v := range table {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, e := range list {
			text, err := scalar(e)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", axis, err)
			}
			c[axis] = append(c[axis], text)
		}
	}
	return c, nil
}

// check refuses axes and values that the matrix does not have.
func (c condition) check(axes []Axis) error {
	for _, name := range c.axes() {
		i, err := findAxis(name, axes)
		if err != nil {
			return err
		}
		for _, value := range c[name] {
			if known := axes[i].valueNames(); !slices.Contains(known, value) {
				return fmt.Errorf("%s has no value %q: it has %s", name, value, strings.Join(known, ", "))
			}
		}
	}
	return nil
}

// holds reports whether a combination is as the condition says. An axis that is
// still missing may have any value.
func (c condition) holds(names map[string]string) bool {
	for axis, values := range c {
		if name, there := names[axis]; there && !slices.Contains(values, name) {
			return false
		}
	}
	return true
}

// axes are the names of those that the condition is about.
func (c condition) axes() []string { return slices.Sorted(maps.Keys(c)) }

// toml writes the condition as readCondition reads it.
func (c condition) toml() string {
	var parts []string
	for _, axis := range c.axes() {
		var values []string
		for _, v := range c[axis] {
			values = append(values, Flag{}.toml(v))
		}
		parts = append(parts, tomlKey(axis)+" = ["+strings.Join(values, ", ")+"]")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
