package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// inflated is a program "inflated file head unit megabytes tail": what is written again and again
// between head and tail. \n is the end of a line. The file's name says how it is compressed.
func inflated() {
	if err := fill(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fill(args []string) error {
	name, megabytes := args[0], args[3]
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := io.WriteCloser(f)
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(f)
	case ".zst":
		if w, err = zstd.NewWriter(f, zstd.WithWindowSize(1<<20)); err != nil {
			return err
		}
	}
	n, err := strconv.Atoi(megabytes)
	if err != nil {
		return err
	}
	text := func(i int) []byte { return []byte(strings.ReplaceAll(args[i], `\n`, "\n")) }
	_, err = w.Write(text(1))
	for piece := bytes.Repeat(text(2), 1<<20/len(text(2))); n > 0 && err == nil; n-- {
		_, err = w.Write(piece)
	}
	if err == nil {
		_, err = w.Write(text(4))
	}
	if w != f {
		err = errors.Join(err, w.Close())
	}
	return errors.Join(err, f.Close())
}

// atMost is a program "atmost megabytes command …" that runs a command, and fails with status 9 if that
// held so much more memory at once than mars version does: how much of a program's own file counts is up to the
// system, and that of the tests is larger. This process is small, and its own memory counts too.
func atMost() {
	most, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	version := exec.Command("mars", "version")
	if err := version.Run(); err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if more := peakOf(cmd.ProcessState) - peakOf(version.ProcessState); more > int64(most)<<20 {
		fmt.Fprintf(os.Stderr, "atmost: held %d MB more than mars version\n", more>>20)
		os.Exit(9)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		panic(err)
	}
}
