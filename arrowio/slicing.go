package arrowio

import "io"

// slicing is what is left of a large batch of a file: ReadOptions.Slice.
type slicing struct {
	file  *file
	body  int64  // where it begins in the file
	whole *batch // without its body
	row   int    // that comes next
	rows  int    // of a slice

	// Those of the slice that is being made.
	node  int // of whole
	size  int // of the slice's body
	reads []read
}

// read is what a slice takes from the body of the whole, and where it goes.
type read struct {
	from int64
	to   span
}

// sliced returns the slices of the batch in msg, nil if it is to be read as a whole: it is small,
// or not in a file, or packed, or has columns that are not of fixed width or have nulls.
func (r *Reader) sliced(msg *message) (*slicing, error) {
	f, ok := r.messages.(*file)
	if !ok || r.slice == 0 || msg.body <= r.slice || msg.header.table(batchCompression).present() {
		return nil, nil
	}
	whole := r.pool.newBatch()
	whole.schema, whole.columns = r.schema, r.layouts.columns
	s := &slicing{file: f, body: f.offset, whole: whole}
	if err := whole.decode(msg.header, msg.body, &r.unpack); err != nil {
		return nil, err
	}
	for _, l := range whole.columns {
		if whole.rows == 0 || !s.fits(l, whole.rows) {
			return nil, nil
		}
	}
	s.rows = max(int(int64(whole.rows)*int64(r.slice)/int64(msg.body)), 1)
	return s, nil
}

// fits reports whether the array of layout l with n values, whose node is the next, can be
// cut.
func (s *slicing) fits(l *layout, n int) bool {
	node := s.whole.nodes[s.node]
	s.node++
	switch {
	case node.length != n || node.nulls > 0 || l.width <= 0 || !l.hasValidity() || s.whole.spans[node.first].len > 0:
		return false
	case l.form == formFixed:
		return l.dict == nil && n <= s.whole.spans[node.first+1].len/l.width
	case l.form == formFixedList:
		return n <= maxCut/l.width && s.fits(l.children[0], n*l.width)
	}
	return false
}

// maxCut is more values than there are in any file.
const maxCut = 1 << 47

// next makes the next slice.
func (s *slicing) next(p *pool) (*batch, error) {
	if s.row == s.whole.rows {
		return nil, io.EOF
	}
	from, to := s.row, min(s.row+s.rows, s.whole.rows)
	b := p.newBatch()
	b.schema, b.columns, b.raw, b.rows = s.whole.schema, s.whole.columns, false, to-from
	b.nodes, b.spans, b.meta = b.nodes[:0], b.spans[:0], b.meta[:0]
	s.node, s.size, s.reads = 0, 0, s.reads[:0]
	for _, l := range b.columns {
		s.cut(b, l, from, to)
	}
	s.row, b.size = to, s.size
	err := s.fill(b, p)
	if err == nil {
		err = b.validate()
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// cut adds values from to to of the array of layout l, whose node is the next, to b.
func (s *slicing) cut(b *batch, l *layout, from, to int) {
	whole := s.whole.nodes[s.node]
	s.node++
	at := len(b.spans)
	b.nodes = append(b.nodes, node{length: to - from, first: at})
	b.spans = append(b.spans, span{})
	if l.form == formFixedList {
		s.cut(b, l.children[0], from*l.width, to*l.width)
		return
	}
	taken := span{s.size, (to - from) * l.width}
	b.spans = append(b.spans, taken)
	s.reads = append(s.reads, read{s.body + int64(s.whole.spans[whole.first+1].off+from*l.width), taken})
	s.size += (taken.len + 63) / 64 * 64
}

// fill reads the body of a slice.
func (s *slicing) fill(b *batch, p *pool) (err error) {
	if b.body, err = p.get(s.size); err != nil {
		return err
	}
	for _, r := range s.reads {
		n, err := s.file.at.ReadAt(b.body.data[r.to.off:][:r.to.len], r.from)
		switch {
		case n == r.to.len:
		case err == io.EOF:
			return errCut
		default:
			return plainCause(err)
		}
	}
	return nil
}

// done is how many bytes of the batch have been read.
func (s *slicing) done() int64 {
	if s == nil {
		return 0
	}
	return int64(float64(s.row) / float64(s.whole.rows) * float64(s.whole.size))
}
