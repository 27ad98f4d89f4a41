//go:build linux

// Benchread reads tables of 20 columns with this program's readers and with those of
// polars, DuckDB and pyarrow, on one and on two threads, and prints how many megabytes of
// the file each reads in a second, and in a second of a processor. The latter holds on a
// busy machine too.
//
//	go run ./cmd/internal/benchread -python PYTHON
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/tables"
)

//go:embed peers.py
var program string

var peers = []string{"polars", "duckdb", "pyarrow"}

func main() {
	python := flag.String("python", "python3", "a Python with polars, duckdb and pyarrow; those that are absent are skipped")
	rows := flag.Int("rows", 1_000_000, "rows of the tables")
	flag.Parse()
	if err := run(*python, *rows); err != nil {
		fmt.Fprintln(os.Stderr, "benchread:", err)
		os.Exit(1)
	}
}

// A speed is how long reading a file took, in seconds of wall clock and of all processors.
type speed struct{ wall, processors float64 }

func run(python string, rows int) error {
	folder, err := os.MkdirTemp("", "benchread")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	files, err := makeTables(folder, rows)
	if err != nil {
		return err
	}
	fmt.Println("| table | threads | reader | MB/s | ours is | MB/s of a processor | ours is |\n|---|---|---|---|---|---|---|")
	for threads := 1; threads <= 2; threads++ {
		ours := make([]speed, len(files))
		for i, file := range files {
			if ours[i], err = readOurs(file, threads); err != nil {
				return err
			}
		}
		if err := show("mars", threads, files, ours, ours); err != nil {
			return err
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

// show prints a row for each file that the reader can read.
func show(reader string, threads int, files []string, speeds, ours []speed) error {
	for i, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if speeds[i] == (speed{}) {
			continue
		}
		size := float64(info.Size()) / 1e6
		fmt.Printf("| %s | %d | %s | %.0f | %.2f × | %.0f | %.2f × |\n", filepath.Base(file), threads, reader,
			size/speeds[i].wall, speeds[i].wall/ours[i].wall, size/speeds[i].processors, speeds[i].processors/ours[i].processors)
	}
	return nil
}

// readOurs reads a file three times, and returns the least of each.
func readOurs(file string, threads int) (least speed, err error) {
	runtime.GOMAXPROCS(threads)
	algorithms.SetJobs(threads)
	for range 3 {
		runtime.GC()
		began, used := time.Now(), processorSeconds()
		if _, err := tables.Open(context.Background(), file, tables.Options{}); err != nil {
			return least, err
		}
		took := speed{time.Since(began).Seconds(), processorSeconds() - used}
		if least == (speed{}) {
			least = took
		}
		least = speed{min(least.wall, took.wall), min(least.processors, took.processors)}
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
func readPeer(python, peer string, threads int, files []string) ([]speed, error) {
	cmd := exec.Command(python, append([]string{"-c", program, peer, strconv.Itoa(threads)}, files...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New(strings.TrimSpace(stderr.String() + " (" + err.Error() + ")"))
	}
	speeds := make([]speed, len(files))
	for line := range strings.Lines(string(out)) {
		var file string
		var took speed
		if n, _ := fmt.Sscanf(line, "took %s %g %g", &file, &took.wall, &took.processors); n == 3 { // others are the package's own
			speeds[slices.Index(files, file)] = took
		}
	}
	return speeds, nil
}
