package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A cut takes out of a module what the page does not need, and what it would be larger by.
type cut struct {
	files string            // which are left out: a pattern
	old   string            // "" if not: only this text is left out of them…
	new   string            // …and this put in its place
	added map[string]string // files that are put beside them
}

const (
	arrowModule = "github.com/apache/arrow/go/v15/"
	thrift      = "github.com/apache/thrift/lib/go/thrift/"
)

// cuts are of what vendor holds: together they make the page less than half as large.
var cuts = []cut{
	// Parquet needs two functions of Arrow Flight, which brings gRPC and Protocol Buffers, and a cast of
	// dictionaries, which are never written, that brings a compute engine.
	{files: arrowModule + "arrow/flight/*.go", added: map[string]string{"schema.go": flightSchema}},
	{files: arrowModule + "parquet/pqarrow/encode_dict_compute.go"},
	{files: arrowModule + "parquet/pqarrow/encode_dict_nocompute.go", old: "//go:build !go1.18", new: "//go:build go1.18"},
	// Not cut but mended: functions that have a version in Go, which no one chooses for WebAssembly.
	{files: arrowModule + "parquet/internal/bmi/bitmap_bmi2_noasm.go", old: "+build noasm", new: "+build wasm"},
	{files: arrowModule + "internal/utils/min_max_noasm.go", old: "go:build noasm", new: "go:build wasm"},
	{files: arrowModule + "arrow/bitutil/bitmap_ops_noasm.go", old: "go:build noasm", new: "go:build wasm"},
	// What compresses by brotli, which no output is: it is only read.
	{files: arrowModule + "parquet/compress/brotli.go", added: map[string]string{"brotli.go": brotliReader}},
	{files: "github.com/andybalholm/brotli/http.go"},
	// A second package for JSON, and servers.
	{files: arrowModule + "internal/json/json.go"},
	{files: arrowModule + "internal/json/json_tinygo.go", old: "//go:build tinygo", new: "//go:build !tinygo"},
	{files: thrift + "http_*.go"}, {files: thrift + "ssl_*.go"}, {files: thrift + "*socket*.go"}, {files: thrift + "simple_server.go"},
	{files: thrift + "configuration.go", old: `"crypto/tls"`, new: ""},
	{files: thrift + "configuration.go", old: "*tls.Config", new: "*struct{}"},
	// Of twelve fonts figures have one, whose shapes nobody draws: the browser has its own. No figure has formulas.
	{files: "gonum.org/v1/plot/text/latex.go"},
	{files: "gonum.org/v1/plot/font/liberation/liberation.go", added: map[string]string{"liberation.go": oneFont}},
}

const flightSchema = `package flight

import (
	"bytes"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

func SerializeSchema(schema *arrow.Schema, mem memory.Allocator) []byte {
	var b bytes.Buffer
	ipc.NewWriter(&b, ipc.WithSchema(schema), ipc.WithAllocator(mem)).Close()
	return b.Bytes()
}

func DeserializeSchema(text []byte, mem memory.Allocator) (*arrow.Schema, error) {
	r, err := ipc.NewReader(bytes.NewReader(text), ipc.WithAllocator(mem))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Schema(), nil
}
`

const oneFont = `package liberation

import (
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

var Collection = sync.OnceValue(func() font.Collection {
	face, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic(err)
	}
	return font.Collection{{Font: font.Font{Typeface: "Liberation", Variant: "Sans"}, Face: face}}
})
`

const brotliReader = `package compress

import (
	"bytes"
	"io"

	"github.com/andybalholm/brotli"
)

type brotliCodec struct{ nocodec }

func (brotliCodec) NewReader(r io.Reader) io.ReadCloser { return io.NopCloser(brotli.NewReader(r)) }

func (brotliCodec) Decode(dst, src []byte) []byte {
	r := brotli.NewReader(bytes.NewReader(src))
	if dst == nil {
		all, err := io.ReadAll(r)
		if err != nil {
			panic(err)
		}
		return all
	}
	n, err := io.ReadFull(r, dst)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		panic(err)
	}
	return dst[:n]
}

func init() { codecs[Codecs.Brotli] = brotliCodec{} }
`

const font = "codeberg.org/go-fonts/liberation/liberationsansregular/LiberationSans-Regular.ttf"

// withoutShapes makes the shapes of a font's characters zeros, which take no room once compressed. Their widths
// stay. A font begins with a list of its tables: name, checksum, offset and length, of 4 bytes each.
func withoutShapes(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	at := bytes.Index(text, []byte("glyf"))
	if at < 0 || at+16 > len(text) {
		return fmt.Errorf("%s: has no table glyf: see what the page needs of it", path)
	}
	from, n := binary.BigEndian.Uint32(text[at+8:]), binary.BigEndian.Uint32(text[at+12:])
	clear(text[from : from+n])
	return os.WriteFile(path, text, 0o666)
}

// Templates of pages call no methods by name. While the linker must think that they do, it keeps
// all methods of all types.
const (
	templates   = "src/text/template/exec.go"
	callsMethod = "if method := ptr.MethodByName(fieldName); method.IsValid() {"
	callsNone   = "if method := ptr; false {"
)

// cutModule makes a folder that is the module with what it needs cut, and the file that has go build
// take Go's own package of templates cut too.
func cutModule(folder, goroot string) (overlay string, err error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum", "arrowio", "cmd", "internal", "pipeline", "show", "stages", "tables"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(folder, name)); err != nil {
			return "", err
		}
	}
	vendor := filepath.Join(folder, "vendor")
	if _, err := os.Stat("vendor"); err == nil { // the archive of the source
		err = os.CopyFS(vendor, os.DirFS("vendor"))
		if err != nil {
			return "", err
		}
	} else if out, err := exec.Command("go", "mod", "vendor", "-o", vendor).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go mod vendor: %w\n%s", err, out)
	}
	for _, c := range cuts {
		if err := c.apply(vendor); err != nil {
			return "", err
		}
	}
	if err := withoutShapes(filepath.Join(vendor, font)); err != nil {
		return "", err
	}
	own, cut := filepath.Join(goroot, templates), filepath.Join(folder, "exec.go")
	if err := edit(own, cut, callsMethod, callsNone); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{own: cut}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(folder, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o666)
}

func (c cut) apply(vendor string) error {
	found, err := filepath.Glob(filepath.Join(vendor, filepath.FromSlash(c.files)))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("%s: is not in vendor any more: see what the page needs of its module", c.files)
	}
	for _, path := range found {
		change := os.Remove
		if c.old != "" {
			change = func(path string) error { return edit(path, path, c.old, c.new) }
		}
		if err := change(path); err != nil {
			return err
		}
	}
	for name, text := range c.added {
		if err := os.WriteFile(filepath.Join(filepath.Dir(found[0]), name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// edit writes a file with another text in the place of one that it must have.
func edit(from, to, old, new string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(old)) {
		return fmt.Errorf("%s: has no %q any more: see what the page needs of it", from, old)
	}
	return os.WriteFile(to, bytes.ReplaceAll(text, []byte(old), []byte(new)), 0o666)
}
