package safetext

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"plain ü 雪 \u00a0": "plain ü 雪 \u00a0", "a\x1b]0;b\a": `a\u001b]0;b\u0007`, "a\nb\tc\rd": `a\u000ab\u0009c\u000dd`,
		"\u009b31m\x7f": `\u009b31m\u007f`, "\xff\xc3": `\xff\xc3`, "\u202ea\u2066b\u2028\u200f\u061c": `\u202ea\u2066b\u2028\u200f\u061c`, "\ufffd": "\ufffd",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q gives %s", text, got)
		}
	}
	if got := EscapeLines("a\nb\tc\rd\x1b"); got != "a\nb\tc"+`\u000dd\u001b` {
		t.Errorf("lines give %q", got)
	}
}

// However text is cut into pieces, a writer writes the same, and JSON stays JSON.
func TestWriter(t *testing.T) {
	text := "ü\x1b雪\xff€\n𝛼\u009b."
	for size := 1; size <= len(text); size++ {
		var got strings.Builder
		w := NewWriter(&got)
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			if n, err := w.Write([]byte(rest[:min(size, len(rest))])); err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
		}
		if got.String() != EscapeLines(text) {
			t.Errorf("in pieces of %d: %q", size, got.String())
		}
	}
	var out strings.Builder
	if err := json.NewEncoder(NewWriter(&out)).Encode("\u009b\x7f\x1b\u202e"); err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back != "\u009b\x7f\x1b\u202e" {
		t.Errorf("%s: %q, %v", out.String(), back, err)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriterOfFullDisk(t *testing.T) {
	if n, err := NewWriter(full{}).Write([]byte("text")); n != 0 || err != io.ErrShortWrite {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "a=1": "a=1", "-1.5e-3": "-1.5e-3", "+1": "+1", "-.5": "-.5", "=1+1": "'=1+1", "-1+1": "'-1+1", "-inf": "'-inf",
		"@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "+cmd|'/C calc'!A0": "'+cmd|'/C calc'!A0", "＝1": "'＝1",
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, text := range []string{"", "a\x1b[31m", "\xff", "ü\u009b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := Escape(text)
		if Escape(once) != once || strings.ContainsAny(once, "\x00\x1b\n\r\t\a\x7f\u009b") {
			t.Errorf("%q gives %q", text, once)
		}
	})
}
