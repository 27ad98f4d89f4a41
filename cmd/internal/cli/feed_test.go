package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A followed file that was cut in place, and has grown beyond where it was read to since, is
// not read on as if nothing had happened.
func TestFollowerSeesCuts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil { // in place
			t.Fatal(err)
		}
	}
	write("x,y\n" + strings.Repeat("1,2\n", 3000))
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, part := &follower{ctx: t.Context(), path: path, file: file}, make([]byte, 5000)
	for read := 0; read < 12_004; {
		n, err := f.Read(part)
		if err != nil {
			t.Fatal(err)
		}
		read += n
	}
	write("x,y\n" + strings.Repeat("1,2\n", 3000) + "3,4\n")
	if n, err := f.Read(part); n != 4 || err != nil {
		t.Errorf("what was appended: %d bytes, %v", n, err)
	}
	write("x,y\n" + strings.Repeat("5,67\n", 5000))
	if n, err := f.Read(part); n != 0 || err == nil || !strings.Contains(err.Error(), "rows.csv: was cut and written again after 12008 bytes") {
		t.Errorf("after a cut: %d bytes, %v", n, err)
	}
}
