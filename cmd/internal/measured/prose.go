package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// meanMark is a figure in a sentence, the mean over those runs of a study that have some values:
// <!-- mean: STUDY KEY=VALUE … NUMBER -->.57<!-- end -->. It has as many places as before.
var meanMark = regexp.MustCompile(`(<!-- mean: ([a-z0-9-]+)((?: [a-z_]+=\S+)*) ([a-z0-9_.]+) -->)([0-9.]+)(<!-- end -->)`)

// fillMeans writes the figures of sentences anew.
func (b book) fillMeans(page, text string) (string, error) {
	var failed []error
	text = meanMark.ReplaceAllStringFunc(text, func(all string) string {
		m := meanMark.FindStringSubmatch(all)
		runs := b[m[2]].runs
		for _, pair := range strings.Fields(m[3]) {
			key, value, _ := strings.Cut(pair, "=")
			runs = where(runs, key, value)
		}
		_, places, _ := strings.Cut(m[5], ".")
		v := digits(average(numbers(runs, m[4])), len(places))
		if v == "" {
			failed = append(failed, fmt.Errorf("%s: no run is of %s", page, m[1]))
			return all
		}
		return m[1] + v + m[6]
	})
	return text, errors.Join(failed...)
}
