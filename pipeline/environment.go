package pipeline

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// variableInPath is $NAME, or $$ for a dollar that stands for itself.
var variableInPath = regexp.MustCompile(`\$(\$|[A-Za-z_][A-Za-z0-9_]*)`)

// path puts the values of environment variables into a path of the file.
func (f *File) path(text string) (path string, err error) {
	if f.literal {
		return text, nil
	}
	path = variableInPath.ReplaceAllStringFunc(text, func(match string) string {
		if match == "$$" {
			return "$"
		}
		value := os.Getenv(match[1:])
		if value == "" && err == nil {
			err = fmt.Errorf("the environment variable %s is not set: set it to what %s stands for, or write $$ for a dollar", match[1:], match)
		}
		return value
	})
	return path, err
}

// asPath writes a path so that the method path gives it back.
func asPath(path string) string { return strings.ReplaceAll(path, "$", "$$") }

// namesFile reports whether flags of the role are paths.
func (r Role) namesFile() bool { return r.Reads() || r.isWritten() || r == RowsFile }
