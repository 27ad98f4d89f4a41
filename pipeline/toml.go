package pipeline

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlKey writes a key of TOML, quoted if need be.
func tomlKey(name string) string { return toml.Key{name}.String() }

// tomlText writes a string of TOML.
func tomlText(text string) string {
	const key = "x"
	pair, err := toml.Marshal(map[string]string{key: strings.ToValidUTF8(text, "\ufffd")})
	if err != nil {
		panic("pipeline: " + err.Error())
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(pair), key+" = "), "\n")
}

// maxNesting is how deep lists and tables of a pipeline file may lie in one another. The
// library's time and memory grow with more than the square of it.
const maxNesting = 32

// checkNesting returns an error, and its line, if text has lists or tables that lie deeper
// in one another, or keys of more parts.
func checkNesting(text string) (line int, err error) {
	line = 1
	depth, parts := 0, 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"', '\'':
			n := stringLength(text[at:])
			line += strings.Count(text[at:at+n], "\n")
			at += n - 1
		case '#':
			at += len(text[at:]) - len(strings.TrimLeftFunc(text[at:], func(r rune) bool { return r != '\n' })) - 1
		case '\n':
			line++
			parts = 0
		case '=', ',':
			parts = 0
		case '[', '{':
			depth++
			parts = 0
		case ']', '}':
			depth--
		case '.':
			parts++
		}
		if max(depth, parts) > maxNesting {
			return line, fmt.Errorf("lists, tables or the parts of a key are nested more than %d deep: write them flat", maxNesting)
		}
	}
	return 0, nil
}

// stringLength is the length of the TOML string that text begins with: to the end of text
// if it has none.
func stringLength(text string) int {
	quote := text[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text, triple) {
		quote = triple
	}
	for at := len(quote); at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], quote):
			return at + len(quote)
		case text[at] == '\\' && quote[0] == '"':
			at++
		case text[at] == '\n' && len(quote) == 1: // a mistake
			return at
		}
	}
	return len(text)
}
