package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A feed reads an input ahead, as much as there is, so that who takes from it gets what
// has arrived at once, and much when much has arrived.
type feed struct {
	mu    sync.Mutex
	news  *sync.Cond
	ctx   context.Context
	stop  func() bool
	ready []byte
	err   error // of reading; io.EOF at the end
}

// feedAhead is how many bytes are read ahead.
const feedAhead = 8 << 20

func newFeed(ctx context.Context, r io.Reader) *feed {
	f := &feed{ctx: ctx}
	f.news = sync.NewCond(&f.mu)
	f.stop = context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.news.Broadcast()
	})
	go f.read(r)
	return f
}

func (f *feed) read(r io.Reader) {
	part := make([]byte, 1<<18)
	for {
		n, err := r.Read(part)
		f.mu.Lock()
		f.ready = append(f.ready, part[:n]...)
		f.err = err
		f.news.Broadcast()
		for len(f.ready) >= feedAhead && f.ctx.Err() == nil {
			f.news.Wait()
		}
		f.mu.Unlock()
		if err != nil || f.ctx.Err() != nil {
			return
		}
	}
}

// take appends what has arrived to dst, and waits for something if there is nothing. It
// returns io.EOF after the last bytes.
func (f *feed) take(dst []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.wait(); err != nil {
		return dst, err
	}
	return f.pass(dst), nil
}

// wait waits until something has arrived. It returns io.EOF after the last bytes.
func (f *feed) wait() error {
	for len(f.ready) == 0 && f.err == nil && f.ctx.Err() == nil {
		f.news.Wait()
	}
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if len(f.ready) == 0 {
		return f.err
	}
	return nil
}

// takeReady is take, but waits for nothing.
func (f *feed) takeReady(dst []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pass(dst)
}

func (f *feed) pass(dst []byte) []byte {
	dst = append(dst, f.ready...)
	f.ready = f.ready[:0]
	f.news.Broadcast()
	return dst
}

// followEvery is how often a file that is followed is looked at.
const followEvery = 100 * time.Millisecond

// headMark is how many bytes at the beginning of a followed file tell it from others.
const headMark = 4096

// A follower reads a file that grows, and waits at its end. When another file has its
// name, as after a rotation of logs, it ends with errRotated.
type follower struct {
	ctx    context.Context
	path   string
	file   *os.File
	offset int64
	tail   []byte // the last bytes that were read, at most tailMark
}

// tailMark is how many of the last bytes that were read tell whether a file has been cut in
// place and written again since.
const tailMark = 4096

// errRotated says that a followed file has been put aside for a new one of its name.
var errRotated = errors.New("there is a new file of that name")

// Read reads what has come.
func (f *follower) Read(p []byte) (int, error) {
	rotated := false
	for {
		n, err := f.file.Read(p)
		if n > 0 {
			if err := f.checkTail(); err != nil {
				return 0, err
			}
			f.tail = append(f.tail, p[max(0, n-tailMark):n]...)
			f.tail = f.tail[max(0, len(f.tail)-tailMark):]
		}
		if f.offset += int64(n); n > 0 || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		if rotated { // and what was written before is read
			return 0, errRotated
		}
		is, err := f.file.Stat()
		if err != nil {
			return 0, err
		}
		if is.Size() < f.offset {
			return 0, fmt.Errorf("%s: has become shorter, and what follows cannot be told from what was read: let who writes it make a new file, or only append", f.path)
		}
		if named, err := os.Stat(f.path); err == nil && !os.SameFile(is, named) {
			rotated = true
			continue
		}
		select {
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		case <-time.After(followEvery):
		}
	}
}

// checkTail reports an error if what was read last is no longer where it was: what was just
// read then follows something else.
func (f *follower) checkTail() error {
	now := make([]byte, len(f.tail))
	if _, err := f.file.ReadAt(now, f.offset-int64(len(now))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(now, f.tail) {
		return fmt.Errorf("%s: was cut and written again after %d bytes of it were read, so that rows may be lost: let who writes it make a new file, as logrotate's create does and copytruncate does not, or only append; begin anew with another checkpoint", f.path, f.offset)
	}
	return nil
}

// mark is a hash of the first n bytes of a file, or of what it has.
func mark(file *os.File, n int64) ([]byte, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(file, 0, n))
	return h.Sum(nil), err
}
