package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/predict"
)

// tampered is the program "tampered MODEL": what is said of the model if one thing in it is another, for each thing in it. Of what is
// much the same the first is said, with how many there are and a checksum of all.
func tampered() {
	if err := sayTampered(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sayTampered(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	whole, err := safetensors.Read(f)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tampered")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	other := filepath.Join(dir, "model.safetensors")
	said := map[string][]string{}
	try := func(what string, file safetensors.File) {
		to, err := os.Create(other)
		if err == nil {
			err = errors.Join(safetensors.Write(to, file), to.Close())
		}
		if err == nil {
			_, _, err = predict.Preparation(context.Background(), other)
		}
		text := strings.TrimPrefix(fmt.Sprint(err), other+": ")
		kind := details.ReplaceAllString(text, "…")
		said[kind] = append(said[kind], what+": "+text)
	}
	for i, t := range whole.Tensors {
		with := func(what string, t ...safetensors.Tensor) {
			some := slices.Concat(whole.Tensors[:i], t, whole.Tensors[i+1:])
			try(what+whole.Tensors[i].Name, safetensors.File{Metadata: whole.Metadata, Tensors: some})
		}
		with("without ")
		with("twice ", t, t)
		with("more after ", t, safetensors.Tensor{Name: "more", Shape: []int{1}, Data: []float32{1}})
		if len(t.Shape) == 0 || len(t.Data) == 0 {
			continue
		}
		for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1)), 0, -1} {
			data := slices.Clone(t.Data)
			data[0] = v
			with(fmt.Sprintf("%v in ", v), safetensors.Tensor{Name: t.Name, Shape: t.Shape, Data: data})
		}
		for d := range t.Shape {
			shape := slices.Clone(t.Shape)
			if shape[d]--; shape[d] > 0 {
				with(fmt.Sprintf("dimension %d is less in ", d), safetensors.Tensor{Name: t.Name, Shape: shape, Data: t.Data[:len(t.Data)/t.Shape[d]*shape[d]]})
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(whole.Metadata)) {
		if strings.HasPrefix(key, "mars.checksum") || strings.HasPrefix(key, "mars.provenance") {
			continue
		}
		with := func(what, text string) {
			meta := maps.Clone(whole.Metadata)
			if meta[key] = text; text == "" {
				delete(meta, key)
			}
			try(what, safetensors.File{Metadata: meta, Tensors: whole.Tensors})
		}
		with("without "+key, "")
		with("no JSON in "+key, "{")
		var value any
		if json.Unmarshal([]byte(whole.Metadata[key]), &value) == nil {
			alter(value, key, func(what string, other any) {
				if text, err := json.Marshal(other); err == nil {
					with(what, string(text))
				}
			})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(said)) {
		of := said[kind]
		fmt.Printf("%d %08x %s\n", len(of), crc32.ChecksumIEEE([]byte(strings.Join(of, "\n"))), of[0])
	}
	return nil
}

// details are names and numbers, which what is said has.
var details = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|[-+0-9][-+.e0-9]*|(?:tensor|network|metadata|members?) [^ ]+`)

// alter gives each value that differs in one place. Of a long list the ends stand for all.
func alter(value any, place string, with func(what string, other any)) {
	switch v := value.(type) {
	case float64:
		for _, other := range []float64{v + 1, v - 1, -v, 0, 1e9} {
			if other != v {
				with(place+" is "+strconv.FormatFloat(other, 'g', 3, 64), other)
			}
		}
	case string:
		with(place+" is x", "x")
		with(place+" is empty", "")
	case bool:
		with(fmt.Sprintf("%s is %v", place, !v), !v)
	case []any:
		if len(v) > 0 {
			with(place+" is shorter", v[1:])
			with(place+" is longer", append(slices.Clone(v), v[0]))
		}
		for i, inner := range v {
			if i > 1 && i < len(v)-1 {
				continue
			}
			alter(inner, place+"/"+strconv.Itoa(i), func(what string, other any) {
				all := slices.Clone(v)
				all[i] = other
				with(what, all)
			})
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			some := maps.Clone(v)
			delete(some, key)
			with(place+" without "+key, some)
			alter(v[key], place+"/"+key, func(what string, other any) {
				all := maps.Clone(v)
				all[key] = other
				with(what, all)
			})
		}
	}
}
