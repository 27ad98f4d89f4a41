//go:build unix

package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"mars.dev/mars/cmd/internal/bench/cost"
	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/tables"
)

//go:embed peers.py
var program string

var peers = []string{"polars", "duckdb", "pyarrow"}

// benchRead reads tables of 20 columns with this program's readers and with those of other
// programs, on one and on two threads, and prints how many megabytes of the file each reads in a
// second, and in a second of a processor. The latter holds on a busy machine too.
func benchRead(flags *flag.FlagSet) func() error {
	python := flags.String("python", "python3", "a Python with polars, duckdb and pyarrow; those that are absent are skipped")
	rows := flags.Int("rows", 1_000_000, "rows of the tables")
	return func() error {
		return inFolder("", func(dir string) error { return readAll(*python, dir, *rows) })
	}
}

func readAll(python, dir string, rows int) error {
	files, err := readTables(dir, rows)
	if err != nil {
		return err
	}
	heading("table", "threads", "reader", "MB/s", "ours is", "MB/s of a processor", "ours is")
	for threads := 1; threads <= 2; threads++ {
		ours := make([]cost.Cost, len(files))
		for i, file := range files {
			if ours[i], err = readOurs(file, threads); err != nil {
				return err
			}
		}
		if err := show("mars", threads, files, ours, ours); err != nil {
			return err
		}
		if threads == 1 {
			copied := make([]cost.Cost, len(files))
			last := len(files) - 1
			if copied[last], err = leastOf(func() error { return copyFile(files[last]) }); err != nil {
				return err
			}
			if err := show("a copy", threads, files, copied, ours); err != nil {
				return err
			}
		}
		for _, peer := range peers {
			theirs, err := readPeer(python, peer, threads, files)
			if err != nil {
				fmt.Printf("%s is skipped: %v\n", peer, err)
				continue
			}
			if err := show(peer, threads, files, theirs, ours); err != nil {
				return err
			}
		}
	}
	return nil
}

// words are the values of columns of text.
var words = []string{`"Never married"`, `"Doctorate, or more"`, `"of ""Bath"""`, "other"}

// someWords puts words into every fourth column but the first.
func someWords(row, column int) string {
	if column == 0 || column%4 != 0 {
		return ""
	}
	return words[(row+column/4)%len(words)]
}

// readTables writes the same numbers as text, Parquet and Arrow, and a text with words too.
func readTables(dir string, rows int) (files []string, err error) {
	for _, f := range []struct {
		name  string
		write func(t table, path string) error
	}{
		{"numbers.csv", func(t table, path string) error { return t.writeCSV(path, -1, nil) }},
		{"words.csv", func(t table, path string) error { return t.writeCSV(path, -1, someWords) }},
		{"numbers.parquet", func(t table, path string) error {
			return t.writeParquet(path, rows, parquet.WithCompression(compress.Codecs.Snappy))
		}},
		{"numbers.arrow", table.writeArrow},
	} {
		rng := rand.New(rand.NewPCG(1, 0))
		numbers := clouds{rng, normal(rng, 1, 20, 0), 3, func() int { return 0 }}
		path := filepath.Join(dir, f.name)
		if err := f.write(table{rows, 20, false, numbers.draw}, path); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}

// show prints a row for each file that the reader can read.
func show(reader string, threads int, files []string, speeds, ours []cost.Cost) error {
	for i, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if speeds[i] == (cost.Cost{}) {
			continue
		}
		size := float64(info.Size()) / 1e6
		fmt.Printf("| %s | %d | %s | %.0f | %.2f × | %.0f | %.2f × |\n", filepath.Base(file), threads, reader,
			size/speeds[i].Wall, speeds[i].Wall/ours[i].Wall, size/speeds[i].Processors, speeds[i].Processors/ours[i].Processors)
	}
	return nil
}

// readOurs reads a file three times, and returns the least of each.
func readOurs(file string, threads int) (cost.Cost, error) {
	runtime.GOMAXPROCS(threads)
	algorithms.SetJobs(threads)
	return leastOf(func() error {
		_, err := tables.Open(context.Background(), file, tables.Options{})
		return err
	})
}

// copyFile reads a file through a buffer that stays in a cache, and writes it to memory once: what
// a reader takes at least that makes something else of it.
func copyFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	all, buffer, at := make([]byte, info.Size()), make([]byte, 1<<20), 0
	for {
		n, err := f.Read(buffer)
		if at += copy(all[at:], buffer[:n]); errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// leastOf is the least of each that something costs in three times.
func leastOf(do func() error) (least cost.Cost, err error) {
	for range 3 {
		runtime.GC()
		began, used := time.Now(), processorSeconds()
		if err := do(); err != nil {
			return least, err
		}
		took := cost.Cost{Wall: time.Since(began).Seconds(), Processors: processorSeconds() - used}
		if least == (cost.Cost{}) {
			least = took
		}
		least = cost.Cost{Wall: min(least.Wall, took.Wall), Processors: min(least.Processors, took.Processors)}
	}
	return least, nil
}

func processorSeconds() float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()).Seconds()
}

// readPeer reads the files with a Python package. What it cannot read takes no time.
func readPeer(python, peer string, threads int, files []string) ([]cost.Cost, error) {
	cmd := exec.Command(python, append([]string{"-c", program, peer, strconv.Itoa(threads)}, files...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New(strings.TrimSpace(stderr.String() + " (" + err.Error() + ")"))
	}
	speeds := make([]cost.Cost, len(files))
	for line := range strings.Lines(string(out)) {
		var file string
		var took cost.Cost
		if n, _ := fmt.Sscanf(line, "took %s %g %g", &file, &took.Wall, &took.Processors); n == 3 { // others are the package's own
			speeds[slices.Index(files, file)] = took
		}
	}
	return speeds, nil
}
