package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
)

// of is the flag under which an entry has the output's file: "" for rows and text.
func (o Output) of(n *Node) string {
	if n.Stage.Flags[o.Flag].Role == RowsFile {
		return ""
	}
	return o.Flag
}

// encoding is what writes the output's rows. It is nil if the output is the cache's
// file as it is, without another layout or compression.
func (o Output) encoding(n *Node) WriteRows {
	if o.of(n) != "" || !n.Stage.Rows {
		return nil
	}
	if n.Stage.Write != nil {
		if write := n.Stage.Write(o.Path); write != nil {
			return write
		}
	}
	var c arrowio.Compression
	if name := n.Stage.flag(Encoding); n.Flags[name] != "" {
		c, _ = arrowio.ParseCompression(n.Flags[name]) //nolint:errcheck // the command has checked it
	}
	if c.Codec == arrowio.None && arrowio.KindByName(o.Path) == arrowio.FileKind {
		return nil
	}
	return func(ctx context.Context, w io.Writer, rows arrowio.Stream) error {
		return arrowio.Copy(ctx, encoder(w, o.Path, c), rows)
	}
}

// upToDate reports whether the output is there already, byte for byte.
func upToDate(ctx context.Context, n *Node, o Output, f EntryFile) bool {
	if o.encoding(n) != nil {
		return false
	}
	info, err := os.Stat(o.Path)
	if err != nil || info.Size() != f.Size {
		return false
	}
	sum, err := hashFile(ctx, o.Path)
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
		if upToDate(ctx, n, o, f) {
			continue
		}
		if err := putFile(ctx, n, o, e, f); err != nil {
			return n.fail(o.Flag, err)
		}
	}
	return nil
}

// putFile makes an output from a file of the cache.
func putFile(ctx context.Context, n *Node, o Output, e *Entry, f EntryFile) error {
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o777); err != nil {
		return err
	}
	write := o.encoding(n)
	if write == nil {
		return copyFile(ctx, e.Path(f), o.Path)
	}
	sum, err := encodeFile(ctx, e.Path(f), o.Path, write)
	if err == nil {
		e.noteEncoded(sum)
	}
	return err
}

// encodeFile writes rows in another layout or compression, and returns the hash of the
// file. One that has the same bytes already keeps the time of its last change.
func encodeFile(ctx context.Context, from, to string, write WriteRows) (sum string, err error) {
	in, err := arrowio.Open(from, arrowio.ReadOptions{})
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := atomicfile.Create(to)
	if err != nil {
		return "", err
	}
	defer out.Close()
	hash := sha256.New()
	if err := write(ctx, io.MultiWriter(out, hash), in); err != nil {
		return "", err
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	if !out.Direct() && holds(ctx, to, sum) {
		return sum, nil
	}
	return sum, out.Commit()
}

// holds reports whether a file is there and has that hash.
func holds(ctx context.Context, path, sum string) bool {
	is, err := hashFile(ctx, path)
	return err == nil && is == sum
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
func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, arrowio.WithContext(ctx, in))
		return err
	})
}
