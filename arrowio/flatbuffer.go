package arrowio

import "encoding/binary"

// flatbuffer reads a flatbuffer that may be damaged or hostile. An access outside
// its bytes gives zero and sets bad, so that a decoder may run to its end and look
// at bad once. (The Go library of flatbuffers trusts its input and has no
// verifier.)
type flatbuffer struct {
	data   []byte
	bad    bool
	texts  map[int]string // strings read so far, by where they are
	copied int            // bytes of all texts
}

// table is a table of a flatbuffer; the zero table is an absent one, whose
// fields all have their defaults.
type table struct {
	f      *flatbuffer
	pos    int // of the table in f.data
	vtable int // of its vtable
	slots  int // fields that the vtable has
}

func (f *flatbuffer) fail() int {
	f.bad = true
	return 0
}

// bytes returns n bytes at pos, or zeros if they are not there.
func (f *flatbuffer) bytes(pos, n int) []byte {
	if pos < 0 || n < 0 || pos > len(f.data) || n > len(f.data)-pos {
		f.fail()
		return zeros[:max(0, min(n, len(zeros)))]
	}
	return f.data[pos : pos+n]
}

var zeros [8]byte

func (f *flatbuffer) uint16(pos int) int { return int(binary.LittleEndian.Uint16(f.bytes(pos, 2))) }
func (f *flatbuffer) uint32(pos int) int { return int(binary.LittleEndian.Uint32(f.bytes(pos, 4))) }

// follow reads the offset at pos and returns where it leads, or 0 if it leads out.
func (f *flatbuffer) follow(pos int) int {
	step := f.uint32(pos)
	if step == 0 || step > len(f.data)-pos {
		return f.fail()
	}
	return pos + step
}

// root is the table that the flatbuffer starts at.
func (f *flatbuffer) root() table { return f.table(f.follow(0)) }

func (f *flatbuffer) table(pos int) table {
	vtable := pos - int(int32(f.uint32(pos)))
	if pos == 0 || vtable < 0 || vtable > len(f.data)-4 {
		f.fail()
		return table{}
	}
	// The vtable also has the table's size, which goes unused: the Go library
	// lets tables of different sizes share a vtable.
	vsize := f.uint16(vtable)
	if vsize < 4 || vsize%2 != 0 || vsize > len(f.data)-vtable {
		f.fail()
		return table{}
	}
	return table{f, pos, vtable, (vsize - 4) / 2}
}

func (t table) present() bool { return t.f != nil }

// field returns where field i of n bytes lies, 0 if it has its default.
func (t table) field(i, n int) int {
	if t.f == nil || i >= t.slots {
		return 0
	}
	offset := t.f.uint16(t.vtable + 4 + 2*i)
	if offset == 0 {
		return 0
	}
	if offset < 4 || n > len(t.f.data)-t.pos-offset {
		return t.f.fail()
	}
	return t.pos + offset
}

func (t table) int64(i int) int64 {
	if pos := t.field(i, 8); pos != 0 {
		return int64(binary.LittleEndian.Uint64(t.f.bytes(pos, 8)))
	}
	return 0
}

func (t table) int32(i, otherwise int) int {
	if pos := t.field(i, 4); pos != 0 {
		return int(int32(t.f.uint32(pos)))
	}
	return otherwise
}

func (t table) int16(i, otherwise int) int {
	if pos := t.field(i, 2); pos != 0 {
		return int(int16(t.f.uint16(pos)))
	}
	return otherwise
}

func (t table) byte(i int) int {
	if pos := t.field(i, 1); pos != 0 {
		return int(t.f.bytes(pos, 1)[0])
	}
	return 0
}

func (t table) bool(i int) bool { return t.byte(i) != 0 }

// table is the table that field i refers to.
func (t table) table(i int) table {
	if pos := t.field(i, 4); pos != 0 {
		return t.f.table(t.f.follow(pos))
	}
	return table{}
}

// text is the string that field i refers to. Fields may share a string, which is
// copied once, but strings may not overlap: all that are copied fit in the bytes.
func (t table) text(i int) string {
	start, n := t.vectorAt(i, 1)
	if n == 0 {
		return ""
	}
	text, known := t.f.texts[start]
	if known {
		return text
	}
	if t.f.copied += n; t.f.copied > len(t.f.data) {
		t.f.fail()
		return ""
	}
	if t.f.texts == nil {
		t.f.texts = map[int]string{}
	}
	text = string(t.f.bytes(start, n))
	t.f.texts[start] = text
	return text
}

// vector is the vector of n elements of size bytes that field i refers to.
func (t table) vector(i, size int) (elements []byte, n int) {
	start, n := t.vectorAt(i, size)
	if n == 0 {
		return nil, 0
	}
	return t.f.bytes(start, n*size), n
}

func (t table) vectorAt(i, size int) (start, n int) {
	pos := t.field(i, 4)
	if pos == 0 {
		return 0, 0
	}
	start = t.f.follow(pos)
	n = t.f.uint32(start)
	if start == 0 || n > (len(t.f.data)-start-4)/size {
		return 0, t.f.fail()
	}
	return start + 4, n
}

// tables is a vector of tables.
type tables struct {
	f     *flatbuffer
	start int
	n     int
}

// tables is the vector of tables that field i refers to.
func (t table) tables(i int) tables {
	start, n := t.vectorAt(i, 4)
	return tables{t.f, start, n}
}

// at is table k of the vector.
func (v tables) at(k int) table { return v.f.table(v.f.follow(v.start + 4*k)) }

// flatSize is the number of bytes of the flatbuffer that t is in.
func (t table) flatSize() int {
	if t.f == nil {
		return 0
	}
	return len(t.f.data)
}
