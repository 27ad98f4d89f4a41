package arrowio

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"golang.org/x/term"
)

// ReadOptions say how an input is read. The zero value is right for most.
type ReadOptions struct {
	// Budget is the memory of the batches that the reader holds at one time, which it may
	// share with others; nil means what the process may have. A batch that needs more is
	// an error.
	Budget *Budget
	// Allocator is where the memory of batches comes from; nil means Go's. A
	// checked one shows in tests that every batch is released.
	Allocator memory.Allocator
	// Slice is about how many bytes of a larger batch of a file are read at a time, where its
	// columns can be cut: they are not packed, and of fixed width without nulls. Each slice is
	// a batch. 0 means that batches come as they are.
	Slice int
}

func (o ReadOptions) withDefaults() ReadOptions {
	if o.Budget == nil {
		o.Budget = NewBudget(0)
	}
	if o.Allocator == nil {
		o.Allocator = allocator
	}
	return o
}

// Open opens an Arrow stream or file for reading; "" or "-" is standard input. Its
// first bytes tell which of the two it is.
func Open(path string, o ReadOptions) (*Reader, error) {
	if path == "" || path == "-" {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			return nil, inputError("standard input", errors.New("is a terminal"), "pipe a stream into it, or name a file")
		}
		widenPipe(os.Stdin)
		return NewReader(StandardInput(), "standard input", o)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, inputError(path, plainCause(err), "")
	}
	widenPipe(f)
	r, err := NewReader(f, path, o)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer = f
	return r, nil
}

// plainCause strips the path that os errors repeat.
func plainCause(err error) error {
	if pathErr, ok := err.(*fs.PathError); ok {
		return pathErr.Err
	}
	return err
}

// input is where a Reader gets its bytes.
type input struct {
	once  io.Reader   // of an input that can be read once
	at    io.ReaderAt // of one that can be read again, nil otherwise
	start int64       // where it begins in at
	size  int64       // in bytes, -1 if unknown
	spill *os.File    // holds a file that came through a pipe
}

func newInput(r io.Reader) (*input, error) {
	at, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if f, isFile := r.(*os.File); isFile {
		info, err := f.Stat()
		if err != nil {
			return nil, plainCause(err)
		}
		ok = info.Mode().IsRegular()
	}
	if !ok {
		return &input{once: r, size: -1}, nil
	}
	start, err := at.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, plainCause(err)
	}
	end, err := at.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = at.Seek(start, io.SeekStart)
	}
	return &input{at: at, start: start, size: end - start}, plainCause(err)
}

// section gives access to the bytes of an input that can be read again.
func (in *input) section() *io.SectionReader {
	return io.NewSectionReader(in.at, in.start, in.size)
}

// headReader is a reader whose first bytes can be looked at.
type headReader struct {
	*bufio.Reader
}

// headSize is small, so that bodies go past the buffer straight into their memory.
const headSize = 4096

func (in *input) reader() (headReader, error) {
	r := in.once
	if in.at != nil {
		r = in.section()
	}
	h := headReader{bufio.NewReaderSize(r, headSize)}
	if _, err := h.Peek(1); err != nil && err != io.EOF {
		return h, plainCause(err)
	}
	return h, nil
}

// head is the first bytes: as many as there are without waiting for more than the
// start of a message.
func (h headReader) head() []byte {
	h.Peek(kindLength)
	head, _ := h.Peek(h.Buffered())
	return head
}

// hold keeps the rest of an input that can be read once in a temporary file
// without a name, so that it can be read anywhere.
func (in *input) hold(rest io.Reader) error {
	f, err := tempFile()
	if err != nil {
		return err
	}
	in.spill = f
	n, err := io.Copy(f, rest)
	in.at, in.start, in.size = f, 0, n
	return plainCause(err)
}

func (in *input) close() error {
	if in.spill == nil {
		return nil
	}
	err := in.spill.Close()
	in.spill = nil
	return err
}

// tempFile makes a file without a name, which is gone when it is closed or the
// process ends.
func tempFile() (*os.File, error) {
	f, err := os.CreateTemp("", "mars-*")
	if err != nil {
		return nil, inputError("temporary file", plainCause(err), "set TMPDIR to a folder that can be written")
	}
	return f, plainCause(os.Remove(f.Name()))
}
