package windows

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"mars.dev/mars/arrowio/atomicfile"
)

// A Checkpoint is what a command that looks at a stream goes on from after a restart.
type Checkpoint[S any] struct {
	Version int
	Model   string            // SHA-256 of what rows are looked at by: a model, a reference
	Options map[string]string // that the result depends on, by the names of their flags
	State   S
	Place   Place
}

// A Place is how far input and output have come.
type Place struct {
	Offset int64  // bytes of the file that is followed
	Lines  int64  // of the input
	Head   string // the lines before the first row, or a row that shows the fields of JSON
	Output int64  // bytes of the output file
	Mark   []byte // a hash of what the followed file begins with
	Marked int64  // bytes that it is of
}

const (
	checkpointVersion = 1
	maxCheckpoint     = 1 << 30
)

// Save writes a checkpoint, whole or not at all.
func (c Checkpoint[S]) Save(path string) error {
	c.Version = checkpointVersion
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(body)
	return atomicfile.WriteFile(path, append(append(body, '\n'), hex.EncodeToString(sum[:])+"\n"...))
}

// Resume reads the checkpoint of a command, such as "mars watch". The given one has what it has to be of, in words too, and gets
// the state and the place. found is false if there is none.
func (c *Checkpoint[S]) Resume(path, command, of string) (found bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.Size() > maxCheckpoint || !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s: is no checkpoint of %s: name another file", path, command)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	body, tail, _ := bytes.Cut(text, []byte("\n"))
	sum := sha256.Sum256(body)
	if string(bytes.TrimSpace(tail)) != hex.EncodeToString(sum[:]) {
		return false, fmt.Errorf("%s: is no checkpoint of %s, or is damaged: name another file, or remove it to begin anew", path, command)
	}
	var was Checkpoint[S]
	if err := json.Unmarshal(body, &was); err != nil || was.Version != checkpointVersion {
		return false, fmt.Errorf("%s: is a checkpoint of another version of mars, or of another command than %s: name another file, or remove it to begin anew", path, command)
	}
	for name, is := range c.Options {
		if was := was.Options[name]; was != is {
			return false, fmt.Errorf("%s: was made with --%s %s, and this is %s: give the same, or remove the checkpoint to begin anew", path, name, was, is)
		}
	}
	if was.Model != c.Model {
		return false, fmt.Errorf("%s: is of another %s: give that, or remove the checkpoint to begin anew", path, of)
	}
	c.State, c.Place = was.State, was.Place
	return true, nil
}

// Damaged is the error of a checkpoint that is whole, and holds a state that cannot be.
func Damaged(path string) error {
	return fmt.Errorf("%s: is damaged or was changed: remove it to begin anew", path)
}
