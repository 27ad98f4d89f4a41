//go:build linux

// Command benchlimits reads inputs that are far larger than --memory-limit, or claim to
// be, and prints how much memory and time it took to refuse or read them. It fails if
// that is more memory than 1.3 times the limit.
//
//	go run ./cmd/internal/benchlimits BIN
package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

const (
	limit   = 256 << 20
	maximum = 1.3 // times the limit
	mega    = 1 << 20
)

// An input is a file of the table. What is written to w is compressed by the file's name.
type input struct {
	name, what string
	write      func(w io.Writer) error
}

var inputs = []input{
	{"line.csv.gz", "gzip CSV, one line of 3 GB", filled("x,label\n", "1", 3072)},
	{"header.csv.gz", "gzip CSV, a header of 3 GB", filled("a,", "a", 3072)},
	{"commas.csv.gz", "gzip CSV, a header of 10⁹ empty names", filled("x", ",", 1024)},
	{"field.csv", "CSV, one field of 1 GB", filled("id,x,label\n\"", "a", 1024)},
	{"rows.csv.gz", "gzip CSV, 180 million rows", filled("x,y,label\n", "1,2,a\n", 1024)},
	{"zeros.npz.gz", "gzip npz of 3 GB of zeros", filled("PK\x03\x04", "\x00", 3072)},
	{"zeros.parquet.gz", "gzip Parquet of 3 GB of zeros", filled("PAR1", "\x00", 3072)},
	{"zeros.npz", "npz, X of 4 GB of zeros", archive},
	{"images.gz", "gzip IDX, 1 GB of images", filled("\x00\x00\x08\x03\x00\x10\x00\x00\x00\x00\x00\x20\x00\x00\x00\x20", "\x00", 1024)},
	{"shape.npy", "npy that claims 2³¹ values", filled(npyHeader("(2097152, 1024)"), "\x00", 1)},
	{"wide.parquet", "Parquet, 20,000 columns, 3 rows", parquetOf(20_000, 3)},
	{"pages.parquet", "Parquet, 2,000 columns, 10,000 rows", parquetOf(2_000, 10_000)},
	{"dictionaries.parquet", "Parquet, 200 columns of 100,000 values, in dictionaries", parquetOf(200, 100_000)},
	{"20000.csv", "CSV, 20,000 columns, 3 rows", wideText(20_000)},
	{"60000.csv", "CSV, 60,000 columns, 3 rows", wideText(60_000)},
}

func main() {
	err := error(nil)
	if len(os.Args) == 4 { // by createApart
		k := slices.IndexFunc(inputs, func(in input) bool { return in.name == os.Args[2] })
		err = inputs[k].create(os.Args[3])
	} else {
		err = run(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchlimits:", err)
		os.Exit(1)
	}
}

func run(bin string) error {
	dir, err := os.MkdirTemp("", "benchlimits")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("| input | size | limit | peak | time | end |\n|---|---|---|---|---|---|\n")
	for _, in := range inputs {
		path := filepath.Join(dir, in.name)
		if err := in.createApart(bin, path); err != nil {
			return err
		}
		if err := in.measure(bin, path); err != nil {
			return err
		}
		os.Remove(path)
	}
	return nil
}

// createApart creates the file in a process of its own: the peak of a process counts as
// that of those which it starts.
func (in input) createApart(bin, path string) error {
	out, err := exec.Command(os.Args[0], bin, in.name, path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", in.name, err, out)
	}
	return nil
}

func (in input) create(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buffered := bufio.NewWriterSize(f, mega)
	if filepath.Ext(path) != ".gz" {
		err = in.write(buffered)
	} else if z, e := gzip.NewWriterLevel(buffered, gzip.BestSpeed); e != nil {
		err = e
	} else if err = in.write(z); err == nil {
		err = z.Close()
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// measure runs mars-featurize on the input, as source, and prints a row of the table.
func (in input) measure(bin, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.Command(filepath.Join(bin, "mars-featurize"), "-q", "--memory-limit", fmt.Sprint(limit), "--source", path, "-o", path+".arrow")
	cmd.Stderr = &stderr
	start := time.Now()
	end := "read"
	if cmd.Run() != nil {
		end = "refused"
		if !strings.Contains(stderr.String(), "--memory-limit") {
			return fmt.Errorf("%s: another error than that of the limit: %s", in.name, stderr.String())
		}
	}
	took := time.Since(start)
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
	fmt.Printf("| %s | %.1f MB | %d MB | %d MB | %.1f s | %s |\n", in.what, float64(info.Size())/mega, limit/mega, peak/mega, took.Seconds(), end)
	if float64(peak) > maximum*limit {
		return fmt.Errorf("%s: the peak is more than %.1f times the limit", in.name, maximum)
	}
	return nil
}

// filled writes head and then unit again and again, some megabytes of it.
func filled(head, unit string, megabytes int) func(io.Writer) error {
	return func(w io.Writer) error {
		if _, err := io.WriteString(w, head); err != nil {
			return err
		}
		piece := bytes.Repeat([]byte(unit), mega/len(unit))
		for range megabytes {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	}
}

func npyHeader(shape string) string {
	text := "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }"
	text += strings.Repeat(" ", 117-len(text)) + "\n"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(text)), 0}) + text
}

func archive(w io.Writer) error {
	z := zip.NewWriter(w)
	member, err := z.Create("X.npy")
	if err != nil {
		return err
	}
	if err := filled(npyHeader("(1048576, 1024)"), "\x00", 4096)(member); err != nil {
		return err
	}
	return z.Close()
}

func wideText(columns int) func(io.Writer) error {
	return func(w io.Writer) error {
		for _, row := range []string{"g%d,", "%d.25,", "1%d.5,", "0.%d,"} {
			for i := range columns {
				fmt.Fprintf(w, row, i)
			}
			end := "a\n"
			if row == "g%d," {
				end = "label\n"
			}
			if _, err := io.WriteString(w, end); err != nil {
				return err
			}
		}
		return nil
	}
}

// parquetOf writes a row group of values that are all different, in dictionaries.
func parquetOf(columns, rows int) func(io.Writer) error {
	return func(w io.Writer) error { return writeParquet(w, columns, rows) }
}

func writeParquet(w io.Writer, columns, rows int) error {
	fields, values := make([]arrow.Field, columns), make([]arrow.Array, columns)
	for i := range fields {
		b := array.NewFloat32Builder(memory.DefaultAllocator)
		for k := range rows {
			b.Append(float32(i*rows + k))
		}
		fields[i], values[i] = arrow.Field{Name: fmt.Sprintf("g%d", i), Type: arrow.PrimitiveTypes.Float32}, b.NewArray()
	}
	labels := array.NewStringBuilder(memory.DefaultAllocator)
	for k := range rows {
		labels.Append([]string{"a", "b"}[k%2])
	}
	schema := arrow.NewSchema(append(fields, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String}), nil)
	file, err := pqarrow.NewFileWriter(schema, w, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(int64(rows))), pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	if err := file.Write(array.NewRecord(schema, append(values, labels.NewArray()), int64(rows))); err != nil {
		return err
	}
	return file.Close()
}
