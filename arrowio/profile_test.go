package arrowio_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"runtime/pprof"
	"runtime/trace"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// fill is what Arrow's assembly would do, if there is any, for a time.
//
//go:noinline
func fill(d time.Duration) {
	buffer := make([]byte, 1<<20)
	for end := time.Now().Add(d); time.Now().Before(end); {
		memory.Set(buffer, 7)
	}
}

// A profile of Arrow's code under load has its callers, while execution is traced. Assembly that
// overwrites the frame pointer, as Arrow's for arm64 does, ends the program here.
func TestProfilesUnwind(t *testing.T) {
	if err := trace.Start(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	var names []byte
	for range 50 { // a busy machine may have no time for a sample
		var profile bytes.Buffer
		if err := pprof.StartCPUProfile(&profile); err != nil {
			t.Fatal(err)
		}
		fill(200 * time.Millisecond)
		pprof.StopCPUProfile()
		r, err := gzip.NewReader(&profile)
		if err != nil {
			t.Fatal(err)
		}
		if names, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(names, []byte("arrow/memory.")) {
			break
		}
	}
	for _, name := range []string{"arrow/memory.", "arrowio_test.fill", "arrowio_test.TestProfilesUnwind", "testing.tRunner"} {
		if !bytes.Contains(names, []byte(name)) {
			t.Errorf("the profile does not have %s", name)
		}
	}
}
