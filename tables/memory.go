package tables

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unsafe"

	"mars.dev/mars/arrowio"
)

// extend lengthens s by k values, whose memory it takes from mem. If s must grow,
// its capacity grows by half at least, up to limit values.
func extend[T any](mem *arrowio.Budget, s []T, k, limit int) ([]T, error) {
	need := len(s) + k
	if need <= cap(s) {
		return s[:need], nil
	}
	return move(mem, s, need, max(need, min(cap(s)+cap(s)/2, limit)))
}

// move returns s with need values and room for so many, or s as it is if that takes too much memory.
func move[T any](mem *arrowio.Budget, s []T, need, room int) ([]T, error) {
	if err := take[T](mem, room); err != nil {
		return s, err
	}
	out := make([]T, need, room)
	copy(out, s)
	give[T](mem, cap(s))
	return out, nil
}

// A forecast says how many times what has been read the whole input is, and 0 as long as that
// is not known; nil: it never is.
type forecast func() float64

// seenPart is the part of an input after which it is believed what it says of itself; earlyBytes is the
// memory, and the part of the limit, for which it is believed before.
const (
	seenPart   = 16
	earlyBytes = 256 << 20
	earlyPart  = 16
)

// forecastOf is a forecast after done of all bytes, of which the first may be shorter than others.
func forecastOf(done, all int64) float64 {
	if done < all/seenPart {
		return 0
	}
	return claimOf(done, all)
}

// claimOf is a forecast after done of all rows, or of all bytes of rows that are alike.
func claimOf(done, all int64) float64 {
	if done <= 0 || done > all {
		return 0
	}
	return float64(all) / float64(done)
}

// extendAhead is extend of what grows with the input: it makes room for the whole once, where
// growing by halves copies each value twice.
func extendAhead(mem *arrowio.Budget, s []float32, k int, ahead forecast) ([]float32, error) {
	const spare = 1.02
	if need := len(s) + k; ahead != nil && need > cap(s) {
		times := ahead()
		room := max(int(min(spare*times*float64(need), maxElements)), need)
		early := times > seenPart && int64(room)*sizeOf[float32]() > min(earlyBytes, mem.Limit()/earlyPart)
		if room > cap(s)+cap(s)/2 && !early && take[float32](mem, room) == nil {
			out := append(unset(room), s...)
			give[float32](mem, cap(s))
			return out[:need], nil
		}
	}
	return extend(mem, s, k, maxElements)
}

// unset returns room for n values that has not been cleared.
func unset(n int) []float32 {
	room := unsetBytes(n * int(sizeOf[float32]()))
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(room))), n)[:0]
}

// unsetBytes returns bytes that have not been cleared, as the room of a builder is not.
func unsetBytes(n int) []byte {
	var room strings.Builder
	room.Grow(n)
	room.WriteByte(0)
	out := unsafe.Slice(unsafe.StringData(room.String()), n)
	inHugePages(out)
	return out
}

// roomFor returns n bytes with any content, in the place of b if they fit there, whose memory it takes from mem.
func roomFor(mem *arrowio.Budget, b []byte, n int) ([]byte, error) {
	if n <= cap(b) {
		return b[:n], nil
	}
	room := max(n, cap(b)+cap(b)/2)
	if err := take[byte](mem, room); err != nil {
		return nil, err
	}
	give[byte](mem, cap(b))
	return unsetBytes(room)[:n:room], nil
}

// push appends one value to s as extend does.
func push[T any](mem *arrowio.Budget, s []T, v T) ([]T, error) {
	s, err := extend(mem, s, 1, maxElements)
	if err == nil {
		s[len(s)-1] = v
	}
	return s, err
}

// take takes the memory of n values, and give gives it back.
func take[T any](mem *arrowio.Budget, n int) error { return mem.Take(int64(n) * sizeOf[T]()) }

func give[T any](mem *arrowio.Budget, n int) { mem.Give(int64(n) * sizeOf[T]()) }

func sizeOf[T any]() int64 {
	var zero T
	return int64(unsafe.Sizeof(zero))
}

// nameCost is about the memory of a name in a map beside its text.
const nameCost = 64

// Limited adds what to do to an error of a budget, unless it says so already.
func Limited(err error) error {
	var limit *arrowio.LimitError
	if !errors.As(err, &limit) || strings.Contains(err.Error(), "--memory-limit") {
		return err
	}
	return fmt.Errorf("%w: give fewer rows or columns, or raise --memory-limit", err)
}

// pieces are the content of an input in memory, which need not be moved as it grows.
type pieces struct {
	data [][]byte // all of pieceBytes but the last
	size int64
}

const pieceBytes = 1 << 20

// readPieces reads all of r, in memory of mem.
func readPieces(r io.Reader, mem *arrowio.Budget) (*pieces, error) {
	p := &pieces{}
	for {
		if err := mem.Take(pieceBytes); err != nil {
			return nil, fmt.Errorf("byte %d, and it has to be in memory as a whole: %w", p.size, err)
		}
		piece, n, err := make([]byte, pieceBytes), 0, error(nil)
		for n < len(piece) && err == nil {
			var k int
			k, err = r.Read(piece[n:])
			n += k
		}
		p.data, p.size = append(p.data, piece[:n]), p.size+int64(n)
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// ReadAt is that of io.ReaderAt.
func (p *pieces) ReadAt(b []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errors.New("a place before the beginning")
	}
	for n < len(b) && at < p.size {
		k := copy(b[n:], p.data[at/pieceBytes][at%pieceBytes:])
		n, at = n+k, at+int64(k)
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}
