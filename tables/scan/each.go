package scan

import (
	"context"
	"errors"
	"io"
	"sync"
)

// Each splits the rest of a text into chunks. It calls work for each of them, in up to jobs
// goroutines at once, and deliver for what work made of it, in the order of the text and
// one at a time, in the goroutine of the caller. What work returns may share its memory
// with the chunk's fields until deliver has returned. With an error work may return what
// it made of the records before; that is delivered, and Each returns the error.
//
// It returns when all goroutines have ended. Not many more chunks than jobs are in memory.
func Each[T any](ctx context.Context, s *Scanner, jobs int, work func(*Chunk) (T, error), deliver func(T) error) error {
	if s.fields == 0 {
		if _, err := s.Peek(); err != nil {
			return ended(err)
		}
	}
	p := newPipe(s, max(jobs, 1), work)
	defer p.close()
	next := 0
	for ready := map[int]result[T]{}; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r, ok := ready[next]; ok {
			delete(ready, next)
			next++
			if err := deliver(r.value); err != nil {
				return err
			}
			if r.err != nil {
				return ended(r.err)
			}
			p.free <- r.chunk
			continue
		}
		select {
		case r := <-p.results:
			ready[r.number] = r
		case c := <-p.free:
			if !p.step(c) {
				r := <-p.results // the last chunk is at work
				ready[r.number] = r
			}
		}
	}
}

// ended is the error of a text that has ended with this one.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// A pipe is the chunks that are at work.
type pipe[T any] struct {
	work    func(*Chunk) (T, error)
	free    chan *Chunk
	results chan result[T]
	stopped chan struct{}
	helpers sync.WaitGroup

	cutting sync.Mutex // of the text, which is held while it is read
	s       *Scanner
	cut     int // chunks
}

type result[T any] struct {
	number int
	chunk  *Chunk
	value  T
	err    error // io.EOF after the last chunk
}

func newPipe[T any](s *Scanner, jobs int, work func(*Chunk) (T, error)) *pipe[T] {
	chunks := 2*jobs + 1 // so that nobody waits for the slowest
	if limit := s.Memory.Limit() / share / chunkCost / int64(s.Chunk); int64(chunks) > limit {
		chunks = max(int(limit), 1)
	}
	p := &pipe[T]{work: work, s: s, free: make(chan *Chunk, chunks), results: make(chan result[T], chunks), stopped: make(chan struct{})}
	for range chunks {
		p.free <- &Chunk{s: s}
	}
	for range min(jobs, chunks) - 1 {
		p.helpers.Go(p.help)
	}
	return p
}

func (p *pipe[T]) help() {
	for {
		select {
		case <-p.stopped:
			return
		default:
		}
		select {
		case <-p.stopped:
			return
		case c := <-p.free:
			if !p.step(c) {
				return
			}
		}
	}
}

// step works on the next chunk, in c, and reports whether there was one.
func (p *pipe[T]) step(c *Chunk) bool {
	p.cutting.Lock()
	if p.s.ended && p.s.current == nil {
		p.cutting.Unlock()
		return false
	}
	if c0 := p.s.current; c0 != nil {
		c, p.s.current = c0, nil // the rest of what Next has begun
	} else {
		p.s.cut(c)
	}
	r := result[T]{number: p.cut, chunk: c}
	p.cut++
	p.cutting.Unlock()
	r.value, r.err = p.work(c)
	if r.err == nil {
		r.err = c.err
	}
	p.results <- r
	return true
}

func (p *pipe[T]) close() {
	close(p.stopped)
	p.helpers.Wait()
}
