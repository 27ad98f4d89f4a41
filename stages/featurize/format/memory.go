package format

import (
	"errors"
	"fmt"
	"io"
	"runtime"
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
	grown := max(need, min(cap(s)+cap(s)/2, limit))
	if err := take[T](mem, grown); err != nil {
		return nil, err
	}
	if int64(grown)*sizeOf[T]() > mem.Limit()/8 {
		runtime.GC() // the pieces before s are garbage, and large
	}
	out := make([]T, need, grown)
	copy(out, s)
	give[T](mem, cap(s))
	return out, nil
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

// Limited adds what to do to an error of a budget.
func Limited(err error) error {
	var limit *arrowio.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	return fmt.Errorf("%w: give fewer rows or columns, or raise --memory-limit", err)
}

// readAll reads all of r, in memory of mem.
func readAll(r io.Reader, mem *arrowio.Budget) ([]byte, error) {
	var data []byte
	for {
		if len(data) == cap(data) {
			grown, err := extend(mem, data, stepBytes, maxElements)
			if err != nil {
				return nil, err
			}
			data = grown[:len(data)]
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
