package cli

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
)

// bytesFlag is an amount of memory: 64M, 2GiB, 1e9.
type bytesFlag int64

func (b *bytesFlag) Type() string { return "bytes" }

func (b *bytesFlag) String() string {
	units := []string{"", "K", "M", "G", "T"}
	n, u := int64(*b), 0
	for n != 0 && n%1024 == 0 && u < len(units)-1 {
		n, u = n/1024, u+1
	}
	return strconv.FormatInt(n, 10) + units[u]
}

func (b *bytesFlag) Set(s string) error {
	number := strings.TrimRight(strings.ToUpper(strings.TrimSpace(s)), "IB")
	shift := 0
	if i := strings.IndexAny(number, "KMGT"); i >= 0 && i == len(number)-1 {
		shift = 10 * (1 + strings.IndexByte("KMGT", number[i]))
		number = number[:i]
	}
	v, err := strconv.ParseFloat(number, 64)
	v *= math.Pow(2, float64(shift))
	if err != nil || v < 0 || v > 1<<60 || math.IsNaN(v) {
		return fmt.Errorf("%q is no amount of memory: write for example 512M or 4G", s)
	}
	*b = bytesFlag(v)
	return nil
}

// limitMemory sets what --memory-limit says of the process. Garbage counts too.
func limitMemory(cmd *cobra.Command) {
	f := cmd.Flags().Lookup("memory-limit")
	if f == nil || hostOf(cmd).checkOnly {
		return
	}
	limit := int64(*f.Value.(*bytesFlag))
	if limit == 0 {
		limit = arrowio.DefaultMemory()
	}
	arrowio.SetMemoryLimit(limit)
	debug.SetMemoryLimit(limit)
}

// compressionFlag is a codec with or without a level.
type compressionFlag arrowio.Compression

func (c *compressionFlag) Type() string   { return "codec" }
func (c *compressionFlag) String() string { return arrowio.Compression(*c).String() }

func (*compressionFlag) choices() []string { return []string{"none", "lz4", "zstd"} }

func (c *compressionFlag) Set(s string) error {
	parsed, err := arrowio.ParseCompression(s)
	*c = compressionFlag(parsed)
	return err
}

// oneOf is a flag with a fixed set of values.
type oneOf struct {
	value *string
	from  []string
}

func (o oneOf) Type() string      { return strings.Join(o.from, "|") }
func (o oneOf) String() string    { return *o.value }
func (o oneOf) choices() []string { return o.from }

func (o oneOf) Set(s string) error {
	if !slices.Contains(o.from, s) {
		return fmt.Errorf("%q is not one of %s", s, strings.Join(o.from, ", "))
	}
	*o.value = s
	return nil
}

// mostCount is the greatest value of a count: more of anything takes years.
const mostCount = 1_000_000_000

// count is a whole number that is not less than another, nor more than mostCount.
type count struct {
	value *int
	least int
}

func countVar(f *pflag.FlagSet, value *int, name string, is, least int, usage string) {
	*value = is
	f.Var(count{value, least}, name, usage)
}

func (c count) Type() string   { return "int" }
func (c count) String() string { return strconv.Itoa(*c.value) }

func (c count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return err
	}
	if n < c.least {
		return fmt.Errorf("%d is too small: want at least %d", n, c.least)
	}
	if n > mostCount {
		return fmt.Errorf("%d is too large: want at most %d", n, mostCount)
	}
	*c.value = n
	return nil
}

// amount is a number from 0 to another, or above 0.
type amount struct {
	value *float64
	most  float64
	above bool
}

func amountVar(f *pflag.FlagSet, value *float64, name string, most float64, usage string) {
	f.Var(amount{value, most, false}, name, usage)
}

func (a amount) Type() string   { return "float" }
func (a amount) String() string { return strconv.FormatFloat(*a.value, 'g', -1, 64) }

func (a amount) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return err
	}
	switch {
	case v > 0 && v <= a.most, v == 0 && !a.above:
	case a.above:
		return fmt.Errorf("%s is out of range: want a number above 0", s)
	case a.most == math.MaxFloat32:
		return fmt.Errorf("%s is out of range: want a number from 0 on", s)
	default:
		return fmt.Errorf("%s is out of range: want 0 to %g", s, a.most)
	}
	*a.value = v
	return nil
}

// flagError says what is wrong with a flag in words of this program.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	if cmd.HasSubCommands() { // a word before the flag that is no command
		if err := knownCommand(cmd, cmd.Flags().Args()); err != nil {
			return err
		}
	}
	switch {
	case errors.As(err, &invalid):
		return usagef("--%s: %w", invalid.GetFlag().Name, valueError(invalid))
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := spelling.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return usagef("%w: did you mean --%s?", err, near)
		}
	}
	return usageError{err}
}

// valueError is why a flag cannot have a value.
func valueError(invalid *pflag.InvalidValueError) error {
	cause, value := invalid.Unwrap(), invalid.GetValue()
	var number *strconv.NumError
	if !errors.As(cause, &number) {
		return cause
	}
	if errors.Is(cause, strconv.ErrRange) {
		return fmt.Errorf("%s is out of range", value)
	}
	switch invalid.GetFlag().Value.Type() {
	case "bool":
		return fmt.Errorf("%q is neither true nor false", value)
	case "float", "float64":
		return fmt.Errorf("%q is no number", value)
	case "uint64":
		return fmt.Errorf("%q is no whole number from 0 on", value)
	}
	return fmt.Errorf("%q is no whole number", value)
}
