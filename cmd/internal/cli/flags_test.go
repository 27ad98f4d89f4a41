package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestBytesFlag(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "512": 512, "64K": 64 << 10, "1.5M": 3 << 19, "2GiB": 2 << 30, "2g": 2 << 30, "1e3": 1000} {
		var b bytesFlag
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%q is %d, %v; want %d", text, b, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1Q", "NaN", "Inf", "1e30"} {
		var b bytesFlag
		if err := b.Set(text); err == nil {
			t.Errorf("%q was taken for %d bytes", text, b)
		}
	}
	for n, want := range map[bytesFlag]string{0: "0", 1 << 30: "1G", 3 << 19: "1536K", 100: "100"} {
		if got := n.String(); got != want {
			t.Errorf("%d prints as %q, want %q", int64(n), got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string][2]int{"": {0, 0}, "28": {28, 28}, "28x20": {28, 20}} {
		if h, w, err := parseSize(text); err != nil || h != want[0] || w != want[1] {
			t.Errorf("%q is %d×%d, %v", text, h, w, err)
		}
	}
	for _, text := range []string{"x", "0", "-3", "28x", "28x28x3", "100000"} {
		if _, _, err := parseSize(text); err == nil {
			t.Errorf("%q was taken for a size", text)
		}
	}
}

// A number that no flag can mean is wrong use, and the flag is named, whatever the command.
func TestNumbersOutOfRange(t *testing.T) {
	numeric := []string{"int", "uint64", "float", "float64", "bytes"}
	signed := []string{"shift"} // may be negative
	checked := 0
	try := func(command func() *cobra.Command, cmd *cobra.Command, names ...string) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(numeric, f.Value.Type()) {
				return
			}
			values := []string{"NaN", "Inf", "1e300"}
			if !slices.Contains(signed, f.Name) {
				values = append(values, "-1")
			}
			for _, value := range values {
				checked++
				args := []string{"--" + f.Name + "=" + value}
				if cmd.Flags().Lookup("source") != nil {
					args = append(args, "--source=a.csv", "--target=b.csv")
				}
				_, err := checkFlags(command(), names, args, true)
				if exitCode(t.Context(), err) != exitUsage || !strings.Contains(err.Error(), f.Name) {
					t.Errorf("%s --%s=%s: %v", cmd.CommandPath(), f.Name, value, err)
				}
			}
		})
	}
	for _, command := range append(stageCommands(), proportionsCommand, labelCommand) {
		cmd := command()
		try(command, cmd)
		for _, sub := range cmd.Commands() {
			try(command, sub, sub.Name())
		}
	}
	if checked < 200 {
		t.Errorf("%d values were tried", checked)
	}
}
