package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// A number of a JSON object has a path of keys and, in lists, of positions from 0,
// joined by points.
type number struct {
	path  string
	value float64
	truth bool // it is true or false, as 1 or 0
}

// numberList is the numbers of an object, in its order.
type numberList []number

// readNumbers finds the numbers, and what is true or false, in a JSON object.
func readNumbers(text []byte) (numberList, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	var found numberList
	err := found.readAll(d, "", true)
	return found, err
}

// readAll reads to the end of an object or a list that has begun.
func (f *numberList) readAll(d *json.Decoder, path string, isObject bool) error {
	for i := 0; d.More(); i++ {
		name := strconv.Itoa(i)
		if isObject {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name = key.(string)
		}
		if err := f.readValue(d, path+name); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (f *numberList) readValue(d *json.Decoder, path string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return f.readAll(d, path+".", v == '{')
	case float64:
		*f = append(*f, number{path: path, value: v})
	case bool:
		n := number{path: path, truth: true}
		if v {
			n.value = 1
		}
		*f = append(*f, n)
	}
	return nil
}

// top are the numbers at the top level.
func (f numberList) top() numberList {
	var top numberList
	for _, n := range f {
		if !n.truth && !strings.Contains(n.path, ".") {
			top = append(top, n)
		}
	}
	return top
}

// below are the number of a name, or all those in the object or list of that name.
func (f numberList) below(name string) numberList {
	var found numberList
	for _, n := range f {
		if n.path == name || strings.HasPrefix(n.path, name+".") {
			found = append(found, n)
		}
	}
	return found
}
