//go:build unix

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/cmd/internal/bench/cost"
)

const (
	width        = 2048 // elements of a row
	rowsPerBatch = 128  // 1 MB
)

// passes are the programs under test.
var passes = []struct {
	name string
	run  func() error
}{
	{"arrow/go", passArrowGo},
	{"arrowio", passArrowio},
}

// benchIO measures a pass-through of record batches over real pipes: arrowio's reader and writer
// beside arrow/go's own, in one run.
//
// It starts this program three times in a row of pipes: a generator that sends the same batches
// over and over (fixed_size_list<float32>[2048], about 1 MB each), the pass-through under test, and a
// sink that throws the bytes away. It prints the best rate of several rounds, and the largest resident
// size of the pass-through.
func benchIO(flags *flag.FlagSet) func() error {
	role := flags.String("role", "", "used by the program to start itself")
	size := flags.Int64("bytes", 4<<30, "length of the stream")
	rounds := flags.Int("rounds", 3, "rounds, of which the best counts")
	return func() error { return pass(*role, *size, *rounds) }
}

func pass(role string, size int64, rounds int) error {
	switch role {
	case "":
		return passAll(size, rounds)
	case "generate":
		return generate(os.Stdout, size)
	case "sink":
		_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{os.Stdin}, make([]byte, 1<<20))
		return err
	}
	for _, p := range passes {
		if p.name == role {
			return p.run()
		}
	}
	return fmt.Errorf("no role %q", role)
}

func passAll(size int64, rounds int) error {
	best := make([]cost.Cost, len(passes))
	for range rounds {
		for i, p := range passes { // in turns, so that a slow minute is slow for both
			c, err := passOne(p.name, size)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if best[i].Wall == 0 || c.Wall < best[i].Wall {
				best[i].Wall = c.Wall
			}
			best[i].Peak = max(best[i].Peak, c.Peak)
		}
	}
	fmt.Printf("pass-through of fixed_size_list<float32>[%d], %.1f GB over pipes, best of %d\n", width, float64(size)/(1<<30), rounds)
	fmt.Printf("%-10s %10s %8s %14s\n", "", "MB/s", "ratio", "resident MB")
	for i, p := range passes {
		fmt.Printf("%-10s %10.0f %8.2f %14.0f\n", p.name, float64(size)/1e6/best[i].Wall, best[0].Wall/best[i].Wall, best[i].Peak)
	}
	return nil
}

// passOne runs generator, pass-through and sink: the time is that of all, the memory the second's.
func passOne(name string, size int64) (cost.Cost, error) {
	self, err := os.Executable()
	if err != nil {
		return cost.Cost{}, err
	}
	roles := []string{"generate", name, "sink"}
	cmds := make([]*exec.Cmd, len(roles))
	var in *os.File
	start := time.Now()
	for i, role := range roles {
		cmds[i] = exec.Command(self, "io", "-role", role, "-bytes", fmt.Sprint(size))
		cmds[i].Stderr = os.Stderr
		cmds[i].Stdin = in
		var next, out *os.File
		if i < len(roles)-1 {
			if next, out, err = os.Pipe(); err != nil {
				return cost.Cost{}, err
			}
			cmds[i].Stdout = out
		}
		err = cmds[i].Start()
		in.Close()
		out.Close()
		if in = next; err != nil {
			return cost.Cost{}, err
		}
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			return cost.Cost{}, fmt.Errorf("%s: %w", roles[i], err)
		}
	}
	return cost.Since(start, cmds[1].ProcessState), nil
}

// generate writes a stream of about size bytes: one batch, again and again.
func generate(w io.Writer, size int64) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "features", Type: arrowio.VectorType(width)}}, nil)
	data := make([]float32, rowsPerBatch*width)
	for i := range data {
		data[i] = float32(i)
	}
	rec := array.NewRecord(schema, []arrow.Array{arrowio.NewVectorArray(arrowio.Vectors{Data: data, Rows: rowsPerBatch, Width: width})}, rowsPerBatch)
	var buf bytes.Buffer
	out := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	marks := []int{}
	for range 2 {
		if err := out.Write(rec); err != nil {
			return err
		}
		marks = append(marks, buf.Len())
	}
	if err := out.Close(); err != nil {
		return err
	}
	stream := buf.Bytes()
	batch := stream[marks[0]:marks[1]]
	if _, err := w.Write(stream[:marks[0]]); err != nil {
		return err
	}
	for sent := int64(len(batch)); sent < size; sent += int64(len(batch)) {
		if _, err := w.Write(batch); err != nil {
			return err
		}
	}
	_, err := w.Write(stream[marks[1]:])
	return err
}

func passArrowGo() error {
	r, err := ipc.NewReader(os.Stdin)
	if err != nil {
		return err
	}
	defer r.Release()
	w := ipc.NewWriter(os.Stdout, ipc.WithSchema(r.Schema()))
	for r.Next() {
		if err := w.Write(r.Record()); err != nil {
			return err
		}
	}
	if r.Err() != nil {
		return r.Err()
	}
	return w.Close()
}

func passArrowio() error {
	r, err := arrowio.Open("-", arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := arrowio.Create("-", arrowio.WriteOptions{})
	if err != nil {
		return err
	}
	return arrowio.Copy(context.Background(), w, r)
}
