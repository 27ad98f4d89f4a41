package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// cycloneDX lists the modules of a program. It is no dependency of ours.
const cycloneDX = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

// sbom is the list of the modules that a program says it is made of, and of their checksums, as JSON
// of CycloneDX. It depends on the program and its version alone: it has no serial number, no time, and no
// checksum of the tool, which each machine builds for itself.
func sbom(program []byte, version string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "mars-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mars")
	if err := os.WriteFile(path, program, executable); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "run", cycloneDX, "bin", "-json", "-noserial", "-notimestamp", "-std", "-version", "v"+version, path)
	cmd.Env = environment(runtime.GOOS, runtime.GOARCH)
	var messages strings.Builder
	cmd.Stderr = &messages
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go run %s: %w: %s: where it cannot be had, make dist SBOM=no makes archives without a list of modules",
			cycloneDX, err, strings.TrimSpace(messages.String()))
	}
	return withoutToolHashes(text)
}

// list writes what the program in an archive is made of.
func (d dist) list(w io.Writer, a archive) error {
	for _, name := range []string{"bin/mars", "mars.exe"} {
		if program := a.files[name]; program != nil {
			text, err := sbom(program.Data, d.version)
			if err != nil {
				return err
			}
			_, err = w.Write(text)
			return err
		}
	}
	return fmt.Errorf("%s has no program", a.name)
}

func withoutToolHashes(text []byte) ([]byte, error) {
	var list map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("the list of modules: %w", err)
	}
	metadata, _ := list["metadata"].(map[string]any)
	tools, _ := metadata["tools"].([]any)
	for _, tool := range tools {
		if tool, ok := tool.(map[string]any); ok {
			delete(tool, "hashes")
		}
	}
	text, err := json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}
