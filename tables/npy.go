package tables

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio"
)

var npyFormat = &format{
	name: "a NumPy array (npy)", short: "npy", looksLike: "a NumPy array", instead: readIt,
	extensions: []string{".npy"}, begins: prefixes("\x93NUMPY"),
	array: func(ctx context.Context, in *input, o Options) (*Table, error) {
		a, err := readNPY(in, in.mem)
		return readArrayTable(ctx, o, a, err)
	},
	labels: func(_ context.Context, in *input, _ Options) ([]string, error) {
		return readArrayLabels(readNPY(in, in.mem))
	},
}

// maxHeader is the greatest length of a NumPy header. Usual ones, without
// structured types, have about 120 bytes.
const maxHeader = 1 << 16

// readNPY reads the header of an npy file, versions 1 to 3
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
func readNPY(r io.Reader, mem *arrowio.Budget) (ndarray, error) {
	header, err := npyHeader(r)
	if err != nil {
		return ndarray{}, fmt.Errorf("npy header: %w", err)
	}
	a, err := parseNPYHeader(header)
	if err != nil {
		return ndarray{}, fmt.Errorf("npy header: %w", err)
	}
	a.data, a.mem = r, mem
	return a, nil
}

// npyHeader reads the dictionary that describes the array.
func npyHeader(r io.Reader) (string, error) {
	var start [12]byte
	if _, err := io.ReadFull(r, start[:10]); err != nil {
		return "", truncatedHeader(err)
	}
	if string(start[:6]) != "\x93NUMPY" {
		return "", errors.New("does not begin with NumPy's magic string: check that this is the right file")
	}
	length := int(binary.LittleEndian.Uint16(start[8:]))
	switch version := start[6]; version {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return "", truncatedHeader(err)
		}
		length = int(binary.LittleEndian.Uint32(start[8:]))
	default:
		return "", fmt.Errorf("version %d is not known: write the array with numpy.save", version)
	}
	if length > maxHeader {
		return "", fmt.Errorf("announces %d bytes, more than %d: it is damaged: write it again", length, maxHeader)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(r, header); err != nil {
		return "", truncatedHeader(err)
	}
	return string(header), nil
}

func truncatedHeader(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return readError(err)
}

// The dictionary is a Python literal with three keys in any order.
var (
	npyDescr   = regexp.MustCompile(`['"]descr['"]\s*:\s*(?:['"]([^'"]*)['"]|(\[))`)
	npyFortran = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([^)]*)\)`)
)

func parseNPYHeader(header string) (ndarray, error) {
	descr := npyDescr.FindStringSubmatch(header)
	fortran := npyFortran.FindStringSubmatch(header)
	shape := npyShape.FindStringSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return ndarray{}, errors.New("lacks descr, fortran_order or shape: it is damaged: write it again")
	}
	if descr[2] != "" {
		return ndarray{}, errors.New("the array is structured: save its fields as one array of numbers")
	}
	a := ndarray{fortran: fortran[1] == "True"}
	var err error
	if a.element, err = parseDescr(descr[1]); err != nil {
		return ndarray{}, err
	}
	a.shape, err = parseShape(shape[1])
	return a, err
}

// parseDescr reads NumPy's type string, such as <f4: byte order, kind, size.
func parseDescr(descr string) (element, error) {
	unsupported := fmt.Errorf("type %q cannot be read: convert the array with astype to float32, an integer type or str", descr)
	if strings.HasSuffix(descr, "O") {
		return element{}, errors.New("the array holds Python objects, which only Python can read: convert it with astype(str) or astype(int)")
	}
	if len(descr) < 3 || strings.IndexByte("<>|=", descr[0]) < 0 {
		return element{}, unsupported
	}
	e := element{kind: descr[1], big: descr[0] == '>'}
	size, err := strconv.Atoi(descr[2:])
	if err != nil || size < 1 || size > maxHeader {
		return element{}, unsupported
	}
	e.size = size
	switch e.kind {
	case 'U':
		e.size *= 4
		return e, nil
	case 'S':
		return e, nil
	case 'b':
		if size == 1 {
			return e, nil
		}
	case 'i', 'u':
		if size == 1 || size == 2 || size == 4 || size == 8 {
			return e, nil
		}
	case 'f':
		if size == 2 || size == 4 || size == 8 {
			return e, nil
		}
	}
	return element{}, unsupported
}

func parseShape(text string) ([]int, error) {
	shape := []int{}
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(item, "L"))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("shape (%.100s) is not a list of sizes: it is damaged: write it again", text)
		}
		shape = append(shape, n)
	}
	return shape, nil
}
