package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// A format is a kind of file that can be read. Each stands in a file of its own, which says
// what tells it, what it is called and how it is read; readable lists them.
type format struct {
	name       string   // in messages: holds …
	short      string   // in the list of what can be read
	looksLike  string   // to who wants Arrow
	instead    string   // what to do about it there
	extensions []string // that claim it

	begins func(head []byte) bool     // reports whether a file's first bytes are of the format
	text   *regexp.Regexp             // the beginning of a format that is text
	refuse func(head []byte) error    // says why a file of the format cannot be read; may be nil
	own    func(o Options) (s string) // the option that no other format takes, if it is given: "--flag is for …"; may be nil

	// How it is read is one of these. open is for rows of named columns, array for one array,
	// and read for the rest; rows reads what read does as columns, as they are.
	open  func(context.Context, *input, Options) (*batches, error)
	array func(context.Context, *input, Options) (*Table, error)
	read  func(context.Context, *input, Options) ([]*Table, error)
	rows  func(context.Context, *input, Options, func(*arrow.Schema, records) error) error

	labels func(context.Context, *input, Options) ([]string, error) // reads a file of labels; nil: as any table
}

// readable are those that can be read, in the order of help. Where the beginning of one is
// that of another too, it stands before it.
var readable = []*format{textFormat, jsonLinesFormat, jsonArrayFormat, parquetFormat, arrowFormat, npyFormat, npzFormat, idxFormat, matFormat, fcsFormat, arffFormat, svmlightFormat}

// Formats lists what can be read, with a word before the last: "CSV, TSV, … or svmlight".
func Formats(or string) string {
	names := make([]string, len(readable))
	for i, f := range readable {
		names[i] = f.short
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + or + " " + names[last]
}

// hasColumns reports whether the format has named columns, whose rows come in batches.
func (f *format) hasColumns() bool { return f.open != nil || f.rows != nil }

// prefixes reports whether a head begins with one of them.
func prefixes(all ...string) func(head []byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(all, func(p string) bool { return bytes.HasPrefix(head, []byte(p)) })
	}
}

// claimed is the format that the extension of a name claims, nil if it claims none.
func claimed(ext string) *format {
	i := slices.IndexFunc(readable, func(f *format) bool { return slices.Contains(f.extensions, ext) })
	if i < 0 {
		return nil
	}
	return readable[i]
}

// tell returns the format of a file that begins with head. Text that is not UTF-8 may
// have the encoding, or be an error when it is read. It fails if the file's name
// claims another format.
func tell(head []byte, name, encoding string) (*format, error) {
	if len(head) == 0 {
		return nil, errors.New("is empty: check what wrote it")
	}
	ext := strings.ToLower(filepath.Ext(name))
	found, err := tellContent(head, ext, encoding)
	if err == nil && found == textFormat {
		found, err = tellText(head)
	}
	if err != nil {
		return nil, err
	}
	by := claimed(ext)
	if found == textFormat && by != nil && by.text != nil {
		found = by // whose errors say what is wrong with it
	}
	if by != nil && by != found {
		return nil, fmt.Errorf("is named %s but holds %s: rename it, or check what wrote it", ext, found.name)
	}
	return found, nil
}

// tellContent is tell by the content alone, with all text as one format.
func tellContent(head []byte, ext, encoding string) (*format, error) {
	what := foreignOf(head)
	i := slices.IndexFunc(readable, func(f *format) bool { return f.begins != nil && f.begins(head) })
	switch {
	case what != nil:
		return nil, what.refuse(ext)
	case ext == ".mat" && (i < 0 && !isPlainText(head) || i >= 0 && readable[i] == idxFormat):
		return nil, errOldMAT
	case i >= 0 && readable[i].refuse != nil:
		return readable[i], readable[i].refuse(head)
	case i >= 0:
		return readable[i], nil
	case isPlainText(head), encoding != "" && encoding != Encodings[0], maybeText(head):
		return textFormat, nil
	case unmarkedUTF16(head):
		return nil, errors.New("holds text in UTF-16: give --encoding utf-16")
	}
	return nil, fmt.Errorf("begins with bytes % x, which is no kind of file that can be read: give %s", head[:min(8, len(head))], Formats("or"))
}

// tellText tells the format of text. It fails for what is no table.
func tellText(head []byte) (*format, error) {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for _, f := range readable {
		if f.text != nil && f.text.Match(head) {
			return f, nil
		}
	}
	for _, f := range foreignTexts {
		if f.begins.Match(head) {
			return nil, fmt.Errorf("holds %s, which cannot be read: %s", f.what, f.remedy)
		}
	}
	return textFormat, nil
}

// isPlainText reports whether head is UTF-8 without control characters. Its last
// character may be cut.
func isPlainText(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(head)
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		head = head[n:]
	}
	return true
}

func init() { arrowio.RegisterForeign(notArrow) }

// notArrow says what an input looks like where Arrow is wanted, and what to do about it.
func notArrow(head []byte) (looksLike, advice string) {
	if f := foreignOf(head); f != nil {
		return f.what, f.instead
	}
	for _, f := range readable {
		if f.begins != nil && f.begins(head) {
			return f.looksLike, f.instead
		}
	}
	if !isPlainText(head) {
		return "", ""
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return "JSON", "convert it to Arrow"
	case bytes.ContainsAny(head, ",;\t"):
		return "CSV", readIt
	}
	return "text", "a table is read with mars-featurize; a program that prints to standard output spoils its stream"
}

// readIt is what to do about a table that is given where Arrow is wanted.
const readIt = "read it with mars-featurize"
