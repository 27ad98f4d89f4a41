package pipeline

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mars/arrowio"
)

// of is the flag by which an entry knows the output's file: "" for rows and text.
func (o Output) of(n *Node) string {
	if n.Stage.Flags[o.Flag].Role == RowsFile {
		return ""
	}
	return o.Flag
}

// encoding is how the output differs from the cache's Arrow file: another
// layout or compression. plain means not at all.
func (o Output) encoding(n *Node) (c arrowio.Compression, plain bool) {
	if o.of(n) != "" || !n.Stage.Rows {
		return c, true
	}
	if name := n.Stage.flag(Encoding); n.Flags[name] != "" {
		c, _ = arrowio.ParseCompression(n.Flags[name]) //nolint:errcheck // the command has checked it
	}
	ext := filepath.Ext(o.Path)
	return c, c.Codec == arrowio.None && (ext == ".arrow" || ext == ".feather")
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

// deliver puts a node's outputs where the file wants them. Those that are there
// already keep their time.
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

// putFile makes an output of a file of the cache.
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

// encodeFile writes rows in another layout or compression. A file that has them
// already keeps its time.
func encodeFile(ctx context.Context, from, to string, compression arrowio.Compression) error {
	in, err := arrowio.Open(from, arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	part := filepath.Join(filepath.Dir(to), ".mars-part."+filepath.Base(to))
	out, err := arrowio.Create(part, arrowio.WriteOptions{Compression: compression})
	if err != nil {
		return err
	}
	if err := arrowio.Copy(ctx, out, in); err != nil {
		return err
	}
	defer os.Remove(part)
	was, errWas := hashFile(to)
	is, errIs := hashFile(part)
	if errWas == nil && errIs == nil && was == is {
		return nil
	}
	return os.Rename(part, to)
}

// copyFile copies by way of a hidden file beside the copy, whose name is always
// the same: the next run takes over what a killed one left. Who copies holds its lock.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	part := filepath.Join(filepath.Dir(to), "."+strings.TrimPrefix(filepath.Base(to), ".")+".mars-part")
	out, err := openLocked(part, false, true)
	if err != nil {
		return err
	}
	defer out.Close()
	err = out.Truncate(0)
	if err == nil {
		_, err = io.Copy(out, in)
	}
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}
