package pipeline

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Explain prints, for every node, whether it would run and why.
func Explain(ctx context.Context, w io.Writer, g *Graph, cache *Cache) error {
	s := newStore(cache, func(text string) { fmt.Fprintln(w, "warning: "+text) })
	plan, err := newPlan(ctx, g, s)
	if err != nil {
		return err
	}
	var known []ListEntry
	if cache != nil {
		if known, err = cache.List(); err != nil {
			return err
		}
	}
	known = withoutRuns(known, g)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, n := range g.Nodes {
		switch plan.actions[n] {
		case toSkip:
			fmt.Fprintf(tw, "%s\tnot needed\twhat reads it is in the cache\n", n.Label())
		case toReuse:
			fmt.Fprintf(tw, "%s\tcached\t%d rows, made %s by %s\n", n.Label(), plan.entries[n].Rows,
				plan.entries[n].Created.Local().Format("2006-01-02 15:04"), plan.entries[n].Version)
		case toMake:
			fmt.Fprintf(tw, "%s\truns\t%s\n", n.Label(), plan.why(n, cache, known))
		}
	}
	return tw.Flush()
}

// withoutRuns leaves out the entries of the graph's own runs: a run beside them is
// another one, and no change of them.
func withoutRuns(known []ListEntry, g *Graph) []ListEntry {
	own := map[string]bool{}
	for _, n := range g.Nodes {
		own[n.Key] = true
	}
	return slices.DeleteFunc(known, func(l ListEntry) bool { return own[l.Key] })
}

// why says why a node runs: what differs from the entry that is most like it.
func (p *plan) why(n *Node, cache *Cache, known []ListEntry) string {
	if cache == nil {
		return "there is no cache"
	}
	var best []string
	for _, l := range known {
		if l.Entry == nil || l.Dependencies.Stage != n.Stage.Name {
			continue
		}
		if d := p.differences(n, l.Dependencies); best == nil || len(d) < len(best) {
			best = d
		}
	}
	switch {
	case best == nil:
		return "has not run before"
	case len(best) == 0:
		return "its entry has gone from the cache"
	}
	return strings.Join(best, "; ")
}

// differences are, in words, what a node depends on now that it did not before.
func (p *plan) differences(n *Node, old Dependencies) []string {
	var all []string
	now := n.Dependencies
	if now.Algorithm != old.Algorithm {
		all = append(all, fmt.Sprintf("the algorithm's version changed from %d to %d", old.Algorithm, now.Algorithm))
	}
	if now.Kernels != old.Kernels {
		all = append(all, fmt.Sprintf("the kernels changed from %s to %s", old.Kernels, now.Kernels))
	}
	if flag := n.Stage.flag(Threads); now.Threads != old.Threads && now.Options[flag] == old.Options[flag] {
		all = append(all, fmt.Sprintf("the number of threads changed from %d to %d", old.Threads, now.Threads))
	}
	all = append(all, optionDifferences(now.settings(), old.settings())...)
	if now.Rows != nil && old.Rows != nil && !sameInput(*now.Rows, *old.Rows) {
		all = append(all, p.inputDifference(n, *now.Rows))
	}
	for _, flag := range slices.Sorted(maps.Keys(now.Files)) {
		if before, ok := old.Files[flag]; ok && !sameInput(now.Files[flag], before) {
			all = append(all, fmt.Sprintf("%s has changed", now.Files[flag].Name))
		}
	}
	return all
}

// settings are the options that name no input: that an input has changed is said otherwise.
func (d Dependencies) settings() map[string]string {
	settings := maps.Clone(d.Options)
	maps.DeleteFunc(settings, func(flag, _ string) bool { _, input := d.Files[flag]; return input })
	return settings
}

func sameInput(a, b Input) bool { return a.SHA256 == b.SHA256 && a.Key == b.Key }

func (p *plan) inputDifference(n *Node, now Input) string {
	if n.Parent == nil {
		return now.Name + " has changed"
	}
	if p.actions[n.Parent] == toMake {
		return n.Parent.Label() + " runs before it"
	}
	return "it reads " + n.Parent.Label() + ", whose rows have changed"
}

func optionDifferences(now, before map[string]string) []string {
	names := slices.Collect(maps.Keys(now))
	for name := range before {
		if _, both := now[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var all []string
	for _, name := range names {
		a, was := before[name]
		b, is := now[name]
		switch {
		case !was:
			all = append(all, fmt.Sprintf("%s is now %s, and was not given", name, b))
		case !is:
			all = append(all, fmt.Sprintf("%s was %s, and is not given now", name, a))
		case a != b:
			all = append(all, fmt.Sprintf("%s changed from %s to %s", name, a, b))
		}
	}
	return all
}
