package tables

import (
	"sync/atomic"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms"
)

const (
	// cachedValues is about how many values are copied from columns to rows at a time, so that
	// they stay in a processor's cache.
	cachedValues = 1 << 13
	// sharedValues are worth another thread.
	sharedValues = 1 << 16
)

// fillRows copies rows of columns to data, where they are side by side in rows of that width, and
// reports whether all values are finite. Several threads do it if there is much to copy.
func fillRows(data []float32, columns []arrowio.Vectors, rows []int, width int) bool {
	var odd atomic.Bool // a value is not finite
	step := max(cachedValues/width, 8)
	much := len(data) >= sharedValues && step*width <= 2*cachedValues
	some := func(from, to int) {
		var room []float32
		if much {
			room = unset(step * width)
		}
		for lo := from; lo < to; lo += step {
			hi := min(lo+step, to)
			into := data[lo*width : hi*width]
			made, there := whole(columns, rows[lo:hi], width)
			if !there {
				if made = into; much {
					made = room[:len(into)]
				}
				fill(made, columns, rows[lo:hi], width)
			}
			if !arrowio.AreFinite(made) { // while they are in the cache
				odd.Store(true)
			}
			switch {
			case much:
				algorithms.Stream(into, made) // memory is written once, in whole lines
			case there:
				copy(into, made)
			}
		}
	}
	parts := min(max(len(rows)*width/sharedValues, 1), 4*algorithms.Jobs())
	if parts == 1 {
		some(0, len(rows))
		return !odd.Load()
	}
	_ = algorithms.Each(parts, func(k int) error { // which cannot fail
		some(k*len(rows)/parts, (k+1)*len(rows)/parts)
		return nil
	})
	return !odd.Load()
}

// whole are rows of one column that has all their values, if they follow one another.
func whole(columns []arrowio.Vectors, rows []int, width int) (values []float32, ok bool) {
	lo, hi := rows[0], rows[len(rows)-1]+1
	if columns[0].Width != width || hi-lo != len(rows) {
		return nil, false
	}
	return columns[0].Data[lo*width : hi*width], true
}

// fill is fillRows of rows that stay in a cache.
func fill(data []float32, columns []arrowio.Vectors, rows []int, width int) {
	lo, hi := rows[0], rows[len(rows)-1]+1
	for at := 0; len(columns) > 0; {
		n := 1
		switch v := columns[0]; {
		case hi-lo == len(rows) && areNumbers(columns):
			n = tile
			var four [tile][]float32
			for k := range four {
				four[k] = columns[k].Data[lo:hi]
			}
			algorithms.Zip(data[at:], width, four)
		case v.Width == 1:
			for k, i := range rows {
				data[at+k*width] = v.Data[i]
			}
		default:
			for k, i := range rows {
				copy(data[at+k*width:], v.Row(i))
			}
		}
		for _, v := range columns[:n] {
			at += v.Width
		}
		columns = columns[n:]
	}
}

// tile is how many columns are copied together.
const tile = 4

// areNumbers reports whether the first of the columns can be copied together.
func areNumbers(columns []arrowio.Vectors) bool {
	if len(columns) < tile {
		return false
	}
	for _, v := range columns[:tile] {
		if v.Width != 1 {
			return false
		}
	}
	return true
}
