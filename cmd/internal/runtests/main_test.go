package main

import (
	"regexp"
	"strings"
	"testing"
)

const events = `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: no R with reticulate: install it\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:9: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"said in passing\n"}
{"Action":"pass","Package":"p","Test":"TestC","Elapsed":12.4}
{"Action":"pass","Package":"p","Test":"TestC/quick","Elapsed":2}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`

func TestReport(t *testing.T) {
	for must, missing := range map[string]int{"R with": 1, "Node": 0} {
		r := report{output: map[string][]string{}, skipped: map[string][]string{}}
		var b strings.Builder
		r.read(strings.NewReader(events), &b)
		if got := r.write(&b, regexp.MustCompile(must)); len(got) != missing {
			t.Errorf("%s: missing are %q", must, got)
		}
		want := "    b_test.go:9: wrong\nFAIL\tp\t0.1s\n\nslow:\n    12 s  p.TestC\n\nskipped:\n  no R with reticulate: install it\n    p.TestA\n"
		if b.String() != want {
			t.Errorf("it prints\n%s, want\n%s", b.String(), want)
		}
	}
}
