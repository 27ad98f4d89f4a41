package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sbinet/npyio"
	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"
)

// madeFeatures is a program of scripts: madefeatures FORM FOLDER CLASSES ROWS DOMAIN… writes
// features of the form that the last layer of a ResNet-50 has, 2048 numbers from 0 on, of
// ROWS rows of each of the CLASSES, for each domain. FORM is npz (X and y), csv (without a
// header, the class last) or classes (a folder for each domain, and a file for each class,
// whose names stand in the place of their number).
func madeFeatures() {
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "madefeatures:", err)
			os.Exit(1)
		}
	}
	form, folder, names := os.Args[1], os.Args[2], strings.Split(os.Args[3], ",")
	classes := len(names)
	if n, err := strconv.Atoi(os.Args[3]); err == nil {
		classes, names = n, nil
	}
	each, err := strconv.Atoi(os.Args[4])
	check(err)
	rng := rand.New(rand.NewPCG(uint64(classes), 0))
	maker := newMaker(rng, classes)
	for _, domain := range os.Args[5:] {
		maker.move(rng)
		x, y := maker.rows(rng, each)
		check(os.MkdirAll(folder, 0o777))
		path := filepath.Join(folder, domain)
		switch form {
		case "npz":
			check(writeNPZ(path+".npz", x, y))
		case "csv":
			check(writeBareCSV(path+".csv", x, y))
		case "classes":
			check(os.MkdirAll(path, 0o777))
			for k, name := range names {
				check(writeNPY(filepath.Join(path, name+".npy"), x.Slice(k*each, (k+1)*each, 0, width).(*mat.Dense)))
			}
		}
	}
}

const (
	width  = 2048
	hidden = 8 // dimensions in which classes differ
)

// maker draws rows whose classes have centres in a few dimensions, which each domain moves.
type maker struct {
	weights, centres, moved *mat.Dense
}

func normal(rng *rand.Rand, rows, cols int, deviation float64) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = deviation * rng.NormFloat64()
	}
	return m
}

func newMaker(rng *rand.Rand, classes int) *maker {
	return &maker{weights: normal(rng, hidden, width, .3), centres: normal(rng, classes, hidden, 2)}
}

func (m *maker) move(rng *rand.Rand) {
	classes, _ := m.centres.Dims()
	m.moved = normal(rng, classes, hidden, .3)
	m.moved.Add(m.moved, m.centres)
}

// rows are those of one class after another.
func (m *maker) rows(rng *rand.Rand, each int) (x *mat.Dense, y []int64) {
	classes, _ := m.centres.Dims()
	inner := normal(rng, classes*each, hidden, .4)
	for i := range classes * each {
		y = append(y, int64(i/each))
		for j, v := range m.moved.RawRowView(i / each) {
			inner.Set(i, j, inner.At(i, j)+v)
		}
	}
	x = normal(rng, classes*each, width, .2)
	var signal mat.Dense
	signal.Mul(inner, m.weights)
	x.Add(x, &signal)
	x.Apply(func(_, _ int, v float64) float64 { return max(v, 0) }, x)
	return x, y
}

func writeNPZ(path string, x *mat.Dense, y []int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := npz.NewWriter(f)
	if err := w.Write("X", x); err != nil {
		return err
	}
	if err := w.Write("y", y); err != nil {
		return err
	}
	return w.Close()
}

func writeNPY(path string, x *mat.Dense) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return npyio.Write(f, mat.DenseCopyOf(x))
}

func writeBareCSV(path string, x *mat.Dense, y []int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for i, class := range y {
		for _, v := range x.RawRowView(i) {
			fmt.Fprintf(w, "%.3g,", v)
		}
		fmt.Fprintln(w, class)
	}
	return w.Flush()
}
