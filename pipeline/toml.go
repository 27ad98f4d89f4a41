package pipeline

import (
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
