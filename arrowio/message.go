package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"mars.dev/mars/arrowio/safetext"
)

// Limits on what a message may claim.
const (
	maxMetadata = 64 << 20 // bytes of a message's flatbuffer
	growStep    = 4 << 20  // bytes of a body that are taken on trust at a time

	// metadataCopies is how often a message's flatbuffer may be in memory: while it
	// grows, as strings, as what these say, and written again.
	metadataCopies = 8
)

// message is one encapsulated message: its flatbuffer, and a body that is yet
// to be read.
type message struct {
	offset  int64 // of its continuation marker
	meta    []byte
	fb      flatbuffer
	current bool // of the metadata version that writers use now
	kind    int
	header  table
	body    int
	sum     checksum // of the body, once it is read
	summed  bool     // sum is known
}

// messageReader reads encapsulated messages one after the other. The memory of
// a message's flatbuffer is reused by the following one.
type messageReader struct {
	r      io.Reader
	offset int64 // of the byte that follows
	size   int64 // of the whole input, -1 if unknown
	pool   *pool
	sums   bool     // sum is wanted
	sum    checksum // of all that was read
	head   [8]byte
	meta   []byte
	msg    message
}

var (
	errCut      = errors.New("ends in the middle: the end marker is missing, so the program that wrote it did not finish")
	errNoMarker = errors.New("is damaged: no message starts here")
)

// read fills p. An input that ends before that was cut.
func (m *messageReader) read(p []byte) (int, error) {
	if !m.sums {
		return m.readPiece(p)
	}
	for at := 0; at < len(p); {
		n, err := m.readPiece(p[at:min(at+sumPiece, len(p))])
		m.sum = m.sum.after(p[at : at+n])
		if at += n; err != nil {
			return at, err
		}
	}
	return len(p), nil
}

// sumPiece is how many bytes are read at a time where they are summed up, while they are in the
// cache.
const sumPiece = 256 << 10

func (m *messageReader) readPiece(p []byte) (int, error) {
	n, err := io.ReadFull(m.r, p)
	m.offset += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errCut
	}
	return n, plainCause(err)
}

func (m *messageReader) position() int64 { return m.offset }

// next reads up to the body of the next message; io.EOF is the end marker.
func (m *messageReader) next() (*message, error) {
	m.msg = message{offset: m.offset}
	m.meta = m.meta[:0]
	if _, err := m.read(m.head[:]); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(m.head[:]) != 0xffffffff {
		return nil, errNoMarker
	}
	n := int(int32(binary.LittleEndian.Uint32(m.head[4:])))
	switch {
	case n == 0:
		return nil, io.EOF
	case n < 0 || n > maxMetadata || m.size >= 0 && int64(n) > m.size-m.offset:
		return nil, m.poisoned(n)
	case int64(n)*metadataCopies > m.pool.budget.Limit():
		return nil, &LimitError{int64(n) * metadataCopies, m.pool.budget.Limit()}
	}
	if err := m.readMeta(n); err != nil {
		return nil, err
	}
	return &m.msg, m.msg.parse(m.meta)
}

// readMeta reads n bytes of metadata, growing as they really come.
func (m *messageReader) readMeta(n int) error {
	for len(m.meta) < n {
		at, step := len(m.meta), min(n-len(m.meta), max(64<<10, len(m.meta)))
		if cap(m.meta) < at+step {
			m.meta = append(make([]byte, 0, at+step), m.meta...)
		}
		got, err := m.read(m.meta[at : at+step])
		m.meta = m.meta[:at+got]
		if err == errCut && n == poisonLength {
			return m.poisoned(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parse reads what kind of message meta is.
func (msg *message) parse(meta []byte) error {
	msg.meta = meta
	msg.fb = flatbuffer{data: meta}
	root := msg.fb.root()
	version := root.int16(0, 0)
	msg.kind = root.byte(1)
	msg.header = root.table(2)
	body := root.int64(3)
	switch {
	case msg.fb.bad || !msg.header.present() || body < 0 || body > 1<<47:
		return errDamaged
	case version < metadataV4:
		return fmt.Errorf("is of metadata version %d, which is too old: write it with Arrow 0.15 or newer", version+1)
	case version > metadataV5:
		return fmt.Errorf("is of metadata version %d, which is unknown: write version 5", version+1)
	}
	msg.body, msg.current = int(body), version == metadataV5
	return nil
}

// readBody reads the body of the current message into a slab. If the size of the
// input is not known, the slab grows as the bytes really come, so that a false
// length costs no memory.
func (m *messageReader) readBody(n int) (*slab, error) {
	trusted := n
	if m.size < 0 {
		trusted = min(n, growStep)
	} else if int64(n) > m.size-m.offset {
		return nil, errCut
	}
	if m.sums {
		before := m.sum
		m.sum = 0
		defer func() {
			m.msg.sum, m.msg.summed = m.sum, true
			m.sum = before.then(m.sum, n)
		}()
	}
	var err error
	s := m.pool.reuse(n)
	if s == nil {
		s, err = m.pool.get(trusted)
	}
	for at := 0; err == nil; {
		if have := min(n, len(s.data)); at < have {
			_, err = m.read(s.data[at:have])
			at = have
			continue
		}
		if at == n {
			return s, nil
		}
		s, err = m.grow(s, min(n, 2*at))
	}
	if s != nil {
		m.pool.put(s)
	}
	return nil, err
}

// grow exchanges s for a slab of n bytes with the same content.
func (m *messageReader) grow(s *slab, n int) (*slab, error) {
	bigger, err := m.pool.get(n)
	if err != nil {
		return s, err
	}
	copy(bigger.data, s.data)
	m.pool.put(s)
	return bigger, nil
}

// poisonLength is the metadata length with which a failing writer of this
// package ends its stream; its error follows as text.
const poisonLength = 0x00100000

// poisoned is the error of a message with an impossible length: the reason that a
// failing writer gives, or else that the length is damaged.
func (m *messageReader) poisoned(n int) error {
	if n != poisonLength {
		return fmt.Errorf("is damaged: a message claims %d bytes of metadata", n)
	}
	text := m.meta
	if len(text) == 0 {
		text = make([]byte, 4096)
		n, _ := io.ReadFull(m.r, text)
		text = text[:n]
	}
	return &upstreamError{strings.ToValidUTF8(string(text[:min(len(text), 4096)]), "?")}
}

// upstreamError is the failure of the program that wrote the input.
type upstreamError struct{ reason string }

func (e *upstreamError) Error() string {
	return "the program before failed: " + safetext.Escape(e.reason)
}
