package arrowio

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIsArrowFile(t *testing.T) {
	for text, want := range map[string]bool{"": false, "PAR1": false, "ARROW": false, "ARROW1\x00\x00": true, "\xff\xff\xff\xff\x10\x01": true} {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := IsArrowFile(path); got != want || err != nil {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	if _, err := IsArrowFile(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}
