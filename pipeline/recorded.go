package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
)

// What a file says of itself was written by whoever made the file. Of a step it may say
// which options of a stage were set, and which files with local paths were read: nothing
// of what is written, and nothing outside of the present folder.

// checkRecorded refuses a recorded step that says more.
func (s *Stage) checkRecorded(step arrowio.Step) error {
	for _, name := range slices.Sorted(maps.Keys(step.Options)) {
		if err := s.checkOption(name, step.Options[name]); err != nil {
			return fmt.Errorf("option %q: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(step.State)) {
		if err := s.checkState(name); err != nil {
			return fmt.Errorf("state %q: %w", name, err)
		}
	}
	return nil
}

func (s *Stage) checkOption(name, value string) error {
	flag, known := s.Flags[name]
	switch {
	case !known:
		return fmt.Errorf("%s has no such option", s.Name)
	case flag.Role.Reads() && !isLocal(value):
		return fmt.Errorf("%q is no path within this folder: run mars provenance where all inputs are, with paths that are relative to it", value)
	case flag.Role.Reads(), flag.Role == Effect, flag.Role == NoEffect, flag.Role == Seed, flag.Role == Threads, flag.Role == Encoding:
		return nil
	}
	return errors.New("says what is written, or how the command is run, and not what it computes")
}

// checkState refuses the name of a file that is no plain name.
func (s *Stage) checkState(name string) error {
	if file, ok := s.readBy(name); ok {
		name = file
	}
	if name != filepath.Base(name) || !isLocal(name) || name == "." || strings.ContainsAny(name, `/\`) {
		return errors.New("is not the plain name of a file")
	}
	return nil
}

// readBy takes FLAG=FILE apart, the name of a file that a flag of the stage names to read.
func (s *Stage) readBy(name string) (file string, ok bool) {
	flag, file, ok := strings.Cut(name, "=")
	return file, ok && s.Flags[flag].Role.Reads()
}

// isLocal reports whether a path stays in the present folder, and is text.
func isLocal(path string) bool {
	return filepath.IsLocal(path) && path != "-" && safetext.Escape(path) == path
}
