package pipeline

import (
	"strings"
	"testing"
)

func TestNestingIsLimited(t *testing.T) {
	deep := func(open, in, close string) string {
		return "#[[\n" + strings.Repeat(open, 100_000) + in + strings.Repeat(close, 100_000)
	}
	for name, text := range map[string]string{
		"lists":           deep("[", "1", "]"),
		"open lists":      deep("[\n\n", "", ""),
		"tables":          deep("{a=", "1", "}"),
		"open tables":     deep("{a=", "", ""),
		"both":            deep("[{a=", "1", "}]"),
		"parts":           deep("a.", "a = 1", ""),
		"quoted parts":    deep(`"." . '"'.`, "a = 1", ""),
		"parts of header": "[" + deep("a.", "a]", ""),
		"after a string":  `x = "\"["` + deep("{a=", "1", "}"),
	} {
		_, err := Parse("p.toml", text, nil)
		if err == nil || !strings.Contains(err.Error(), "nested more than 32 deep") || !strings.HasPrefix(err.Error(), "p.toml: line ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	flat := strings.Repeat("# [[[[ {{{{ ....\nx = '[[[[{{{{....' # '\n[[stage]]\n y = [1.5, 2.5, \"[[[\\\"[[\"]\n z = '''\n[[[[{{{{'{''' \n w = \"\"\"[[[\\\"\"\"[\"\"\"", 50)
	if line, err := checkNesting(flat); err != nil {
		t.Errorf("flat text: line %d: %v", line, err)
	}
	if line, err := checkNesting("# [\n'''\n\n'''\n\"\\n\"\n" + strings.Repeat("{", 33)); err == nil || line != 6 {
		t.Errorf("error %v in line %d, want it in line 6", err, line)
	}
}
