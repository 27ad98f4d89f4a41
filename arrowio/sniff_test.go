package arrowio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	for head, want := range map[string]Format{
		"\xff\xff\xff\xff\x10\x01": FormatArrowStream,
		"ARROW1\x00\x00":           FormatArrowFile,
		"ARROW":                    FormatText,
		"\x00\x00\x08\x03":         FormatIDX,
		"\x00\x00\x00\x00":         FormatUnknown,
		"\x01\x02\x03\x04":         FormatUnknown,
		"PK\x05\x06":               FormatZip,
		"<html>":                   FormatHTML,
		"version https://git-lfs.github.com/spec/v1": FormatLFSPointer,
		"version,1":  FormatText,
		"":           FormatText,
		"a,b\r\n1,2": FormatText,
		"a \x00":     FormatUnknown,
		"caf\xe9,b":  FormatUnknown, // Latin-1
		"caf\xc3":    FormatText,    // cut in the middle of é
		"\ufffd,b":   FormatText,    // the sign for what could not be decoded
		strings.Repeat("é", 1000)[:SniffLength-1]: FormatText,
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q is taken for %q, want %q", head, got, want)
		}
	}
}

func TestSniffFile(t *testing.T) {
	for text, want := range map[string]Format{"": FormatText, "PAR1": FormatParquet, strings.Repeat("a", 2*SniffLength) + "\x00": FormatText} {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := SniffFile(path); got != want || err != nil {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	if _, err := SniffFile(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

// Whatever is refused comes with advice.
func TestEveryFormatHasAdvice(t *testing.T) {
	for _, b := range beginnings {
		if _, known := instead[b.format]; !known && !b.format.IsArrow() {
			t.Errorf("%s: there is no advice", b.format)
		}
	}
}
