package tables

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"

	"mars.dev/mars/arrowio"
)

// A compression is a way to compress a file as a whole.
type compression struct {
	name       string
	extensions []string
	begins     *regexp.Regexp
	// open reads what is compressed. What a file says about itself may take no more than
	// window bytes beside small buffers.
	open func(r *bufio.Reader, window int64) (io.Reader, error)
	// needs is the memory of reading what begins with head.
	needs func(head []byte, window int64) int64
}

var compressions = []compression{
	{"gzip", []string{".gz"}, regexp.MustCompile(`^\x1f\x8b`), openGzip, constant(1 << 16)},
	{"zstd", []string{".zst", ".zstd"}, regexp.MustCompile(`(?s)^(\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)`), openZstd, aWindow},
	{"bzip2", []string{".bz2"}, regexp.MustCompile(`^BZh[1-9](1AY&SY|\x17rE8P)`), openBzip2, constant(4 * 900_000)},
	{"xz", []string{".xz"}, regexp.MustCompile(`^\xfd7zXZ\x00`), openXZ, aWindow},
	{"lz4", []string{".lz4"}, regexp.MustCompile(`^\x04\x22\x4d\x18`), openLZ4, blocksLZ4},
}

func constant(bytes int64) func([]byte, int64) int64 {
	return func([]byte, int64) int64 { return bytes }
}

func aWindow(_ []byte, window int64) int64 { return window }

// blocksLZ4 are three of the blocks whose size the head of a frame says: one that is packed, one
// that is not, and the one before it.
func blocksLZ4(head []byte, _ int64) int64 {
	const descriptor, smallest = 5, 4
	if len(head) <= descriptor {
		return 0
	}
	size := min(max(head[descriptor]>>4&7, smallest), 7)
	return 3 << (16 + 2*(size-smallest))
}

// bareName is a name without the extension of a compression.
func bareName(name string) string {
	for _, c := range compressions {
		if ext := filepath.Ext(name); slices.Contains(c.extensions, strings.ToLower(ext)) {
			return strings.TrimSuffix(name, ext)
		}
	}
	return name
}

// maxWindow is what a decoder may hold of what it has read: xz -9 and zstd --ultra -22 ask
// for less, but not zstd --long=31.
const maxWindow = 128 << 20

// decompressed returns the content of r, and whether it is compressed. What is compressed
// is told by its first bytes.
func decompressed(ctx context.Context, r *bufio.Reader, mem *arrowio.Budget) (_ *bufio.Reader, found bool, err error) {
	head, _ := r.Peek(16)
	i := slices.IndexFunc(compressions, func(c compression) bool { return c.begins.MatchString(latin(head)) })
	if i < 0 {
		return r, false, nil
	}
	d := &decompressor{name: compressions[i].name, packed: &counter{r: r}}
	window := min(maxWindow, mem.Limit()/8)
	if err := mem.Take(compressions[i].needs(head, window)); err != nil {
		return nil, true, err
	}
	opened, err := compressions[i].open(bufio.NewReaderSize(d.packed, 1<<16), window)
	if err != nil {
		return nil, true, d.explain(err)
	}
	d.plain = opened
	return bufio.NewReaderSize(arrowio.WithContext(ctx, d), 1<<16), true, nil // a little that is packed may be much
}

// latin is a text in which each byte is a character, for expressions.
func latin(head []byte) string {
	text := make([]rune, len(head))
	for i, b := range head {
		text[i] = rune(b)
	}
	return string(text)
}

// A decompressor reads what is compressed, and says what is wrong with it.
type decompressor struct {
	name   string
	packed *counter
	plain  io.Reader
	out    int64 // bytes that were read
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.plain.Read(p)
	d.out += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = d.explain(err)
	}
	return n, err
}

// A damage is what is wrong with a file that is compressed, or an array of objects.
type damage struct {
	text  string
	cause error
}

func (e *damage) Error() string { return e.text }
func (e *damage) Unwrap() error { return e.cause }

// isWindow reports whether an error of a decoder is that its data ask for too much memory.
func isWindow(err error) bool {
	return errors.Is(err, xz.ErrMemlimit) || errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded)
}

func (d *decompressor) explain(err error) error {
	limit := (*arrowio.LimitError)(nil)
	switch {
	case d.packed.err != nil && errors.Is(err, d.packed.err), errors.As(err, &limit): // it is not the data
		return err
	case errors.Is(err, errNotGzip), errors.Is(err, errNotXZ):
		return &damage{fmt.Sprintf("%v: was something appended to it? Copy or download it again, or keep its beginning: %s -dc FILE 2>/dev/null", err, d.name), err}
	case isWindow(err):
		return &damage{fmt.Sprintf("its %s data ask for more memory than they may have: raise --memory-limit (up to %d MB help), or compress it again without a large window", d.name, maxWindow>>17), err}
	case errors.Is(err, io.ErrUnexpectedEOF), d.packed.ended && errors.Is(err, xz.ErrBuf):
		return &damage{fmt.Sprintf("is truncated: its %s data stop at byte %d, after %d bytes of content: copy or download it again", d.name, d.packed.n, d.out), err}
	}
	return &damage{fmt.Sprintf("is damaged (%v): copy or download it again (near byte %d of its %s data, after %d bytes of content)", err, d.packed.n, d.name, d.out), err}
}

// A counter counts what is read, and keeps an error that is not its end.
type counter struct {
	r     io.Reader
	n     int64
	ended bool
	err   error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if errors.Is(err, io.EOF) {
		c.ended = true
	} else if err != nil {
		c.err = err
	}
	return n, err
}

func openGzip(r *bufio.Reader, _ int64) (io.Reader, error) {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	unzipped.Multistream(false)
	return &members{unzipped, r}, nil
}

func openZstd(r *bufio.Reader, window int64) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(max(window, zstd.MinWindowSize))))
}

func openXZ(r *bufio.Reader, window int64) (io.Reader, error) {
	unpacked, err := xz.NewReader(r, uint32(window))
	if err != nil {
		return nil, err
	}
	unpacked.Multistream(false)
	return &xzStreams{unpacked}, nil
}

// xzStreams reads the streams of an xz file one after another. What follows them is an error.
type xzStreams struct{ *xz.Reader }

// errNotXZ is what follows the streams of an xz file and is none.
var errNotXZ = errors.New("has bytes after its xz data that are not xz")

func (s *xzStreams) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if errors.Is(err, io.EOF) {
		if err = s.Reset(nil); err != nil && !errors.Is(err, io.EOF) {
			err = errNotXZ
		}
		s.Multistream(false)
	}
	return n, err
}

func openBzip2(r *bufio.Reader, _ int64) (io.Reader, error) { return bzip2.NewReader(r), nil }

func openLZ4(r *bufio.Reader, _ int64) (io.Reader, error) { return lz4.NewReader(r), nil }

// members reads the members of a gzip file one after another. What follows them is an
// error, but for zeros, with which archives on tape were filled up and which gzip ignores.
type members struct {
	*gzip.Reader
	compressed *bufio.Reader
}

// errNotGzip is what follows the members of a gzip file and is none.
var errNotGzip = errors.New("has bytes after its gzip data that are not gzip")

func (m *members) Read(b []byte) (int, error) {
	for { // members may be empty, and many
		n, err := m.Reader.Read(b)
		if errors.Is(err, io.EOF) {
			err = m.next()
		}
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
	}
}

func (m *members) next() error {
	next, err := m.compressed.ReadByte()
	for err == nil && next == 0 {
		next, err = m.compressed.ReadByte()
	}
	if err != nil {
		return err
	}
	if err := m.compressed.UnreadByte(); err != nil {
		return err
	}
	if magic, err := m.compressed.Peek(2); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else if !bytes.Equal(magic, []byte("\x1f\x8b")) {
		return errNotGzip
	}
	if err := m.Reset(m.compressed); err != nil {
		return err
	}
	m.Multistream(false)
	return nil
}
