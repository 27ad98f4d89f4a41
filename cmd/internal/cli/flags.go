package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio"
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

// compressionFlag is a codec with or without a level.
type compressionFlag arrowio.Compression

func (c *compressionFlag) Type() string   { return "codec" }
func (c *compressionFlag) String() string { return arrowio.Compression(*c).String() }

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

func (o oneOf) Type() string   { return strings.Join(o.from, "|") }
func (o oneOf) String() string { return *o.value }

func (o oneOf) Set(s string) error {
	for _, v := range o.from {
		if s == v {
			*o.value = s
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s", s, strings.Join(o.from, ", "))
}
