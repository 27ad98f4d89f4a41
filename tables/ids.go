package tables

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio"
)

// identities are those of rows as they are read: integers as long as all are, which take
// less memory than their names.
type identities struct {
	ints  []int64
	names []string // of all rows, if one is no integer
}

// add appends the identity of a row, which need not stay as it is.
func (l *identities) add(mem *arrowio.Budget, name string) (err error) {
	if l.names == nil {
		if v, ok := parseID(name); ok {
			l.ints, err = push(mem, l.ints, v)
			return err
		}
		if err := l.name(mem); err != nil {
			return err
		}
	}
	l.names, err = pushName(mem, l.names, name)
	return err
}

// pushName appends a name, which need not stay as it is.
func pushName(mem *arrowio.Budget, names []string, name string) ([]string, error) {
	if err := mem.Take(int64(len(name))); err != nil {
		return names, err
	}
	return push(mem, names, strings.Clone(name))
}

// parseID reads an integer that is written as it would be here: without a plus, and zeros
// before it.
func parseID(name string) (int64, bool) {
	digits := strings.TrimPrefix(name, "-")
	if digits == "" || digits[0] == '+' || digits[0] == '0' && name != "0" {
		return 0, false
	}
	return wholeNumber(name)
}

// wholeNumber reads an integer. strconv copies what it refuses, which may be long.
func wholeNumber(text string) (int64, bool) {
	if len(text) > longestNumber {
		return 0, false
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil
}

// name makes names of the integers.
func (l *identities) name(mem *arrowio.Budget) error {
	names := make([]string, len(l.ints), len(l.ints)+1)
	size := int64(cap(names)) * sizeOf[string]()
	for i, v := range l.ints {
		names[i] = strconv.FormatInt(v, 10)
		size += int64(len(names[i]))
	}
	if err := mem.Take(size); err != nil {
		return err
	}
	give[int64](mem, cap(l.ints))
	l.names, l.ints = names, nil
	return nil
}

// setIDs sets the identities of the rows. It fails if one is missing or not unique.
func (t *Table) setIDs(ctx context.Context, l identities) error {
	n := len(l.ints) + len(l.names)
	if err := take[uint64](t.mem, n); err != nil {
		return err
	}
	defer give[uint64](t.mem, n)
	keys := make([]uint64, n) // of equal identities they are equal
	for i, v := range l.ints {
		keys[i] = uint64(v)
	}
	seed := maphash.MakeSeed()
	for i, name := range l.names {
		if err := ended(ctx, i); err != nil {
			return err
		}
		if name == "" {
			return fmt.Errorf("%s: has no id: fill it, or choose another id column", t.Place(i))
		}
		keys[i] = maphash.String(seed, name)
	}
	slices.Sort(keys)
	for i := 1; i < n; i++ {
		if err := ended(ctx, i); err != nil {
			return err
		}
		if keys[i-1] == keys[i] {
			if err := t.checkUnique(l); err != nil {
				return err
			}
			break
		}
	}
	t.IDInts, t.IDNames = l.ints, l.names
	return nil
}

// text is the identity of row i.
func (l identities) text(i int) string {
	if l.names != nil {
		return l.names[i]
	}
	return strconv.FormatInt(l.ints[i], 10)
}

// checkUnique returns an error that names the first two rows of one identity.
func (t *Table) checkUnique(l identities) error {
	seen := map[string]int{}
	for i := range len(l.ints) + len(l.names) {
		name := l.text(i)
		if first, twice := seen[name]; twice {
			return &sameID{t.Place(first), t.Place(i), name}
		}
		seen[name] = i
	}
	return nil
}

// A sameID is the error that two rows have one identity.
type sameID struct{ first, second, id string }

func (e *sameID) both() string {
	return fmt.Sprintf("%s and %s both have id %q", e.first, e.second, e.id)
}

func (e *sameID) Error() string { return e.both() + ": make ids unique, or choose another id column" }
