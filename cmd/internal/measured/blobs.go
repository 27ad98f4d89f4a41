package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// blobs writes the tasks of diagnostics-blobs.toml into a folder: Gaussian classes of
// eight columns, of which each has moved its own way, and whose shares have changed.
func blobs(folder string) error {
	rng := rand.New(rand.NewPCG(1, 0))
	for _, classes := range []int{3, 10} {
		for _, spread := range []float64{0.8, 1.5, 3, 8} {
			for _, move := range []float64{0.3, 1, 3, 8} {
				b := newBlob(rng, classes, spread, move)
				name := filepath.Join(folder, fmt.Sprintf("%d-%v-%v.", classes, spread, move))
				even := slices.Repeat([]float64{1}, classes)
				if err := b.write(rng, name+"source.csv", even, 0); err != nil {
					return err
				}
				if err := b.write(rng, name+"target.csv", b.shares, 1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

const blobColumns = 8

// A blob has the classes' means in the source, how far they move, and their shares in
// the target, which are all alike probable.
type blob struct {
	means, moves [][blobColumns]float64
	shares       []float64
}

func newBlob(rng *rand.Rand, classes int, spread, move float64) blob {
	b := blob{make([][blobColumns]float64, classes), make([][blobColumns]float64, classes), make([]float64, classes)}
	for k := range classes {
		for j := range blobColumns {
			b.means[k][j] = spread * rng.NormFloat64()
			b.moves[k][j] = move / 2 * (1 + rng.NormFloat64())
		}
		b.shares[k] = rng.ExpFloat64()
	}
	return b
}

// write draws 900 rows, and three more of each class.
func (b blob) write(rng *rand.Rand, path string, shares []float64, moved float64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	fmt.Fprintln(w, "a,b,c,d,e,f,g,h,class")
	for i := range 900 + 3*len(shares) {
		k := i / 3
		if k >= len(shares) {
			k = drawn(rng, shares)
		}
		for j := range blobColumns {
			fmt.Fprintf(w, "%.4f,", b.means[k][j]+moved*b.moves[k][j]+rng.NormFloat64())
		}
		fmt.Fprintln(w, k)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

func drawn(rng *rand.Rand, shares []float64) int {
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	at := sum * rng.Float64()
	for k, s := range shares {
		if at -= s; at < 0 {
			return k
		}
	}
	return len(shares) - 1
}
