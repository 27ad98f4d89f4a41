package featurize

import (
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize/shift"
)

// DrawProportions draws the proportions of a domain by the seed, among the classes that
// have rows in it; labels nil means all. It logs them, and notes them in the step of
// env, in the place of "random": what is made again from that is the same.
func DrawProportions(env stages.Env, domain arrowio.Domain, classes []string, labels []int32) string {
	var present []int
	for k := range classes {
		if labels == nil || slices.Contains(labels, int32(k)) {
			present = append(present, k)
		}
	}
	p := make([]float64, len(classes))
	if len(present) > 0 {
		for i, share := range shift.RandomProportions(len(present), env.Seed^uint64(domain)<<32) {
			p[present[i]] = share
		}
	}
	text := shift.FormatProportions(p)
	env.Logger().Info(fmt.Sprintf("%s proportions drawn: %s", domain, named(classes, text)))
	if env.Step.Options != nil {
		env.Step.Options[domain.String()+"-proportions"] = text
	}
	return text
}

// named puts the classes' names before their proportions.
func named(classes []string, proportions string) string {
	items := strings.Split(proportions, ",")
	for k := range items {
		items[k] = classes[k] + "=" + items[k]
	}
	return strings.Join(items, ",")
}
