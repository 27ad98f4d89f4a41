package image

import (
	"bytes"
	"encoding/binary"
	"io"
)

// How the camera was held, by the tag Orientation of Exif: the rows and columns of the
// stored picture are to be read from their ends, or exchanged.
const (
	upright          = 1
	tagOrientation   = 0x0112
	exifLength       = 64 << 10 // a segment is no longer
	markerExif       = 0xe1
	markerScan       = 0xda
	lastStandalone   = 0xd9
	firstStandalone  = 0xd0
	tiffEntry        = 12
	largestDirectory = 1 << 12
)

// orientation is that which a JPEG file says, 1 to 8; 1 where it says none. The reader is at
// the beginning of the file.
func orientation(r io.Reader) int {
	head, err := io.ReadAll(io.LimitReader(r, 2*exifLength))
	if err != nil || !bytes.HasPrefix(head, []byte{0xff, 0xd8}) {
		return upright
	}
	for at := 2; at+4 <= len(head) && head[at] == 0xff; {
		marker, length := head[at+1], int(binary.BigEndian.Uint16(head[at+2:]))
		if marker == markerScan || marker >= firstStandalone && marker <= lastStandalone || length < 2 || at+2+length > len(head) {
			break
		}
		if tiff, ok := bytes.CutPrefix(head[at+4:at+2+length], []byte("Exif\x00\x00")); ok && marker == markerExif {
			return tiffOrientation(tiff)
		}
		at += 2 + length
	}
	return upright
}

// tiffOrientation looks for the tag in the first directory.
func tiffOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return upright
	}
	n := min(int64(order.Uint16(tiff[at:])), largestDirectory)
	for entry := at + 2; n > 0 && entry+tiffEntry <= int64(len(tiff)); entry, n = entry+tiffEntry, n-1 {
		if order.Uint16(tiff[entry:]) != tagOrientation {
			continue
		}
		if v := int(order.Uint16(tiff[entry+8:])); v >= upright && v <= 8 {
			return v
		}
	}
	return upright
}

// turned is the picture as it is to be seen.
func (p Picture) turned(orientation int) Picture {
	if orientation == upright {
		return p
	}
	exchanged := orientation >= 5
	out := Picture{C: 3, Pix: make([]uint8, len(p.Pix)), H: p.H, W: p.W}
	if exchanged {
		out.H, out.W = p.W, p.H
	}
	fromRight := orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8
	fromBottom := orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7
	for y := range out.H {
		for x := range out.W {
			row, column := y, x
			if exchanged {
				row, column = x, y
			}
			if fromRight {
				column = p.W - 1 - column
			}
			if fromBottom {
				row = p.H - 1 - row
			}
			copy(out.Pix[3*(y*out.W+x):][:3], p.Pix[3*(row*p.W+column):])
		}
	}
	return out
}
