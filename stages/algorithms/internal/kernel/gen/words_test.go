package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWords compares every instruction that is written as a word with what GNU's assembler makes of
// the comment beside it.
func TestWords(t *testing.T) {
	const tools = "aarch64-linux-gnu-"
	for _, tool := range []string{"as", "objcopy"} {
		if _, err := exec.LookPath(tools + tool); err != nil {
			t.Skip("no assembler for arm64: install binutils-aarch64-linux-gnu")
		}
	}
	var words, text []string
	files, err := filepath.Glob("../*/*_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../*_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range append(files, more...) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`WORD \$(0x\w+) // (.*)`).FindAllStringSubmatch(string(content), -1) {
			if !seen[m[0]] {
				seen[m[0]], words, text = true, append(words, m[1]), append(text, m[2])
			}
		}
	}
	if len(words) < 100 {
		t.Fatalf("only %d words", len(words))
	}
	object := filepath.Join(t.TempDir(), "words.o")
	run := func(stdin, tool string, args ...string) {
		t.Helper()
		command := exec.Command(tools+tool, args...)
		command.Stdin = strings.NewReader(stdin)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", tool, err, out)
		}
	}
	run(strings.Join(text, "\n")+"\n", "as", "-o", object, "-")
	run("", "objcopy", "-O", "binary", object, object+".bin")
	code, err := os.ReadFile(object + ".bin")
	if err != nil || len(code) != 4*len(words) {
		t.Fatalf("%d bytes of code for %d words: %v", len(code), len(words), err)
	}
	for i, w := range words {
		if want := fmt.Sprintf("0x%08x", binary.LittleEndian.Uint32(code[4*i:])); w != want {
			t.Errorf("%s is %s, want %s", text[i], w, want)
		}
	}
}
