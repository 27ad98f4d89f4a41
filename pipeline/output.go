package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"mars/arrowio"
	"mars/arrowio/atomicfile"
)

// of is the flag under which an entry has the output's file: "" for rows and text.
func (o Output) of(n *Node) string {
	if n.Stage.Flags[o.Flag].Role == RowsFile {
		return ""
	}
	return o.Flag
}

// encoding is the output's compression. It is plain if the output is the cache's
// file as it is, without another layout or compression.
func (o Output) encoding(n *Node) (c arrowio.Compression, plain bool) {
	if o.of(n) != "" || !n.Stage.Rows {
		return c, true
	}
	if name := n.Stage.flag(Encoding); n.Flags[name] != "" {
		c, _ = arrowio.ParseCompression(n.Flags[name]) //nolint:errcheck // the command has checked it
	}
	return c, c.Codec == arrowio.None && arrowio.KindByName(o.Path) == arrowio.FileKind
}

// upToDate reports whether the output is there already, byte for byte.
func upToDate(n *Node, o Output, f EntryFile) bool {
	if _, plain := o.encoding(n); !plain {
		return false
	}
	info, err := os.Stat(o.Path)
	if err != nil || info.Size() != f.Size {
		return false
	}
	sum, err := hashFile(o.Path)
	return err == nil && sum == f.SHA256
}

// deliver puts a node's outputs where they are to be. Those that are there already
// keep the time of their last change.
func deliver(ctx context.Context, n *Node, e *Entry) error {
	for _, o := range n.Outputs {
		f, ok := e.File(o.of(n))
		if !ok {
			return n.fail(o.Flag, errors.New("the cache's entry lacks it: drop it with mars cache clear"))
		}
		if upToDate(n, o, f) {
			continue
		}
		if err := putFile(ctx, n, o, e.Path(f)); err != nil {
			return n.fail(o.Flag, err)
		}
	}
	return nil
}

// putFile makes an output from a file of the cache.
func putFile(ctx context.Context, n *Node, o Output, from string) error {
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o777); err != nil {
		return err
	}
	compression, plain := o.encoding(n)
	if plain {
		return copyFile(from, o.Path)
	}
	return encodeFile(ctx, from, o.Path, compression)
}

// encodeFile writes rows in another layout or compression. A file that has the same
// bytes already keeps the time of its last change.
func encodeFile(ctx context.Context, from, to string, compression arrowio.Compression) error {
	in, err := arrowio.Open(from, arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := atomicfile.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	hash := sha256.New()
	if err := arrowio.Copy(ctx, encoder(io.MultiWriter(out, hash), to, compression), in); err != nil {
		return err
	}
	if !out.Direct() && holds(to, hash.Sum(nil)) {
		return nil
	}
	return out.Commit()
}

// holds reports whether a file is there and has that hash.
func holds(path string, hash []byte) bool {
	is, err := hashFile(path)
	return err == nil && is == hex.EncodeToString(hash)
}

// encoder writes rows to w in the layout that the name to asks for.
func encoder(w io.Writer, to string, compression arrowio.Compression) *arrowio.Writer {
	o := arrowio.WriteOptions{Compression: compression}
	if arrowio.KindByName(to) == arrowio.FileKind {
		return arrowio.NewFileWriter(w, to, o)
	}
	return arrowio.NewWriter(w, to, o)
}

// copyFile copies a file.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
