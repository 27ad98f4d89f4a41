package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// tableOfKinds is the program "kinds SEED ROWS SHIFT SHARES FILE": a table of three types of two kinds with columns of
// numbers, text, dates and truth values, of which some are missing, whose types lie SHIFT further on.
func tableOfKinds() {
	if err := writeKinds(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func writeKinds(args []string) error {
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	rows, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	shift, err := strconv.ParseFloat(args[2], 64)
	if err != nil {
		return err
	}
	var until []float64
	for _, share := range strings.Split(args[3], ",") {
		p, err := strconv.ParseFloat(share, 64)
		if err != nil {
			return err
		}
		until = append(until, p)
		if n := len(until); n > 1 {
			until[n-1] += until[n-2]
		}
	}
	f, err := os.Create(args[4])
	if err != nil {
		return err
	}
	w, rng := csv.NewWriter(f), rand.New(rand.NewPCG(seed, 0))
	w.Write([]string{"id", "x1", "x2", "x3", "count", "gaps", "city", "seen", "flag", "kind", "type"})
	types, cities := []string{"b-cell", "t-cell", "monocyte"}, []string{"Oslo", "Rome", "Lima", "Bonn"}
	for i := range rows {
		k := min(slices.IndexFunc(append(slices.Clone(until), 2), func(p float64) bool { return (float64(i)+.5)/float64(rows) < p }), len(types)-1)
		number := func(mean float64) string { return strconv.FormatFloat(mean+rng.NormFloat64(), 'f', 3, 64) }
		gaps := number(float64(k))
		if rng.IntN(10) == 0 {
			gaps = ""
		}
		w.Write([]string{args[0] + "-" + strconv.Itoa(i), number(2*float64(k) + shift), number(float64(k%2)*3 + shift/2), number(0),
			strconv.Itoa(rng.IntN(20 * (k + 1))), gaps, cities[(k+rng.IntN(2))%len(cities)], fmt.Sprintf("2021-%02d-%02d", 1+k*3+rng.IntN(3), 1+rng.IntN(28)),
			strconv.FormatBool(rng.IntN(k+2) == 0), []string{"lymphocyte", "lymphocyte", "myeloid"}[k], types[k]})
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// digest is the program "digest FILE…": what there is to know of each file, in few lines, which is of rows their numbers by column as they are and weighed by place, a checksum of their text, and what the schema says, and of a figure a checksum.
func digest() {
	for _, path := range os.Args[1:] {
		fmt.Println("==", path)
		if err := digestFile(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// madeOn is the date of a page.
var madeOn = regexp.MustCompile(`Made on [0-9A-Za-z ,:]+ UTC`)

// ofTheDay is what a program for PyTorch says of mars and of the file that it reads, in which the version stands too, and when a
// page was made and its files were changed.
var ofTheDay = regexp.MustCompile(`as mars export .* wrote it|SHA256 = ".*"|<td>[-0-9]+ [0-9:]+ UTC</td>|` + madeOn.String())

func digestFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch filepath.Ext(path) {
	case ".onnx":
		f, err := onnx.Parse(text)
		if err == nil {
			fmt.Printf("%d tensors, a graph of %d bytes %08x, from %q\n", len(f.Tensors), len(f.Graph), crc32.ChecksumIEEE(f.Graph), f.Inputs)
		}
		return err
	case ".safetensors":
		f, err := safetensors.Read(bytes.NewReader(text))
		for _, t := range f.Tensors {
			var c column
			for i, x := range t.Data {
				c.number(float64(x), i)
			}
			fmt.Printf("%s %v numbers %.8g %.8g\n", t.Name, t.Shape, c.sum, c.weighed)
		}
		return err
	case ".svg", ".html", ".py":
		text = ofTheDay.ReplaceAll(text, nil)
		fmt.Printf("%d bytes %08x\n", len(text), crc32.ChecksumIEEE(text))
		return nil
	case ".arrow", ".arrows":
	default:
		var value any
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			if err := d.Decode(&value); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			say("", value)
		}
	}
	in, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	meta := in.Schema().Metadata()
	for i, key := range meta.Keys() {
		if strings.HasPrefix(key, "mars.provenance") || strings.HasPrefix(key, "mars.checksum") {
			continue // they have versions
		}
		var value any
		if json.Unmarshal([]byte(meta.Values()[i]), &value) != nil {
			value = meta.Values()[i]
		}
		say(key, value)
	}
	columns := map[string]*column{}
	rows := 0
	if err := eachRecord(in, func(rec arrow.Record) {
		for i, f := range rec.Schema().Fields() {
			if columns[f.Name] == nil {
				columns[f.Name] = &column{kind: f.Type.String()}
			}
			columns[f.Name].add(rec, i, rows)
		}
		rows += int(rec.NumRows())
	}); err != nil {
		return err
	}
	fmt.Println(rows, "rows")
	for _, f := range in.Schema().Fields() {
		if c := columns[f.Name]; c != nil && f.Name != "seconds" {
			fmt.Printf("%s %s nulls %d text %08x numbers %.9g %.9g\n", f.Name, c.kind, c.nulls, c.text, c.sum, c.weighed)
		}
	}
	return nil
}

type column struct {
	kind         string
	nulls        int
	text         uint32
	sum, weighed float64
}

func (c *column) add(rec arrow.Record, i, before int) {
	col := rec.Column(i)
	c.nulls += col.NullN()
	if v, err := arrowio.VectorColumn(rec, rec.ColumnName(i)); err == nil {
		for k, x := range v.Data {
			c.number(float64(x), before+k)
		}
		return
	}
	for k := range col.Len() {
		text := col.ValueStr(k)
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			c.number(v, before+k)
		} else {
			c.text = crc32.Update(c.text, crc32.IEEETable, []byte(text+"\n"))
		}
	}
}

// number counts a number by its place.
func (c *column) number(v float64, place int) {
	c.sum += v
	c.weighed += v * float64(1+place%7)
}

// say prints JSON, and of each part that takes many lines a checksum alone.
func say(place string, value any) {
	if parts, ok := value.(map[string]any); ok && place == "" {
		for _, key := range slices.Sorted(maps.Keys(parts)) {
			say("/"+key, parts[key])
		}
		return
	}
	var text bytes.Buffer
	flatten(&text, place, value)
	if lines := bytes.Count(text.Bytes(), []byte("\n")); lines > 12 {
		fmt.Printf("%s %d lines %08x\n", place, lines, crc32.ChecksumIEEE(text.Bytes()))
		return
	}
	fmt.Print(text.String())
}

// flatten prints JSON, a line for each number, text or list of numbers.
func flatten(w io.Writer, place string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			flatten(w, place+"/"+key, v[key])
		}
	case []any:
		var line []string
		for i, inner := range v {
			if x, ok := inner.(float64); ok {
				line = append(line, fmt.Sprintf("%.8g", x))
			} else {
				flatten(w, place+"/"+strconv.Itoa(i), inner)
			}
		}
		if line != nil {
			fmt.Fprintln(w, place, strings.Join(line, " "))
		}
	case float64:
		fmt.Fprintf(w, "%s %.8g\n", place, v)
	default:
		fmt.Fprintln(w, place, v)
	}
}
