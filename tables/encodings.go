package tables

import (
	"maps"
	"slices"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// wide is UTF-16 in the byte order that its mark says, little-endian if it has none.
const wide = "utf-16"

// usualEncodings is how many of Encodings a message names.
const usualEncodings = 4

// Encodings are the names of the character encodings of text that can be read, in lower case:
// the usual ones, of which the first is the default, and then all others.
var Encodings = append([]string{"utf-8", "latin1", "windows-1252", wide}, otherEncodings()...)

func otherEncodings() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(encodings)), func(name string) bool {
		return name == "latin1" || name == "windows-1252" || name == wide
	})
}

// encodings are those that do not hold UTF-8. In all of them the characters of a text can be
// told apart without those before.
var encodings = func() map[string]encoding.Encoding {
	all := maps.Clone(small)
	maps.Copy(all, eastern)
	return all
}()

// small are the encodings of at most some hundred characters each, and those of Unicode.
var small = map[string]encoding.Encoding{
	"latin1":   charmap.ISO8859_1,
	wide:       unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"utf-16le": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"utf-16be": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"utf-32le": utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
	"utf-32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),

	"iso-8859-2":  charmap.ISO8859_2,
	"iso-8859-3":  charmap.ISO8859_3,
	"iso-8859-4":  charmap.ISO8859_4,
	"iso-8859-5":  charmap.ISO8859_5,
	"iso-8859-6":  charmap.ISO8859_6,
	"iso-8859-7":  charmap.ISO8859_7,
	"iso-8859-8":  charmap.ISO8859_8,
	"iso-8859-9":  charmap.ISO8859_9,
	"iso-8859-10": charmap.ISO8859_10,
	"iso-8859-13": charmap.ISO8859_13,
	"iso-8859-14": charmap.ISO8859_14,
	"iso-8859-15": charmap.ISO8859_15,
	"iso-8859-16": charmap.ISO8859_16,

	"windows-874":  charmap.Windows874,
	"windows-1250": charmap.Windows1250,
	"windows-1251": charmap.Windows1251,
	"windows-1252": charmap.Windows1252,
	"windows-1253": charmap.Windows1253,
	"windows-1254": charmap.Windows1254,
	"windows-1255": charmap.Windows1255,
	"windows-1256": charmap.Windows1256,
	"windows-1257": charmap.Windows1257,
	"windows-1258": charmap.Windows1258,

	"ibm437": charmap.CodePage437,
	"ibm850": charmap.CodePage850,
	"ibm852": charmap.CodePage852,
	"ibm855": charmap.CodePage855,
	"ibm858": charmap.CodePage858,
	"ibm862": charmap.CodePage862,
	"ibm866": charmap.CodePage866,

	"koi8-r":         charmap.KOI8R,
	"koi8-u":         charmap.KOI8U,
	"macintosh":      charmap.Macintosh,
	"x-mac-cyrillic": charmap.MacintoshCyrillic,
}
