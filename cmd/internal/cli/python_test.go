package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the options of the Python package")

// pythonOptions is the file with the keywords of the Python package's functions.
var pythonOptions = filepath.Join("..", "..", "..", "clients", "python", "src", "mars", "_options.py")

// The Python package has a keyword for each flag, with its type and help. They are
// written by go test ./cmd/internal/cli -run TestPythonOptions -update.
func TestPythonOptions(t *testing.T) {
	want := pythonModule()
	if *update {
		if err := os.WriteFile(pythonOptions, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pythonOptions)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the flags say: run go test ./cmd/internal/cli -run TestPythonOptions -update", pythonOptions)
	}
}

const pythonHead = `"""The options of the commands.

Written from their flags by

    go test ./cmd/internal/cli -run TestPythonOptions -update

so it is not edited by hand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Sequence[Path]]
Names = Union[str, Sequence[str]]
Shares = Union[str, Mapping[str, float], Sequence[float]]
`

func pythonModule() string {
	var b strings.Builder
	b.WriteString(pythonHead)
	for _, cmd := range []*cobra.Command{labelCommand(), proportionsCommand(), mount(Predict()), askCommand(), checkCommand()} {
		title := strings.ToUpper(cmd.Name()[:1]) + cmd.Name()[1:]
		var types, help strings.Builder
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if meaningOf()[f.Name].python == none {
				return
			}
			name := strings.ReplaceAll(f.Name, "-", "_")
			fmt.Fprintf(&types, "    %s: %s\n", name, pythonType(f))
			if name == "seed" {
				types.WriteString("    random_state: Union[int, None]\n") // as Python's packages call it
			}
			fmt.Fprintf(&help, "    %q: %s,\n", name, strconv.Quote(pythonHelp(f)))
		})
		fmt.Fprintf(&b, "\n\nclass %sOptions(TypedDict, total=False):\n    \"\"\"Options of mars %s.\"\"\"\n\n%s", title, cmd.Name(), types.String())
		fmt.Fprintf(&b, "\n\n%s: Mapping[str, str] = {\n%s}\n", strings.ToUpper(cmd.Name()), help.String())
	}
	return b.String()
}

var flagInHelp = regexp.MustCompile(`--[a-z0-9-]+`)

// pythonHelp is what a flag does, with its default. Flags that it names are keywords.
func pythonHelp(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "0", "[]":
	default:
		if !strings.Contains(usage, "(default") {
			usage += " (default " + f.DefValue + ")"
		}
	}
	return flagInHelp.ReplaceAllStringFunc(usage, func(flag string) string {
		return strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_")
	})
}

// pythonType is the type of a flag's values as Python writes it.
func pythonType(f *pflag.Flag) string {
	if named := meaningOf()[f.Name].python; named != "" {
		return named
	}
	switch kind := f.Value.Type(); {
	case strings.Contains(kind, "|"):
		return `Literal["` + strings.Join(strings.Split(kind, "|"), `", "`) + `"]`
	case kind == "bool":
		return "bool"
	case kind == "int" || kind == "uint64":
		return "int"
	case kind == "float64" || kind == "float":
		return "float"
	case kind == "bytes":
		return "Union[int, str]"
	case kind == "stringSlice":
		return "Names"
	case kind == "string":
		return "str"
	default:
		panic("a flag of a type without one in Python: " + f.Name + " " + kind)
	}
}
