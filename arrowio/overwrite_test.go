package arrowio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Also where the scripts of the programs do not run, a hard link is the file.
func TestHardLinkIsTheFile(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(in, []byte("x\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(in, out); err != nil {
		t.Skip(err)
	}
	err := CheckFiles([]FileUse{{Path: in}}, []FileUse{{Flag: "--save", Path: out}})
	if err == nil || !strings.Contains(err.Error(), "is input and output at once") {
		t.Errorf("error %v", err)
	}
	if err := CheckFiles([]FileUse{{Path: in}}, []FileUse{{Path: filepath.Join(dir, "other.csv")}}); err != nil {
		t.Errorf("another file: %v", err)
	}
}
