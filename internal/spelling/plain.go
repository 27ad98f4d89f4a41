package spelling

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Plain is a name without what is lost or changed when it is typed anew, or passes through a spreadsheet or another
// program: case, blanks, .0 after whole numbers, truth values, which some write as 1 and 0, and how Unicode writes a
// letter: an é is one character or two, and looks the same.
func Plain(name string) string {
	name = norm.NFC.String(name)
	name = strings.ToLower(strings.Join(strings.Fields(name), " "))
	switch name {
	case "true":
		return "1"
	case "false":
		return "0"
	}
	if v, err := strconv.ParseFloat(name, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return name
}

// Twins are the first two names that are plainly the same, if there are such.
func Twins(names []string) (first, second string, found bool) {
	seen := make(map[string]string, len(names))
	for _, name := range names {
		plain := Plain(name)
		if first, found = seen[plain]; found {
			return first, name, true
		}
		seen[plain] = name
	}
	return "", "", false
}

// Both quotes two names. Of those that Unicode writes in two ways, and that look the same, it shows the characters.
func Both(one, other string) string {
	if norm.NFC.String(one) == norm.NFC.String(other) {
		return fmt.Sprintf("%+q and %+q", one, other)
	}
	return fmt.Sprintf("%q and %q", one, other)
}
