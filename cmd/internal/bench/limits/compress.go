//go:build unix

package limits

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// compressions are the extensions of ways to compress a file.
var compressions = []string{"", ".gz", ".zst", ".lz4", ".bz2", ".xz"}

// create writes a shape to a file, compressed as its name says.
func create(path string, s shape, bytes int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := compressor(f, filepath.Ext(path))
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, mega)
	if err := s.write(buffered, bytes); err != nil {
		return err
	}
	return errors.Join(buffered.Flush(), w.Close())
}

type nothing struct{ io.Writer }

func (nothing) Close() error { return nil }

func compressor(w io.Writer, extension string) (io.WriteCloser, error) {
	switch extension {
	case ".gz":
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case ".zst":
		return zstd.NewWriter(w, zstd.WithWindowSize(mega))
	case ".lz4":
		return lz4.NewWriter(w), nil
	case ".bz2":
		return newProgram(w, "bzip2")
	case ".xz":
		return newProgram(w, "xz", "-0")
	}
	return nothing{w}, nil
}

// A program compresses what is written to it.
type program struct {
	io.WriteCloser
	cmd *exec.Cmd
}

func newProgram(w io.Writer, name string, args ...string) (io.WriteCloser, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdout = w
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &program{in, cmd}, cmd.Start()
}

func (p *program) Close() error { return errors.Join(p.WriteCloser.Close(), p.cmd.Wait()) }
